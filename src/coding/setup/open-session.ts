import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { entryBefore } from "../../journal/steps.ts";
import { EphemeralJournal, type JsonlJournal } from "../../session/jsonl-journal.ts";
import { readSession, recordBeforeStep, summarizeSession } from "../../session/read-session.ts";
import { sessionError } from "../../session/session-error.ts";
import { type SessionFile, SessionStore } from "../../session/session-store.ts";
import type { CodingSessionOptions, ResumeOptions } from "../session/coding-session.ts";
import type { UserPaths } from "../settings/paths.ts";

export interface OpenSession {
  readonly journal: JsonlJournal | EphemeralJournal;
  /** The journal as a file; undefined if it is not kept. The caller that opened it closes it. */
  readonly saved?: JsonlJournal;
  /** Goes back to before a user message. Throws `invalid_argument` for any other entry. */
  readonly rewindTo: (entryId: string) => Promise<void>;
  readonly newestOf: JsonlJournal["newestOf"];
  /** Options that continue it from the same folder; undefined while nothing is stored. */
  readonly resumeFlags: () => string | undefined;
}

export function sessionStore({ historyFolder }: Pick<UserPaths, "historyFolder">): SessionStore {
  return new SessionStore(join(historyFolder, "sessions"));
}

export interface FoundSession {
  readonly sessionId: string;
  /** Opens it for writing. Throws `journal` if it cannot be opened. */
  readonly open: () => Promise<OpenSession>;
}

/** Finds the chosen session without writing anything. Throws `journal` if there is none. */
export function findSession(
  options: Pick<CodingSessionOptions, "keep" | "resume"> & { readonly entries?: readonly JournalEntry[] },
  paths: UserPaths,
  cwd: string,
  sessionId: string,
): FoundSession {
  const { keep, resume, entries } = options;
  if (keep === false) return { sessionId, open: async () => inMemorySession(sessionId, entries) };
  const store = sessionStore(paths);
  const choice: ResumeOptions | undefined = resume === "last" ? { id: resume } : resume;
  if (choice === undefined)
    return { sessionId, open: async () => toOpenSession(await store.start(cwd, { sessionId }), "-c") };
  const { id } = choice;
  const origin = id === "last" ? store.newest(cwd) : store.find(id, cwd);
  if (choice.fork !== true)
    return { sessionId: origin.sessionId, open: () => resumeSession(store, origin, { ...choice, cwd }) };
  return {
    sessionId,
    open: async () => {
      const copyUpTo = recordBefore(origin, choice);
      const copy = { sessionId, copyOf: origin, ...omitUndefined({ copyUpTo }) };
      return toOpenSession(await store.start(cwd, copy), "-c");
    },
  };
}

/** Id of the record before a step or message; undefined if there is none. Throws `invalid_argument`. */
function recordBefore(
  { path }: SessionFile,
  { step, at }: Pick<ResumeOptions, "step" | "at">,
): string | undefined {
  if (at !== undefined) return entryBefore(readSession(path).entries, at) ?? undefined;
  return step === undefined ? undefined : recordBeforeStep(path, step);
}

function inMemorySession(sessionId: string, entries: readonly JournalEntry[] = []): OpenSession {
  const journal = new EphemeralJournal(sessionId, entries);
  return {
    journal,
    rewindTo: async (entryId) => journal.rewind(entryBefore([...journal.entries()], entryId)),
    newestOf: (type) => [...journal.entries()].findLast((entry) => entry.type === type) as never,
    resumeFlags: () => undefined,
  };
}

async function resumeSession(
  store: SessionStore,
  origin: SessionFile,
  { cwd, ...choice }: Pick<ResumeOptions, "step" | "at"> & { readonly cwd: string },
): Promise<OpenSession> {
  const rewindTo = recordBefore(origin, choice);
  const isOfFolder = store.list(cwd).some(({ path }) => path === origin.path);
  const isMoved = !isOfFolder && isFolderGone(origin);
  const journal = await store.resume(isMoved ? await store.move(origin, cwd) : origin);
  try {
    if (rewindTo !== undefined) await journal.rewind(rewindTo);
  } catch (error) {
    await journal.close();
    throw error;
  }
  return toOpenSession(journal, isOfFolder || isMoved ? "-c" : `-r ${origin.sessionId}`);
}

/** True if the session's working folder was renamed or removed: the session moves to the current one. */
function isFolderGone({ path }: SessionFile): boolean {
  const { header } = summarizeSession(path);
  return header !== undefined && !existsSync(header.cwd);
}

function toOpenSession(journal: JsonlJournal, goOn: string): OpenSession {
  return {
    journal,
    saved: journal,
    rewindTo: async (entryId) => {
      const before = entryBefore([...journal.entries()], entryId);
      if (before === null) throw sessionError(`Nothing stands before ${entryId} in ${journal.path}.`);
      await journal.rewind(before);
    },
    newestOf: (type) => journal.newestOf(type),
    resumeFlags: () => (journal.stored > 0 ? goOn : undefined),
  };
}
