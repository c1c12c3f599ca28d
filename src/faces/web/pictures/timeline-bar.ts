/**
 * The time a bar stands for. `waiting`: from the request to its first part · `streaming` · `failed`: an
 * attempt that failed · `backoff`: the pause before the next one · `tool` · `asking`: a person is asked ·
 * `agent`: a subagent is at work · `compaction`.
 */
export type BarKind =
  | "waiting"
  | "streaming"
  | "failed"
  | "backoff"
  | "tool"
  | "asking"
  | "agent"
  | "compaction";

/** The way something ended. `cut`: it has no end in the journal, nor is anybody at work on it. */
export type BarStatus = "ok" | "error" | "denied" | "aborted" | "running" | "cut";

/** One bar of a timeline. Times are milliseconds since the epoch. */
export interface TimelineBar {
  /** The entry that says of it. */
  readonly entryId: string;
  readonly kind: BarKind;
  readonly from: number;
  readonly to: number;
  /** Tool, model or subagent. */
  readonly label: string;
  /** Of a call: its command, path or pattern. */
  readonly detail?: string;
  readonly status: BarStatus;
}

/** A row of a timeline. Its bars are in order and do not overlap. */
export interface TimelineRow {
  readonly kind: "model" | "tool" | "agent";
  /** 0: the conversation itself; from 1 on: the rows of subagents. */
  readonly group: number;
  readonly bars: readonly TimelineBar[];
}

/** A length of time; none for impossible figures of a foreign journal. */
export function durationOf(ms: unknown): number {
  return typeof ms === "number" && Number.isFinite(ms) && ms > 0 ? ms : 0;
}
