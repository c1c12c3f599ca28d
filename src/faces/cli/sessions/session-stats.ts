import type {
  AssistantEntry,
  JournalEntry,
  ModelUsageEntry,
  ToolResultEntry,
} from "../../../core/agent/entry.ts";

/** Requests, tokens and money of one model. */
export interface ModelStats {
  readonly requests: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
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
  /** Of the last run; undefined while it is at work, or when it was cut. */
  readonly stopReason: string | undefined;
}

/** Adds up what the entries of a session say. */
export function sessionStats(entries: Iterable<JournalEntry>): SessionStats {
  const models: { [model: string]: ModelStats } = {};
  const tools: { [tool: string]: ToolStats } = {};
  let runs = 0;
  let stopReason: string | undefined;
  for (const entry of entries) {
    if (entry.type === "run_start") runs++;
    if (entry.type === "run_start") stopReason = undefined;
    if (entry.type === "run_end") stopReason = entry.stopReason;
    if (entry.type === "assistant_message" || entry.type === "model_usage")
      models[entry.model] = withAnswer(models[entry.model], entry);
    if (entry.type === "tool_result") tools[entry.name] = withResult(tools[entry.name], entry);
  }
  return { runs, models, tools, stopReason };
}

function withAnswer(
  before: ModelStats | undefined,
  { usage, costUsd, durationMs }: AssistantEntry | ModelUsageEntry,
): ModelStats {
  const cost = before === undefined ? 0 : before.costUsd;
  return {
    requests: (before?.requests ?? 0) + 1,
    inputTokens: (before?.inputTokens ?? 0) + usage.inputTokens,
    cacheReadTokens: (before?.cacheReadTokens ?? 0) + (usage.cacheReadTokens ?? 0),
    outputTokens: (before?.outputTokens ?? 0) + usage.outputTokens,
    costUsd: cost === null || costUsd === undefined ? null : cost + costUsd,
    durationMs: (before?.durationMs ?? 0) + durationMs,
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
