import type { JournalEntry } from "../core/agent/entries.ts";
import { toolCallsOf } from "../core/message/message.ts";
import { Transcript } from "../core/message/transcript.ts";
import { type DamagedLine, type IndexedRecord, readEntries, type ScannedSession } from "./read-session.ts";

/** A tool call that was interrupted. */
export interface InterruptedCall {
  readonly callId: string;
  readonly name: string;
  /** `unknown`: it had begun. `never_ran`: it had not. */
  readonly outcome: "unknown" | "never_ran";
}

/** Repairs needed to continue a session. They do not change the file. */
export interface RepairReport {
  readonly damaged: readonly DamagedLine[];
  /** Ids of calls whose result was left out because the call itself is missing. */
  readonly droppedResults: readonly string[];
  /** Calls of the last answer without a result; each gets one that says so. */
  readonly interrupted: readonly InterruptedCall[];
}

/** True if a report has any content. */
export function hasRepairs({ damaged, droppedResults, interrupted }: RepairReport): boolean {
  return damaged.length + droppedResults.length + interrupted.length > 0;
}

/** The repairs needed to continue a scanned session. Reads the whole conversation only if it is damaged. */
export function repairReport(descriptor: number, { scan, path }: ScannedSession): RepairReport {
  return {
    damaged: scan.damaged,
    droppedResults: scan.damaged.length === 0 ? [] : droppedResults(readEntries(descriptor, path)),
    interrupted: interruptedCalls(readEntries(descriptor, lastTurn(path))),
  };
}

function droppedResults(entries: Iterable<JournalEntry>): string[] {
  const transcript = new Transcript();
  const dropped: string[] = [];
  for (const entry of entries) {
    if (entry.type === "history") transcript.addHistory(entry.messages);
    else if (entry.type === "user_message") transcript.addUser(entry.message);
    else if (entry.type === "assistant_message") transcript.addAssistant(entry.message);
    else if (entry.type === "compaction") transcript.replaceOlder(entry.messages, entry.kept);
    else if (entry.type === "tool_result" && entry.parentCallId === undefined)
      if (!transcript.addResult(entry.result)) dropped.push(entry.callId);
  }
  return dropped;
}

const TURN_STARTS = new Set(["history", "user_message", "assistant_message"]);

function lastTurn(path: readonly IndexedRecord[]): readonly IndexedRecord[] {
  return path.slice(
    Math.max(
      0,
      path.findLastIndex(({ type }) => TURN_STARTS.has(type)),
    ),
  );
}

function interruptedCalls(entries: Iterable<JournalEntry>): InterruptedCall[] {
  const calls = new Set<string>();
  const open = new Map<string, InterruptedCall>();
  for (const entry of entries) {
    if (entry.type === "assistant_message") {
      for (const { id, name } of toolCallsOf(entry.message)) {
        calls.add(id);
        open.set(id, { callId: id, name, outcome: "never_ran" });
      }
    } else if (entry.type === "tool_intent") {
      // Includes a call that waited for approval through the end of a run.
      const { callId, name } = entry;
      if (calls.has(callId)) open.set(callId, { callId, name, outcome: "unknown" });
    } else if (entry.type === "tool_result" || entry.type === "approval_request") open.delete(entry.callId);
    else if (entry.type === "run_end" && entry.scope === undefined) open.clear();
  }
  return [...open.values()];
}
