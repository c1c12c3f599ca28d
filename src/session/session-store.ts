import {
  closeSync,
  fsyncSync,
  lstatSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import type { EntryBase } from "../core/agent/entries.ts";
import { check, STRING_SCHEMA } from "../core/base/check-options.ts";
import { errorMessage } from "../core/base/errors.ts";
import { createIds, newUuid } from "../core/base/ids.ts";
import { omitUndefined } from "../core/base/json.ts";
import { systemCode } from "../system/system-error.ts";
import { JsonlJournal, type JsonlJournalOptions } from "./jsonl-journal.ts";
import { parseRecord } from "./read-session.ts";
import { checksum, encodeRecord, type SessionEntry } from "./record.ts";
import { sessionError, systemReason, withoutSessionHint } from "./session-error.ts";
import {
  assertSessionId,
  isFolder,
  isSessionId,
  makeSessionFolder,
  namesIn,
  openSessionFile,
  readLatestPointer,
  writeLatestPointer,
} from "./session-file.ts";
import { lockPath, type SessionLock, takeLock } from "./session-lock.ts";

/** A session on disk. */
export interface SessionFile {
  readonly sessionId: string;
  readonly path: string;
  readonly bytes: number;
  /** When it was last written, in milliseconds since the epoch, by the clock at that time. */
  readonly changedAt: number;
}

/** Options for starting a session. */
export interface StartOptions extends JsonlJournalOptions {
  /** Default: a new one. */
  readonly sessionId?: string;
  /** Session whose copy it starts with. */
  readonly copyOf?: SessionFile;
  /** Id of its last record to copy. Default: the newest. */
  readonly copyUpTo?: string;
  /** Noted in the first record. */
  readonly importedFrom?: SessionEntry["importedFrom"];
}

/** Options of {@link SessionStore.open}. */
export interface OpenOptions extends JsonlJournalOptions {
  /** Working folder of the session. Default: searches all; a new one gets the process's folder. */
  readonly cwd?: string;
}

/** A user's sessions: one file each, in one folder per working folder. */
export class SessionStore {
  /** Parent of the folders of all working folders. */
  readonly root: string;

  /** `root` is the parent of the folders of all working folders; it is created with the first session. */
  constructor(root: string) {
    check(root, STRING_SCHEMA, "The folder of the sessions");
    this.root = root;
  }

  /**
   * Continues the session with exactly this id, or starts it if there is none. `await using journal = await
   * store.open("orders")` closes it. Throws `invalid_argument` if it cannot be an id, and `journal`.
   */
  async open(sessionId: string, options: OpenOptions = {}): Promise<JsonlJournal> {
    const { cwd, ...rest } = options;
    assertSessionId(sessionId, "The session id");
    const used = this.list(cwd).find((session) => session.sessionId === sessionId);
    const known = used ?? this.named(sessionId, cwd);
    if (known !== undefined) return this.resume(known, rest);
    return this.start(cwd ?? process.cwd(), { ...rest, sessionId });
  }

  /** Starts a session of a working folder. Throws `journal`, also if that id already exists. */
  async start(cwd: string, options: StartOptions = {}): Promise<JsonlJournal> {
    const { sessionId = newUuid(), copyOf, ...rest } = options;
    assertSessionId(sessionId, "The session id");
    check(cwd, STRING_SCHEMA, "The working folder of a session");
    const folder = this.#folderOf(cwd);
    const newEntriesIn = makeSessionFolder(folder);
    const path = join(folder, `${sessionId}.jsonl`);
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
      throw sessionError(
        `There is a session ${sessionId} already (${path}). Go on with it with --resume ${sessionId}, or choose another id.`,
      );
    }
    const journal = await JsonlJournal.create(path, {
      ...rest,
      sessionId,
      cwd,
      newEntriesIn,
      ...omitUndefined({ copyOf: copyOf?.path }),
    });
    writeLatestPointer(folder, sessionId);
    return journal;
  }

  /** Continues a session, or the one that {@link SessionStore.find} finds by its id. Throws `journal`. */
  async resume(session: SessionFile | string, options: JsonlJournalOptions = {}): Promise<JsonlJournal> {
    const { path, sessionId } = typeof session === "string" ? this.find(session) : session;
    const folder = join(path, "..");
    this.#assertFolders(folder);
    const journal = await JsonlJournal.open(path, options);
    writeLatestPointer(folder, sessionId);
    return journal;
  }

  /**
   * Moves a session to another working folder and resolves to its new location. Throws `journal` while a
   * process uses it, and if that folder has one with the same id.
   */
  async move({ path, sessionId, ...facts }: SessionFile, cwd: string): Promise<SessionFile> {
    this.#assertFolders(join(path, ".."));
    const folder = this.#folderOf(cwd);
    const moved = join(folder, basename(path));
    makeSessionFolder(folder);
    const lock = await takeLock(lockPath(path));
    try {
      if (lstatSync(moved, { throwIfNoEntry: false }) !== undefined)
        throw sessionError(`There is a session ${sessionId} of ${cwd} already (${moved}).`);
      renameSync(path, moved);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      const reason = systemReason(error);
      throw sessionError(`The session file ${path} cannot be moved to ${moved}: ${reason}.`, {
        cause: error,
      });
    } finally {
      lock.release();
    }
    return { ...facts, sessionId, path: moved };
  }

  /**
   * Sessions of one working folder or all, last used first, without links. Throws `journal` for linked
   * folders.
   */
  list(cwd?: string): readonly SessionFile[] {
    const found = this.#folders(cwd).flatMap(sessionsIn);
    return cwd === undefined ? found.sort((left, right) => right.changedAt - left.changedAt) : found;
  }

  /** The session with exactly this id, even if it is a link: the caller that opens it gets the error. */
  named(sessionId: string, cwd?: string): SessionFile | undefined {
    for (const folder of this.#folders(cwd)) {
      const file = sessionFile(folder, sessionId, (stats) => !stats.isDirectory());
      if (file !== undefined) return file;
    }
    return undefined;
  }

  /** The session of a working folder that was used last. Throws `journal` if there is none. */
  newest(cwd: string): SessionFile {
    const [first] = this.list(cwd);
    if (first !== undefined) return first;
    throw sessionError(
      `There is no session of ${cwd} yet: nano-agent "…" starts one. Those of other folders: nano-agent sessions list --all.`,
    );
  }

  /**
   * The session with this id, or the only one whose id begins with it; those of the given working folder come
   * first. Throws `invalid_argument` if it is not an id, `journal` if there is none or more than one.
   */
  find(id: string, cwd?: string): SessionFile {
    assertSessionId(id, "The session id");
    for (const sessions of cwd === undefined ? [this.list()] : [this.list(cwd), this.list()]) {
      const exact = sessions.find(({ sessionId }) => sessionId === id);
      if (exact !== undefined) return exact;
      const matching = sessions.filter(({ sessionId }) => sessionId.startsWith(id));
      const [only] = matching;
      if (matching.length > 1) {
        const ids = matching.slice(0, 5).map(({ sessionId }) => sessionId);
        throw sessionError(
          `${matching.length} sessions begin with ${id}: ${ids.join(", ")}. Write more of the id.`,
        );
      }
      if (only !== undefined) return only;
    }
    const other = this.named(id);
    if (other !== undefined) return other;
    throw sessionError(`There is no session ${id} below ${this.root}. See nano-agent sessions list.`);
  }

  /** Removes a session. Throws `journal` while a process uses it. */
  async remove({ path }: SessionFile): Promise<void> {
    this.#assertFolders(join(path, ".."));
    const lock = await lockForRemoval(lockPath(path));
    try {
      rmSync(path);
    } catch (error) {
      throw sessionError(`The session file ${path} cannot be removed: ${systemReason(error)}.`, {
        cause: error,
      });
    } finally {
      lock?.release();
    }
  }

  #folders(cwd: string | undefined): readonly string[] {
    if (!isFolder(this.root)) return [];
    const folders =
      cwd === undefined
        ? namesIn(this.root, "folders").map((name) => join(this.root, name))
        : [this.#folderOf(cwd)];
    return folders.filter(isFolder);
  }

  #folderOf(cwd: string): string {
    return join(this.root, workspaceSlug(cwd));
  }

  #assertFolders(folder: string): void {
    for (const path of [this.root, folder])
      if (!isFolder(path)) throw sessionError(`The session folder ${path} does not exist.`);
  }
}

