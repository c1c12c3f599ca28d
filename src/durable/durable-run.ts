import type { JournalEntry } from "../core/agent/entries.ts";
import type { ApprovalAnswer } from "../core/agent/ports.ts";
import type { PendingCall, RunResult } from "../core/agent/result.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import type { UserBlock } from "../core/message/message.ts";

/** `queued`: for a worker · `working` · `waiting`: for a person or an answer from outside · `ended`. */
export type DurableState = "queued" | "working" | "waiting" | "ended";

/** A run as the database has it at one moment. */
export interface RunStatus {
  readonly id: string;
  readonly agent: string;
  readonly state: DurableState;
  /** Of the code it has begun with; absent before. */
  readonly version?: string;
  readonly priority: number;
  /** Milliseconds since the epoch, as the other times. */
  readonly deadline?: number;
  /** Entries of its journal. */
  readonly entries: number;
  /** The worker that holds it. */
  readonly worker?: string;
  /** Workers that were lost with it since it last came further. */
  readonly losses: number;
  /** The calls it waits for, when `state` is `waiting`. */
  readonly pending: readonly PendingCall[];
  /** How it ended, when `state` is `ended`. */
  readonly stopReason?: StopReason;
  /** The message of its error, when `stopReason` is `error`. */
  readonly error?: string;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly endedAt?: number;
}

/** A run on whatever machine. */
export interface DurableRun {
  readonly id: string;
  /**
   * The result, once it has ended; a run that waits for somebody has not. Rejects with `invalid_argument`
   * where there is no such run, with `invalid_config` for one whose version no worker has, with `aborted`
   * when the fleet is closed before.
   */
  result(): Promise<RunResult>;
  /** Where it stands. */
  status(): Promise<RunStatus>;
  /** The entries of its journal as they are stored, from the one behind `after` (an id), to its end. */
  events(options?: { readonly after?: string; readonly signal?: AbortSignal }): AsyncIterable<JournalEntry>;
  /**
   * Answers a call that waits for approval. Rejects with `invalid_argument` for one that does not: at once
   * where the run waits or has ended, after 15 seconds in which it was queued or at work.
   */
  approve(callId: string, choice: Exclude<ApprovalAnswer, "later">): Promise<void>;
  /**
   * The result of a call of a tool without `execute`: a text, or anything that JSON can say. Rejects as
   * {@link DurableRun.approve} does.
   */
  answer(callId: string, value: unknown): Promise<void>;
  /** A message that reaches the model at its next request. Rejects with `invalid_argument` after the end. */
  steer(message: string | readonly UserBlock[]): Promise<void>;
  /** Ends it with `aborted`, wherever it is. Nothing happens after its end. */
  cancel(reason?: string): Promise<void>;
  /** Goes on with one that has failed, or that no worker of its version is there for, with today's code. */
  retry(): Promise<void>;
  /** Writes a session file, which must not be there yet. */
  export(path: string): Promise<void>;
}
