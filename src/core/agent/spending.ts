import { addUsage, cleanUsage, NO_USAGE, type Usage } from "../message/usage.ts";
import type { AssistantEntry, JournalEntry, ModelUsageEntry } from "./entry.ts";

/** The use in a stretch of entries: for limits, results, statistics and screens alike. */
export interface Spending {
  /** Answers, and requests and attempts beside the conversation. */
  readonly requests: number;
  /** Answers among them that were cut. */
  readonly interrupted: number;
  readonly usage: Usage;
  /** USD; `undefined` once an answer of unknown price is among them. */
  readonly costUsd: number | undefined;
  /** Milliseconds in model requests; those that overlap count each. */
  readonly durationMs: number;
}

/** An entry that says what a model request cost. */
export type SpendingEntry = AssistantEntry | ModelUsageEntry;

/** Nothing used yet. */
export const NO_SPENDING: Spending = Object.freeze({
  requests: 0,
  interrupted: 0,
  usage: NO_USAGE,
  costUsd: 0,
  durationMs: 0,
});

/** True when an entry says what a model request cost. */
export function isSpending(entry: JournalEntry): entry is SpendingEntry {
  return entry.type === "assistant_message" || entry.type === "model_usage";
}

/** An answer that was cut and that nobody had to pay for: its price is not unknown, there is none. */
export function isUnpaid(entry: SpendingEntry): boolean {
  return entry.type === "assistant_message" && entry.interrupted === true && entry.usage.estimated !== true;
}

/** The use so far, with one more entry. Impossible figures of a foreign journal are not counted. */
export function addSpending(before: Spending, entry: SpendingEntry): Spending {
  const isCut = entry.type === "assistant_message" && entry.interrupted === true;
  const isFree = isUnpaid(entry);
  const { costUsd } = before;
  return {
    requests: before.requests + 1,
    interrupted: before.interrupted + (isCut ? 1 : 0),
    usage: isFree ? before.usage : addUsage(before.usage, cleanUsage(entry.usage)),
    costUsd: isFree
      ? costUsd
      : costUsd === undefined || !isAmount(entry.costUsd)
        ? undefined
        : costUsd + entry.costUsd,
    durationMs: before.durationMs + entry.durationMs,
  };
}

/** A cost that is none is unknown. */
function isAmount(costUsd: number | undefined): costUsd is number {
  return typeof costUsd === "number" && Number.isFinite(costUsd) && costUsd >= 0;
}
