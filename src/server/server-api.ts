import type { AgentEvent, JournalEntry } from "../core/agent/entries.ts";
import type { Json } from "../core/base/errors.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import type { Message, Usage } from "../core/message/message.ts";
import type { FileDiff } from "../view/file-diff.ts";
import type { AnswerChoice, Question } from "../view/question.ts";

/** The state of a session: no run in progress · a run is in progress · a run waits for an answer. */
export type SessionState = "idle" | "running" | "waiting";

/** How a run ended. */
export interface SessionEnd {
  readonly reason: StopReason;
  readonly time: number;
  /** The exhausted limit, for `budget`. */
  readonly limit?: string;
  /** One sentence about the reason, if there is more to say. */
  readonly detail?: string;
}

/** A session as listed. Times are milliseconds since the epoch. */
export interface ListedSession {
  readonly id: string;
  /** The working directory; empty if the session has none. */
  readonly cwd: string;
  /** The first text written by a person. */
  readonly title?: string;
  readonly state: SessionState;
  /** `provider/id` of the newest model. */
  readonly model?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Messages of the person and the model. */
  readonly messageCount: number;
  readonly usage: Usage;
  /** USD; `null` if a price is unknown. */
  readonly cost: number | null;
  /** Files changed by calls, each once. */
  readonly files: readonly string[];
  /** Lines added and removed by calls. */
  readonly lines: { readonly added: number; readonly removed: number };
  /**
   * The newest 24 steps, each a letter and a digit. A model request with its calls looked (`l`), ran a
   * command (`b`), changed files (`e`), waited for a person (`w`) or failed (`f`), in under 2 s (1), 10 s
   * (2), 60 s (3) or more (4).
   */
  readonly trace: string;
  /** When the newest run began or resumed. */
  readonly runAt?: number;
  /** How it ended. Absent while it has no end: if `state` is idle, its process is gone. */
  readonly end?: SessionEnd;
  /** In a search: excerpts of the session around the matches. */
  readonly passages?: readonly string[];
}

/** A page of sessions, newest first. */
export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** Pass it as `before` to get the next page; absent on the last one. */
  readonly next?: string;
  /** In a search, while sessions are still being read: searching again later may find more. */
  readonly searched?: { readonly sessions: number; readonly of: number };
}

/** A message that is sent when the run has ended. */
export interface WaitingMessage {
  readonly id: string;
  readonly text: string;
}

/** One session, folded. */
export interface SessionDetail extends ListedSession {
  /** The permission mode in use; absent if unknown. */
  readonly permissionMode?: string;
  /** The other process that writes to it, and since when. */
  readonly heldBy?: { readonly pid: number; readonly since: number };
  /** The conversation as the model would receive it. */
  readonly messages: readonly Message[];
  /** True if the server does not write to it: another process does, or the server is read-only. */
  readonly readOnly: boolean;
  /** Maximum tokens of a request to the newest model with its answer; absent if unknown. */
  readonly windowTokens?: number;
  readonly queue: readonly WaitingMessage[];
  /** True: the queue is not sent automatically. */
  readonly queueHeld: boolean;
  /** The open questions, oldest first. */
  readonly questions: readonly Question[];
  /** The command that continues it in a terminal. */
  readonly goOn?: string;
  /** Damaged lines in its file, which are left out, at most 100; absent if there are none. */
  readonly damaged?: readonly { readonly line: number; readonly reason: string }[];
}

/** An open question with its session. */
export interface OpenApproval extends Question {
  readonly sessionId: string;
}

/** The answer to a question: one of its choices, or a `value` if it asks for one. */
export interface QuestionAnswer {
  readonly choice: AnswerChoice;
  /** Reaches the model, with `no` and `stop`. */
  readonly reason?: string;
  /** The rule to add. Default: the one that the question offers. */
  readonly rule?: string;
  /** For a question that is not about a call; `choice` is then `once`. */
  readonly value?: Json;
  /** The session of the question. Needed only if a copy of the session has the same question. */
  readonly sessionId?: string;
}

/** Limits of a run. */
export interface RunLimits {
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  /** `90s`, `10m`, `1h`. */
  readonly maxWallTime?: string;
}

/** A new session and its first run. */
export interface SessionRequest {
  /** Default: the folder of the server. */
  readonly cwd?: string;
  readonly prompt: string;
  readonly model?: string;
  readonly permissionMode?: string;
  readonly limits?: RunLimits;
}

