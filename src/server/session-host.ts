import type { JournalEntry } from "../core/agent/entries.ts";
import type {
  NewMessage,
  OpenApproval,
  PassingEvent,
  QuestionAnswer,
  SessionChange,
  SessionDetail,
  SessionFileState,
  SessionPage,
  SessionRequest,
  UndoRequest,
  UndoResult,
} from "./server-api.ts";
import type { SessionFacts } from "./session-facts.ts";

/** The validated query for a list of sessions. */
export interface ListQuery {
  readonly cwd?: string;
  readonly q?: string;
  readonly limit: number;
  readonly before?: string;
}

/**
 * The port of the server: provides its sessions and runs them. Throws a {@link
 * import("./refusal.ts").Refusal} to refuse. Output is not redacted yet, except for pieces of text streamed
 * while they are written: otherwise a secret split in two would be in neither.
 */
export interface SessionHost {
  /** Sessions, most recently written first. */
  list(query: ListQuery): Promise<SessionPage>;
  /** `undefined` if there is none with this id. */
  find(id: string): Promise<HostedSession | undefined>;
  /** Begins a session and its first run. Resolves to its id once it runs. */
  start(session: SessionRequest): Promise<string>;
  /** The open questions of all sessions, oldest first. */
  approvals(): Promise<readonly OpenApproval[]>;
  /** Throws `not_found` for an unknown question, `conflict` for one already answered. */
  answer(questionId: string, answer: QuestionAnswer): Promise<void>;
  /** The facts of all sessions, one by one, for statistics. */
  facts(): AsyncIterable<SessionFacts> | Iterable<SessionFacts>;
  /** Ends every run. Resolves when they have ended. */
  close(): Promise<void>;
}

/** One session of a host. */
export interface HostedSession extends EntrySource {
  readonly id: string;
  detail(): Promise<SessionDetail>;
  send(message: NewMessage): Promise<void>;
  stop(): Promise<void>;
  /** Makes a copy up to an entry, or of the whole session. Resolves to its id. */
  fork(from: string | undefined): Promise<string>;
  undo(request: UndoRequest): Promise<UndoResult>;
  redo(): Promise<UndoResult>;
  changes(): Promise<readonly SessionChange[]>;
  files(at: string | undefined): Promise<readonly SessionFileState[]>;
  /** `undefined` if calls have not changed it by then, it did not exist, or it is not text. */
  fileText(path: string, at: string | undefined): Promise<string | undefined>;
}

/** The entries of a session, and the events between them. */
export interface EntrySource {
  /** Continues after an entry; starts from the first without an id, or if it is unknown. */
  tail(after: string | undefined): EntryTail;
  /** Calls `listener` with events, and with `"entries"` for possible new ones. Returns a function to stop. */
  listen(listener: (passing: PassingEvent | "entries") => void): () => void;
  /** The events that tell a new reader about state, questions and queue. */
  current(): Promise<readonly PassingEvent[]>;
}

/** A position in the entries of a session. */
export interface EntryTail {
  /** The entries after the last one returned; `"reset"` if the returned ones are no longer valid. */
  read(): Iterable<JournalEntry | "reset">;
}
