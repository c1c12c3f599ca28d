import { join } from "node:path";
import type { JournalEntry } from "../core/agent/entry.ts";
import type { LocalJournal } from "../core/agent/journal.ts";
import type { JsonlJournal } from "../session/jsonl-journal.ts";
import type { RepairReport } from "../session/repair-report.ts";
import { sessionError } from "../session/session-error.ts";
import { entryBefore } from "../session/session-steps.ts";
import { type SessionFile, SessionStore } from "../session/session-store.ts";
import { UnkeptJournal } from "../session/unkept-journal.ts";
import type { UserPaths } from "./config/paths.ts";

/** Which session a run belongs to. */
export interface SessionChoice {
  /** False: nothing of the run is kept on disk. */
  readonly keep: boolean;
  /**
   * Session to go on with: the newest of the working folder, or one by its id or the beginning of it.
   * Default: a new one.
   */
  readonly from?: { readonly type: "newest" } | { readonly type: "id"; readonly id: string };
  /** Goes on in a copy and leaves the session as it is. */
  readonly fork: boolean;
  /** Id of the new session or copy. Default: made up. */
  readonly sessionId?: string;
  /** Number of the step to go back to: what stands before it is gone on with. Needs `from`. */
  readonly fromStep?: number;
  /** Id of the message of the user to go back to before. Needs `from`. */
  readonly beforeEntry?: string;
  /** What a session that is not kept begins with. */
  readonly entries?: readonly JournalEntry[];
}

/** A session at work. */
export interface OpenSession {
  readonly journal: LocalJournal;
  /** Goes back to before a message of the user. Throws `invalid_argument` for what is none. */
  readonly rewindTo: (entryId: string) => Promise<void>;
  /** The newest entry of a type that the session was opened with. */
  readonly newestOf: JsonlJournal["newestOf"];
  /** Where it is kept; undefined when it is not. */
  readonly path: string | undefined;
  /** What had to be put right to go on with it. */
  readonly repairs: RepairReport | undefined;
  /** Options that go on with it from the same folder; undefined as long as nothing is stored. */
  readonly goOn: () => string | undefined;
  /** Brings everything to the disk and gives the session back. */
  readonly close: () => Promise<void>;
  /** Gives it back at once, for the moment before the process ends. */
  readonly release: () => void;
}

/** The sessions of a user. */
export function sessionStore({ stateFolder }: UserPaths): SessionStore {
  return new SessionStore(join(stateFolder, "sessions"));
}

/** A choice whose session, if there is to be one already, was found. */
export interface FoundSession {
  readonly sessionId: string;
  /** Opens it for writing. Throws `journal` when that cannot be. */
  readonly open: () => Promise<OpenSession>;
}

/** Where a run happens. */
export interface SessionPlace {
  readonly paths: UserPaths;
  readonly cwd: string;
  /** Id of a new session that has none by choice. */
  readonly newId: string;
}

/**
 * Finds the session of a choice and writes nothing yet. Throws `journal` when there is none to go on with.
 */
export function findSession(choice: SessionChoice, { paths, cwd, newId }: SessionPlace): FoundSession {
  const { keep, from, fork } = choice;
  const sessionId = choice.sessionId ?? newId;
  if (!keep) return { sessionId, open: async () => unkept(sessionId, choice.entries) };
  const store = sessionStore(paths);
  const origin =
    from === undefined ? undefined : from.type === "newest" ? store.newest(cwd) : store.find(from.id, cwd);
  if (origin === undefined) return { sessionId, open: () => started(store, cwd, { sessionId }) };
  if (fork) {
    return {
      sessionId,
      open: async () => {
        const copyUpTo = await recordBefore(origin, choice);
        return started(store, cwd, {
          sessionId,
          copyOf: origin,
          ...(copyUpTo === undefined ? {} : { copyUpTo }),
        });
      },
    };
  }
  return {
    sessionId: origin.sessionId,
    open: async () => resumed(store, origin, { cwd, rewindTo: await recordBefore(origin, choice) }),
  };
}

/**
 * Id of the record in front of a step or a message; undefined without one. Throws `invalid_argument` for one
 * that is not there.
 */
async function recordBefore(
  { path }: SessionFile,
  { fromStep, beforeEntry }: SessionChoice,
): Promise<string | undefined> {
  if (beforeEntry === undefined && fromStep === undefined) return undefined;
  const { readSession, recordBeforeStep } = await import("../session/read-session.ts");
  if (beforeEntry !== undefined) return entryBefore(readSession(path).entries, beforeEntry) ?? undefined;
  return fromStep === undefined ? undefined : recordBeforeStep(path, fromStep);
}

function unkept(sessionId: string, entries: readonly JournalEntry[] = []): OpenSession {
  const journal = new UnkeptJournal({ sessionId, entries });
  return {
    journal,
    rewindTo: async (entryId) => journal.rewind(entryBefore([...journal.entries()], entryId)),
    newestOf: (type) => entries.findLast((entry) => entry.type === type) as never,
    path: undefined,
    repairs: undefined,
    goOn: () => undefined,
    close: async () => undefined,
    release: () => undefined,
  };
}

async function resumed(
  store: SessionStore,
  origin: SessionFile,
  { cwd, rewindTo }: { readonly cwd: string; readonly rewindTo: string | undefined },
): Promise<OpenSession> {
  const isOfFolder = store.list(cwd).some(({ path }) => path === origin.path);
  const journal = await store.resume(origin);
  try {
    if (rewindTo !== undefined) await journal.rewind(rewindTo);
  } catch (error) {
    await journal.close();
    throw error;
  }
  return opened(journal, isOfFolder ? "-c" : `-r ${origin.sessionId}`);
}

async function started(
  store: SessionStore,
  cwd: string,
  options: { readonly sessionId: string; readonly copyOf?: SessionFile; readonly copyUpTo?: string },
): Promise<OpenSession> {
  return opened(await store.start(cwd, options), "-c");
}

function opened(journal: JsonlJournal, goOn: string): OpenSession {
  return {
    journal,
    rewindTo: async (entryId) => {
      const before = entryBefore([...journal.entries()], entryId);
      if (before === null) throw sessionError(`Nothing stands before ${entryId} in ${journal.path}.`);
      await journal.rewind(before);
    },
    newestOf: (type) => journal.newestOf(type),
    path: journal.path,
    repairs: journal.repairs,
    goOn: () => (journal.stored > 0 ? goOn : undefined),
    close: () => journal.close(),
    release: () => journal.release(),
  };
}