/** Undefined if the disk is full and nobody holds the lock: removing something makes room. */
async function lockForRemoval(path: string): Promise<SessionLock | undefined> {
  try {
    return await takeLock(path);
  } catch (error) {
    const isFull = error instanceof Error && DISK_FULL_CODES.has(systemCode(error.cause) ?? "");
    if (isFull && lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    throw error;
  }
}

const DISK_FULL_CODES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Folder for the sessions of a working folder: its path for recognition, and a checksum for uniqueness. */
export function workspaceSlug(cwd: string): string {
  const shown = cwd
    .replaceAll(/[^A-Za-z0-9.]+/g, "-")
    .slice(-80)
    .replace(/^[-.]+/, "");
  return `${shown === "" ? "root" : shown}-${checksum(Buffer.from(cwd))}`;
}

function sessionFile(
  folder: string,
  sessionId: string,
  accepts: (stats: Stats) => boolean,
): SessionFile | undefined {
  const path = join(folder, `${sessionId}.jsonl`);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !accepts(stats)) return undefined;
  return { sessionId, path, bytes: stats.size, changedAt: stats.mtimeMs };
}

function sessionsIn(folder: string): SessionFile[] {
  const sessions: SessionFile[] = [];
  for (const name of namesIn(folder)) {
    const sessionId = basename(name, ".jsonl");
    if (sessionId === name || !isSessionId(sessionId)) continue;
    const file = sessionFile(folder, sessionId, (stats) => stats.isFile());
    if (file !== undefined) sessions.push(file);
  }
  const latest = readLatestPointer(folder);
  const rank = ({ sessionId, changedAt }: SessionFile): number =>
    sessionId === latest ? Number.POSITIVE_INFINITY : changedAt;
  return sessions.sort((left, right) => rank(right) - rank(left));
}

