import type {
  AssistantEntry,
  JournalEntry,
  ModelUsageEntry,
  ToolResultEntry,
} from "../../../core/agent/entry.ts";
import { subagentEntries } from "../../../session/subagent-entries.ts";

/** Requests, tokens and money of one model. */
export interface ModelStats {
  readonly requests: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Answers that were cut; what they cost is not known. */
  readonly interrupted: number;
  /** `null` once an answer of unknown price is among them. */
  readonly costUsd: number | null;
  readonly durationMs: number;
}

/** Calls of one tool. */
export interface ToolStats {
  readonly calls: number;
  readonly failed: number;
  readonly refused: number;
  readonly durationMs: number;
}

/** What a session has used up. */
export interface SessionStats {
  readonly runs: number;
  readonly models: { readonly [model: string]: ModelStats };
  readonly tools: { readonly [tool: string]: ToolStats };
  /** Of all models. */
  readonly total: ModelStats;
  /** Milliseconds from the beginning to the end of each run, added up; of a run that was cut, to its last entry. */
  readonly runMs: number;
  /** Milliseconds in calls of tools; calls that overlap count each. */
  readonly toolMs: number;
  /** Of the last run; undefined while it is at work, or when it was cut. */
  readonly stopReason: string | undefined;
}

/** Adds up what the entries of a session say. Calls made by calls count for their tool and not for the time in tools. */
export function sessionStats(entries: Iterable<JournalEntry>): SessionStats {
  const models: { [model: string]: ModelStats } = {};
  const tools: { [tool: string]: ToolStats } = {};
  let total = NO_MODEL_STATS;
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
    if (entry.type === "run_start" && isOuter) {
      runs++;
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
    if (entry.type === "assistant_message" || entry.type === "model_usage") {
      models[entry.model] = withAnswer(models[entry.model] ?? NO_MODEL_STATS, entry);
      total = withAnswer(total, entry);
    }
    if (entry.type === "tool_result") {
      tools[entry.name] = withResult(tools[entry.name], entry);
      // The time of what a subagent or another call did is in that of the call around it; phases of a pattern are in none.
      if (entry.parentCallId === undefined && !isDelegated) toolMs += entry.durationMs;
    }
  }
  return { runs, models, tools, total, runMs, toolMs, stopReason };
}

/** Nothing used yet. */
export const NO_MODEL_STATS: ModelStats = {
  requests: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  interrupted: 0,
  costUsd: 0,
  durationMs: 0,
};

/** What was used, with one more answer or request beside the conversation. */
export function withAnswer(before: ModelStats, entry: AssistantEntry | ModelUsageEntry): ModelStats {
  const { usage, costUsd, durationMs } = entry;
  const isCut = entry.type === "assistant_message" && entry.interrupted === true;
  const cost = before.costUsd;
  return {
    requests: before.requests + 1,
    inputTokens: before.inputTokens + usage.inputTokens,
    cacheReadTokens: before.cacheReadTokens + (usage.cacheReadTokens ?? 0),
    cacheWriteTokens: before.cacheWriteTokens + (usage.cacheWriteTokens ?? 0),
    outputTokens: before.outputTokens + usage.outputTokens,
    interrupted: before.interrupted + (isCut ? 1 : 0),
    // Nothing is reported of an answer that was cut: the sum is a lower bound, as it is for limits.
    costUsd: isCut ? cost : cost === null || costUsd === undefined ? null : cost + costUsd,
    durationMs: before.durationMs + durationMs,
  };
}

function withResult(before: ToolStats | undefined, { status, durationMs }: ToolResultEntry): ToolStats {
  return {
    calls: (before?.calls ?? 0) + 1,
    failed: (before?.failed ?? 0) + (status === "error" || status === "aborted" ? 1 : 0),
    refused: (before?.refused ?? 0) + (status === "denied" ? 1 : 0),
    durationMs: (before?.durationMs ?? 0) + durationMs,
  };
}
