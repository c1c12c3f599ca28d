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

/** The sessions that a list is asked for; all that is given was checked. */
export interface ListQuery {
  readonly cwd?: string;
  readonly q?: string;
  readonly limit: number;
  readonly before?: string;
}

/**
 * The port of the server: where its sessions are, and what runs them. What it refuses it throws as a
 * {@link import("./refusal.ts").Refusal}; nothing it gives was made safe to be shown, but for the pieces of
 * texts that it tells while they are written: a secret that comes in two pieces is in neither.
 */
export interface SessionHost {
  /** Newest first: the one that was written last. */
  list(query: ListQuery): Promise<SessionPage>;
  /** `undefined`: there is none of this id. */
  find(id: string): Promise<HostedSession | undefined>;
  /** Begins a session and its first run, and resolves to its id once it runs. */
  start(session: SessionRequest): Promise<string>;
  /** The open questions of all sessions, oldest first. */
  approvals(): Promise<readonly OpenApproval[]>;
  /** Throws `not_found` for a question that nobody has asked, `conflict` for one that was answered. */
  answer(questionId: string, answer: QuestionAnswer): Promise<void>;
  /** The facts of all sessions, one by one, for statistics. */
  facts(): AsyncIterable<SessionFacts> | Iterable<SessionFacts>;
  /** Ends every run, and resolves when they have ended. */
  close(): Promise<void>;
}

/** One session of a host. */
export interface HostedSession extends EntrySource {
  readonly id: string;
  detail(): Promise<SessionDetail>;
  send(message: NewMessage): Promise<void>;
  stop(): Promise<void>;
  /** Makes a copy up to an entry, all of it without one, and resolves to its id. */
  fork(from: string | undefined): Promise<string>;
  undo(request: UndoRequest): Promise<UndoResult>;
  redo(): Promise<UndoResult>;
  changes(): Promise<readonly SessionChange[]>;
  files(at: string | undefined): Promise<readonly SessionFileState[]>;
  /** `undefined`: calls have not changed it by then, it was gone, or is not text. */
  fileText(path: string, at: string | undefined): Promise<string | undefined>;
}

/** Where the entries of a session come from, and what passes between them. */
export interface EntrySource {
  /** Goes on behind an entry; from the first without one, and where there is none of that id. */
  tail(after: string | undefined): EntryTail;
  /** Hears what passes, and `"entries"` when there may be new ones. Returns what ends the listening. */
  listen(listener: (passing: PassingEvent | "entries") => void): () => void;
  /** The events that tell whoever connects now of state, questions and queue. */
  current(): Promise<readonly PassingEvent[]>;
}

/** A place in the entries of a session. */
export interface EntryTail {
  /** The entries behind the last one it gave; `"reset"` where those that it gave do not stand any more. */
  read(): Iterable<JournalEntry | "reset">;
}