/** A message to a session: `now` reaches the current run with its next request, `after` waits for its end. */
export interface NewMessage {
  readonly text: string;
  readonly when: "now" | "after";
}

/** Options of an undo. */
export interface UndoRequest {
  /** The run to go back to before, from 1, and its turn. Default: the newest one with changes left. */
  readonly to?: { readonly run: number; readonly turn?: number };
  /** Files, and folders with everything below them. Default: all. */
  readonly paths?: readonly string[];
  /** Also reverts what others have changed since. */
  readonly force?: boolean;
}

/** The result of an undo or a redo. */
export interface UndoResult {
  /** `finished`: an earlier interrupted one was completed, and nothing else done. */
  readonly status: "done" | "finished";
  readonly changes: readonly { readonly path: string; readonly kind: ChangeKind }[];
  /** Paths that could not be restored. */
  readonly failed: readonly string[];
}

/** How a file was changed. */
export type ChangeKind = "created" | "changed" | "deleted";

/** A change of one file by a tool call. */
export interface SessionChange {
  /** The entry of the checkpoint. */
  readonly entryId: string;
  readonly callId: string;
  /** Number of the run, from 1. */
  readonly run: number;
  /** Number of the model request within the run, from 1. */
  readonly turn: number;
  readonly time: number;
  readonly path: string;
  readonly kind: ChangeKind;
  /** Absent if the contents are not kept, are not text, or differ only in secrets. */
  readonly diff?: FileDiff;
  readonly added: number;
  readonly removed: number;
  readonly binary?: boolean;
}

/** A file changed by calls of a session, in its state at some moment. */
export interface SessionFileState {
  readonly path: string;
  /** `deleted`: it did not exist any more at that moment. */
  readonly kind: ChangeKind;
  /** All changes up to then as one. Absent if the contents are not kept, or are not text. */
  readonly diff?: FileDiff;
  readonly added?: number;
  readonly removed?: number;
}

/** The ways to group statistics. */
export type StatsBy = "day" | "model" | "cwd";

/** Selects the sessions for statistics. Default: all. */
export interface StatsFilter {
  /** First and last day: `2026-01-31`. */
  readonly from?: string;
  readonly to?: string;
  readonly model?: string;
  readonly cwd?: string;
}

/** One row of statistics. */
export interface StatsRow {
  /** `2026-01-31`, `provider/id` or a folder. */
  readonly key: string;
  readonly sessions: number;
  readonly runs: number;
  /** Model requests. */
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Share of the input that came from the cache, 0 to 1. */
  readonly cacheShare: number;
  /** USD of the requests with a known price; `null` if there are none. */
  readonly cost: number | null;
  /** Requests without a known price, which `cost` excludes. */
  readonly unpriced: number;
  /** Runs that ended with an error. */
  readonly failures: number;
  /** Lines added and removed by calls. */
  readonly added: number;
  readonly removed: number;
  /** Answered questions, and the milliseconds that they waited. */
  readonly asked: number;
  readonly askedMs: number;
  /** For a day: its models, the one with most tokens first. */
  readonly models?: readonly {
    readonly model: string;
    readonly runs: number;
    readonly tokens: number;
    readonly cost: number | null;
  }[];
}

/** Statistics over sessions. */
export interface ServerStats {
  readonly by: StatsBy;
  readonly rows: readonly StatsRow[];
  /** All rows together; its key is `total`. */
  readonly total: StatsRow;
}

/** An event between entries. It is not stored: a reader that connects later does not get it. */
export type PassingEvent =
  | { readonly type: "event"; readonly event: AgentEvent }
  | { readonly type: "state"; readonly state: SessionState }
  | { readonly type: "question"; readonly question: Question }
  | { readonly type: "question_closed"; readonly id: string }
  | { readonly type: "queue"; readonly queue: readonly WaitingMessage[]; readonly held: boolean }
  /** All existing entries have been sent. Once per connection. */
  | { readonly type: "ready" }
  /** The session was rewound, or the entry to resume after is unknown: its entries follow from the first. */
  | { readonly type: "reset" };

/** An item in the stream of a session. */
export type StreamItem =
  | { readonly type: "entry"; readonly entry: JournalEntry }
  | { readonly type: "passing"; readonly passing: PassingEvent };

/** An error as defined by RFC 9457; media type `application/problem+json`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** A stable error name, for programs. */
  readonly code: string;
  /** With 409: actions that the state allows. */
  readonly fits?: readonly string[];
}
