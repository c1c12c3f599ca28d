import { isRecord } from "../core/base/json.ts";
import type { StopReason } from "../core/base/stop-reason.ts";

/** One run of an evaluation: a line of `results.jsonl`. */
export interface RunRecord {
  readonly v: 1;
  readonly task: string;
  /** SHA-256 of the task's folder. */
  readonly hash: string;
  /** `provider/id[:effort]`, as it was asked for. */
  readonly model: string;
  /** Which of the runs of this task and model, from 1. */
  readonly repeat: number;
  readonly solved: boolean;
  /** The last line of the check, or how it ended. */
  readonly reason: string;
  /** Present: the run says nothing about the model and counts for nothing. It is done again. */
  readonly error?: string;
  readonly stop: StopReason | "not_started";
  /** Model requests of the conversation that were answered. */
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens` that came from the provider's cache. */
  readonly cachedTokens: number;
  /** US dollars; `null` when a price is unknown. */
  readonly costUsd: number | null;
  /** Milliseconds the agent took. */
  readonly ms: number;
  /** Milliseconds the check took. */
  readonly checkMs: number;
  /** Tool calls that were refused. */
  readonly refused: number;
  readonly session: string;
  /** When it ended, after ISO 8601. */
  readonly time: string;
}

export type RunKey = Pick<RunRecord, "task" | "model" | "repeat">;

export function keyOf({ task, model, repeat }: RunKey): string {
  return JSON.stringify([task, model, repeat]);
}

type Fields = { readonly [name: string]: (value: unknown) => boolean };

const isText = (value: unknown): boolean => typeof value === "string";
const isAmount = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

const FIELDS: Fields = {
  v: (value) => value === 1,
  task: isText,
  hash: isText,
  model: isText,
  repeat: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  solved: (value) => typeof value === "boolean",
  reason: isText,
  error: (value) => value === undefined || isText(value),
  stop: isText,
  turns: isAmount,
  inputTokens: isAmount,
  outputTokens: isAmount,
  cachedTokens: isAmount,
  costUsd: (value) => value === null || isAmount(value),
  ms: isAmount,
  checkMs: isAmount,
  refused: isAmount,
  session: isText,
  time: isText,
};

/** True for a line of results. Fields that a later version may add do no harm. */
export function isRunRecord(value: unknown): value is RunRecord {
  return isRecord(value) && Object.entries(FIELDS).every(([name, fits]) => fits(value[name]));
}
