import type { JournalEntry } from "../../../core/agent/entries.ts";
import { counted } from "../../../core/base/text.ts";
import { messageText, textOf, toolCallsOf } from "../../../core/message/message.ts";
import type { DurableRun, RunStatus } from "../../../durable/durable-run.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { type Look, listTime } from "../command-context.ts";
import { timeText } from "../sessions/steps-json.ts";

/** Entries that are shown of a run. */
const SHOWN_ENTRIES = 20;

/** A run for programs. */
export function runJson(status: RunStatus): object {
  const { id, agent, state, version, priority, deadline, entries, worker, losses, pending } = status;
  return {
    id,
    agent,
    state,
    version: version ?? null,
    priority,
    deadline: timeText(deadline),
    entries,
    worker: worker ?? null,
    losses,
    pending: pending.map(({ callId, waitsFor, ...call }) => ({
      call_id: callId,
      waits_for: waitsFor,
      ...call,
    })),
    stop_reason: status.stopReason ?? null,
    error: status.error ?? null,
    created_at: timeText(status.createdAt),
    changed_at: timeText(status.changedAt),
    ended_at: timeText(status.endedAt),
  };
}

/** Runs as a table, one line each. */
export function runTable(
  runs: readonly RunStatus[],
  { now, limit }: { readonly now: number; readonly limit: number },
): string {
  if (runs.length === 0) return "There are no such runs.\n";
  const rows = runs.map((run) => [
    run.state,
    terminalLine(run.agent, 24),
    terminalLine(run.id, 40),
    ageText(now - run.createdAt),
    String(run.entries),
    terminalLine(howItStands(run), 80),
  ]);
  const table = [["STATE", "AGENT", "ID", "AGE", "ENTRIES", "HOW IT STANDS"], ...rows];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0))) ?? [];
  const lines = table.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  if (runs.length === limit) lines.push(`The newest ${limit}; --limit shows more.`);
  return `${lines.join("\n")}\n`;
}

/** A run, the calls it waits for, and its newest entries. */
export function runLines(status: RunStatus, entries: readonly JournalEntry[], { style }: Look): string {
  const rows: readonly (readonly [name: string, value: string])[] = [
    ["run", status.id],
    ["agent", status.agent],
    ["state", `${status.state}${status.worker === undefined ? "" : `, by ${status.worker}`}`],
    ["how", howItStands(status)],
    ["version", status.version ?? ""],
    ["priority", status.priority === 0 ? "" : String(status.priority)],
    ["deadline", timeText(status.deadline) ?? ""],
    ["started", timeText(status.createdAt) ?? ""],
    ["ended", timeText(status.endedAt) ?? ""],
    ["lost", status.losses === 0 ? "" : `${counted(status.losses, "worker")} since it came further`],
  ];
  const lines = rows
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name.padEnd(8)}  ${terminalLine(value, 300)}`);
  for (const { callId, name, input, waitsFor, reason } of status.pending)
    lines.push(
      "",
      `${style.bold("waits")} ${waitsFor === "approval" ? "for a yes" : "for its result"}: call ${terminalLine(callId, 80)}`,
      `  ${terminalLine(`${name} ${JSON.stringify(input)}`, 300)}`,
      ...(reason === undefined ? [] : [`  ${terminalLine(reason, 300)}`]),
    );
  const left = status.entries - entries.length;
  if (left > 0) lines.push("", `  … ${counted(left, "entry", "entries")} before`);
  else if (entries.length > 0) lines.push("");
  lines.push(...entries.map((entry) => `${listTime(entry.time)}  ${terminalLine(entryText(entry), 160)}`));
  return `${lines.join("\n")}\n`;
}

/** The newest of the first `count` entries of a run: those behind are still to come. */
export async function newestEntries(run: DurableRun, count: number): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  if (count === 0) return entries;
  let read = 0;
  for await (const entry of run.events()) {
    entries.push(entry);
    if (entries.length > SHOWN_ENTRIES) entries.shift();
    read += 1;
    if (read === count) break;
  }
  return entries;
}

function howItStands({ state, pending, stopReason, error }: RunStatus): string {
  if (state === "waiting") return `waits for ${pending.map(({ name }) => name).join(", ")}`;
  if (state !== "ended") return "";
  return error === undefined ? (stopReason ?? "") : `${stopReason}: ${error}`;
}

function entryText(entry: JournalEntry): string {
  const scope = entry.scope === undefined ? "" : `[${entry.scope}] `;
  return `${scope}${entry.type.replaceAll("_", " ")}${detailOf(entry)}`;
}

function detailOf(entry: JournalEntry): string {
  switch (entry.type) {
    case "user_message":
      return `: ${messageText(entry.message, " ")}`;
    case "assistant_message": {
      const names = toolCallsOf(entry.message).map(({ name }) => name);
      const called = names.length === 0 ? "" : ` → ${names.join(", ")}`;
      return `: ${messageText(entry.message, " ")}${called}`;
    }
    case "tool_intent":
    case "approval_request":
      return `: ${entry.name} ${JSON.stringify(entry.input)}`;
    case "permission_decision":
      return `: ${entry.action} ${entry.name}, ${entry.reason}`;
    case "tool_result": {
      const { content } = entry.result;
      return `: ${entry.name} ${entry.status}, ${typeof content === "string" ? content : textOf(content ?? [])}`;
    }
    case "run_end":
      return `: ${entry.stopReason}${entry.error === undefined ? "" : `, ${entry.error.message}`}`;
    default:
      return "";
  }
}

function ageText(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} d`;
}