/** Writes a session file, which must not exist yet: all of it or nothing. Throws `journal`. */
export function writeSessionFile(
  path: string,
  sessionId: string,
  cwd: string,
  records: readonly string[],
): void {
  assertSessionId(sessionId, "The session id");
  const [line = "", ...others] = records;
  const first = parseRecord(line) as (EntryBase & { readonly type: string }) | undefined;
  const time = first?.time ?? Date.now();
  const header: SessionEntry = {
    id: createIds()("entry"),
    parent: null,
    time,
    type: "session",
    sessionId,
    cwd,
  };
  const descriptor = createFile(path);
  try {
    writeFileSync(descriptor, encodeRecord(header).bytes);
    if (first !== undefined) writeFileSync(descriptor, encodeRecord({ ...first, parent: header.id }).bytes);
    for (const record of others) writeFileSync(descriptor, `${record}\n`);
    fsyncSync(descriptor);
  } catch (error) {
    unlinkSync(path);
    throw sessionError(`The session file ${path} cannot be written: ${systemReason(error)}.`, {
      cause: error,
    });
  } finally {
    closeSync(descriptor);
  }
}

function createFile(path: string): number {
  try {
    return openSessionFile(path, "create");
  } catch (error) {
    // Without the hint at --no-session, which does not apply.
    throw sessionError(withoutSessionHint(errorMessage(error)), { cause: error });
  }
}
