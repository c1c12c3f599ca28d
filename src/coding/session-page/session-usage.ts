import type { JournalEntry, ToolResultEntry } from "../../core/agent/entries.ts";
import { addSpending, isSpending, NO_SPENDING, type Spending } from "../../core/agent/state.ts";
import { subagentEntries } from "../../session/session-steps.ts";

/** Calls of one tool. */
export interface ToolStats {
  readonly calls: number;
  readonly failed: number;
  readonly refused: number;
  readonly durationMs: number;
}

/** The use of a session. */
export interface SessionUsage {
  readonly runs: number;
  readonly models: { readonly [model: string]: Spending };
  readonly tools: { readonly [tool: string]: ToolStats };
  readonly total: Spending;
  /** Milliseconds of all runs; of a run that was cut, to its last entry. */
  readonly runMs: number;
  /** Milliseconds in calls of tools; calls that overlap count each. */
  readonly toolMs: number;
  /** Of the last run; undefined while it is at work, or when it was cut. */
  readonly stopReason: string | undefined;
}

/** Adds up entries. Calls made by calls count for their tool and not for the time in tools. */
export function sessionUsage(entries: Iterable<JournalEntry>): SessionUsage {
  const models: { [model: string]: Spending } = {};
  const tools: { [tool: string]: ToolStats } = {};
  let total = NO_SPENDING;
  let runs = 0;
  let runMs = 0;
  let toolMs = 0;
  let last: number | undefined;
  let stopReason: string | undefined;
  const isOfSubagent = subagentEntries();
  for (const entry of entries) {
    const isDelegated = isOfSubagent(entry);
    // Runs of subagents are inside a run, and their requests and calls are counted with all others.
    const isOuter = entry.scope === undefined;
    if (isOuter && (entry.type === "run_start" || entry.type === "run_resume")) {
      if (entry.type === "run_start") runs++;
      stopReason = undefined;
      last = entry.time;
    }
    // A clock that was set back takes nothing away.
    if (last !== undefined) runMs += Math.max(0, entry.time - last);
    if (last !== undefined) last = entry.time;
    if (entry.type === "run_end" && isOuter) {
      stopReason = entry.stopReason;
      last = undefined;
    }
    if (isSpending(entry)) {
      models[entry.model] = addSpending(models[entry.model] ?? NO_SPENDING, entry);
      total = addSpending(total, entry);
    }
    if (entry.type === "tool_result") {
      tools[entry.name] = withResult(tools[entry.name], entry);
      // A subagent's or inner call's time is in that of the call around it; phases of a pattern are in none.
      if (entry.parentCallId === undefined && !isDelegated) toolMs += entry.durationMs;
    }
  }
  return { runs, models, tools, total, runMs, toolMs, stopReason };
}

function withResult(before: ToolStats | undefined, { status, durationMs }: ToolResultEntry): ToolStats {
  return {
    calls: (before?.calls ?? 0) + 1,
    failed: (before?.failed ?? 0) + (status === "error" || status === "aborted" ? 1 : 0),
    refused: (before?.refused ?? 0) + (status === "denied" ? 1 : 0),
    durationMs: (before?.durationMs ?? 0) + durationMs,
  };
}
