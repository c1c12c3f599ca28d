import type { AgentEvent, JournalEntry } from "../core/agent/entries.ts";
import type { Json } from "../core/base/errors.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import type { Message, Usage } from "../core/message/message.ts";
import type { FileDiff } from "../view/file-diff.ts";
import type { AnswerChoice, Question } from "../view/question.ts";

/** The state of a session: nothing runs · a run is in progress · a run waits for an answer. */
export type SessionState = "idle" | "running" | "waiting";

/** How a run ended. */
export interface SessionEnd {
  readonly reason: StopReason;
  readonly time: number;
  /** Which limit, for `budget`. */
  readonly limit?: string;
  /** One sentence about what ended it, where there is more to say. */
  readonly detail?: string;
}

/** A session as a list shows it. Times are milliseconds since the epoch. */
export interface ListedSession {
  readonly id: string;
  /** The working folder; empty where the session has none. */
  readonly cwd: string;
  /** The first text a person wrote. */
  readonly title?: string;
  readonly state: SessionState;
  /** `provider/id` of the newest model. */
  readonly model?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Messages of the person and of the model. */
  readonly messageCount: number;
  readonly usage: Usage;
  /** USD; `null` when a price is unknown. */
  readonly cost: number | null;
  /** Files that calls have changed, each once. */
  readonly files: readonly string[];
  /** Lines that calls have added and removed. */
  readonly lines: { readonly added: number; readonly removed: number };
  /**
   * The newest 24 steps, each a letter and a digit. A model request with its calls looked (`l`), ran a
   * command (`b`), changed files (`e`), waited for a person (`w`) or failed (`f`), in under 2 s (1),
   * 10 s (2), 60 s (3) or more (4).
   */
  readonly trace: string;
  /** When the newest run began, or went on. */
  readonly runAt?: number;
  /** How it ended. Absent while it has no end: with `state` idle its process is gone. */
  readonly end?: SessionEnd;
  /** Of a search: pieces of the session around what was found. */
  readonly passages?: readonly string[];
}

/** A page of sessions, newest first. */
export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** Given as `before`, it brings the next page; absent on the last one. */
  readonly next?: string;
  /** Of a search while sessions are still being read for it: a later one may find more. */
  readonly searched?: { readonly sessions: number; readonly of: number };
}

/** A message that goes out when the run has ended. */
export interface WaitingMessage {
  readonly id: string;
  readonly text: string;
}

/** One session, folded. */
export interface SessionDetail extends ListedSession {
  /** The permission mode it works with; absent where that is not known. */
  readonly permissionMode?: string;
  /** The other process that writes to it, and since when. */
  readonly heldBy?: { readonly pid: number; readonly since: number };
  /** The conversation, as the model would get it. */
  readonly messages: readonly Message[];
  /** True when the server writes nothing to it: another process does, or the server only reads. */
  readonly readOnly: boolean;
  /** Tokens that a request of the newest model and its answer may have; absent where nobody knows. */
  readonly windowTokens?: number;
  readonly queue: readonly WaitingMessage[];
  /** True: nothing of the queue goes out by itself. */
  readonly queueHeld: boolean;
  /** The open ones, oldest first. */
  readonly questions: readonly Question[];
  /** The command that goes on with it in a terminal. */
  readonly goOn?: string;
  /** Lines of its file that are damaged and left out, at most 100 of them; absent where there are none. */
  readonly damaged?: readonly { readonly line: number; readonly reason: string }[];
}

/** An open question, with the session that asks it. */
export interface OpenApproval extends Question {
  readonly sessionId: string;
}

/** The answer to a question: one of the choices it offers, or a `value` where a value is asked for. */
export interface QuestionAnswer {
  readonly choice: AnswerChoice;
  /** Reaches the model, with `no` and `stop`. */
  readonly reason?: string;
  /** The rule to add: the one that is offered, which is the default. */
  readonly rule?: string;
  /** For a question that is not about a call; `choice` is `once` then. */
  readonly value?: Json;
  /** Whose question it is, where a copy of the session has it too: nothing else tells them apart. */
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
  /** The run to go back to before, from 1, and its turn. Default: the newest whose changes stand. */
  readonly to?: { readonly run: number; readonly turn?: number };
  /** Files, and folders with all below them. Default: all. */
  readonly paths?: readonly string[];
  /** Also puts back what somebody else changed since. */
  readonly force?: boolean;
}

/** The result of an undo or a redo. */
export interface UndoResult {
  /** `finished`: an earlier one that was cut was brought to its end, and nothing else done. */
  readonly status: "done" | "finished";
  readonly changes: readonly { readonly path: string; readonly kind: ChangeKind }[];
  /** Paths that could not be put back. */
  readonly failed: readonly string[];
}

/** The way a file was changed. */
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
  /** Absent where the contents are not kept, are no text, or differ in secrets alone. */
  readonly diff?: FileDiff;
  readonly added: number;
  readonly removed: number;
  readonly binary?: boolean;
}

/** A file that calls of a session have changed, as it was at a moment. */
export interface SessionFileState {
  readonly path: string;
  /** `deleted`: it was gone then. */
  readonly kind: ChangeKind;
  /** All changes up to then as one. Absent where the contents are not kept, or are no text. */
  readonly diff?: FileDiff;
  readonly added?: number;
  readonly removed?: number;
}

/** The groups that statistics can be made by. */
export type StatsBy = "day" | "model" | "cwd";

/** The part of the sessions that statistics are about. Default: all. */
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
  /** Part of the input that came from the cache, 0 to 1. */
  readonly cacheShare: number;
  /** USD of the requests whose price is known; `null` when none is. */
  readonly cost: number | null;
  /** Requests without a known price: `cost` is without them. */
  readonly unpriced: number;
  /** Runs that ended with an error. */
  readonly failures: number;
  /** Lines that calls have added and removed. */
  readonly added: number;
  readonly removed: number;
  /** Questions that were answered, and the milliseconds that they waited. */
  readonly asked: number;
  readonly askedMs: number;
  /** Of a day: its models, the one with most tokens first. */
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

/** An event between entries. It is not stored: whoever connects later does not get it. */
export type PassingEvent =
  | { readonly type: "event"; readonly event: AgentEvent }
  | { readonly type: "state"; readonly state: SessionState }
  | { readonly type: "question"; readonly question: Question }
  | { readonly type: "question_closed"; readonly id: string }
  | { readonly type: "queue"; readonly queue: readonly WaitingMessage[]; readonly held: boolean }
  /** All entries that were there have been sent. Once a connection. */
  | { readonly type: "ready" }
  /** The session was rewound, or the place to go on from is not known: its entries follow from the first. */
  | { readonly type: "reset" };

/** One thing that the stream of a session brings. */
export type StreamItem =
  | { readonly type: "entry"; readonly entry: JournalEntry }
  | { readonly type: "passing"; readonly passing: PassingEvent };

/** An error as RFC 9457 describes it; media type `application/problem+json`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** A stable name of the fault, for programs. */
  readonly code: string;
  /** With 409: what fits the state. */
  readonly fits?: readonly string[];
}
