import { closeSync, fdatasync, fstatSync, fsync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { EntryBase, JournalEntry, NewEntry } from "../core/agent/entries.ts";
import type { LocalJournal } from "../core/agent/journal.ts";
import { invalidArgument, type NanoAgentError } from "../core/base/errors.ts";
import { createIds } from "../core/base/ids.ts";
import { omitUndefined } from "../core/base/json.ts";
import { pluralize } from "../core/base/text.ts";
import { systemCode } from "../system/system-error.ts";
import {
  discardedSpending,
  type IndexedRecord,
  idOfPath,
  inspectSession,
  readEntries,
  readRecords,
  recordPath,
  type ScannedSession,
  scanJournal,
  toDiscardedSpending,
} from "./read-session.ts";
import { encodeRecord, type RewindEntry, type SessionEntry } from "./record.ts";
import { type RepairReport, repairReport } from "./repair-report.ts";
import { NO_SESSION_HINT, sessionError, systemReason } from "./session-error.ts";
import { openSessionFile, refreshLatestPointer } from "./session-file.ts";
import { lockPath, type SessionLock, takeLock } from "./session-lock.ts";

/** Options for opening a journal. */
export interface JsonlJournalOptions {
  readonly now?: () => number;
  readonly calls?: AppendCalls;
}

/** Initial facts of a new session. */
export interface NewSession extends JsonlJournalOptions {
  readonly sessionId: string;
  readonly cwd: string;
  /** Folders that got a new entry for this session, besides the file's own. */
  readonly newEntriesIn?: readonly string[];
  /** Session file whose copy it starts with. */
  readonly copyOf?: string;
  /** Id of the last record to copy. Default: the newest. */
  readonly copyUpTo?: string;
  readonly importedFrom?: SessionEntry["importedFrom"];
}

const RUN_STARTS: ReadonlySet<string> = new Set(["run_start", "run_resume"]);

/** Synced with the next other record, or by {@link JsonlJournal.flush}. */
const SYNCED_LATER: ReadonlySet<string> = new Set([
  "assistant_message",
  "run_start",
  "run_resume",
  "permission_decision",
  "checkpoint",
]);

/**
 * The journal of a session as a file of JSON lines, with one writer at a time. `append` resolves when the
 * record is on the disk; answers, `run_start`, `run_resume`, `permission_decision` and `checkpoint` are only
 * handed to the system and reach the disk with the next record, or with `flush`. The first failure ends it:
 * every later `append` is refused with the same error, code `journal`.
 */
export class JsonlJournal implements LocalJournal {
  readonly sessionId: string;
  readonly path: string;
  /** The repairs needed when the file was opened. */
  readonly repairs: RepairReport;
  readonly #descriptor: number;
  readonly #calls: AppendCalls;
  readonly #lock: SessionLock;
  readonly #now: () => number;
  readonly #ids = createIds();
  /** The first record of a new file; written with the next one, so that an unused session leaves no file. */
  #header: SessionEntry | undefined;
  #newest: string | null;
  /** The file's initial records, until more are written. */
  #scanned: ScannedSession | undefined;
  /** Number of records in the file, and of those known to be on the disk. */
  #written: number;
  #stored: number;
  /** Folders with a new entry that must reach the disk with the first bytes. */
  #newEntriesIn: readonly string[];
  /** File size after our last write; undefined before the first. */
  #size: number | undefined;
  #nextSync: Promise<void> | undefined;
  #startNow: () => void = () => undefined;
  #lastSync: Promise<void> = Promise.resolve();
  #isSynced = true;
  #cause: Error | undefined;
  #isOpen = true;

  private constructor(opened: OpenedFile, options: JsonlJournalOptions) {
    this.sessionId = opened.sessionId;
    this.path = opened.path;
    this.repairs = opened.repairs;
    this.#descriptor = opened.descriptor;
    this.#lock = opened.lock;
    this.#calls = options.calls ?? SYSTEM_CALLS;
    this.#now = options.now ?? Date.now;
    this.#scanned = opened.found;
    const { records = [] } = opened.found?.scan ?? {};
    this.#newest = records.at(-1)?.id ?? null;
    this.#written = records.length;
    this.#stored = this.#written;
    this.#newEntriesIn = opened.newEntriesIn ?? [];
  }

  /** Starts a session in a file that must not exist yet. Throws `journal`. */
  static async create(path: string, session: NewSession): Promise<JsonlJournal> {
    const lock = await takeLock(lockPath(path));
    try {
      const { sessionId, newEntriesIn = [] } = session;
      const descriptor = openSessionFile(path, "create");
      const journal = new JsonlJournal(
        { path, descriptor, lock, sessionId, ...NO_REPAIRS, newEntriesIn: [dirname(path), ...newEntriesIn] },
        session,
      );
      await journal.#start(session);
      return journal;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Continues a session. Throws `journal`: another process has it, it is newer, or there are links. */
  static async open(path: string, options: JsonlJournalOptions = {}): Promise<JsonlJournal> {
    const lock = await takeLock(lockPath(path));
    try {
      const descriptor = openSessionFile(path, "append");
      try {
        const found = inspectSession(descriptor, path);
        const sessionId = idOfPath(path);
        const repairs = repairReport(descriptor, found);
        return new JsonlJournal({ path, descriptor, lock, sessionId, repairs, found }, options);
      } catch (error) {
        closeSync(descriptor);
        throw error;
      }
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  get file(): string {
    return this.path;
  }

  /** Number of records known to be on the disk. */
  get stored(): number {
    return this.#stored;
  }

  /** The entries of the conversation, preceded by the cost of those that a rewind discarded. */
  *entries(): Iterable<JournalEntry> {
    // An unused session no longer has a file once it is closed.
    if (this.#written === 0) return;
    const descriptor = openSessionFile(this.path, "read");
    try {
      const { scan, path } = this.#recordsIn(descriptor);
      yield* discardedSpending(descriptor, scan, path);
      yield* readEntries(descriptor, path);
    } finally {
      closeSync(descriptor);
    }
  }

  /** The newest entry of a type in the conversation, without reading the others. */
  newestOf<T extends JournalEntry["type"]>(type: T): Extract<JournalEntry, { readonly type: T }> | undefined {
    const descriptor = openSessionFile(this.path, "read");
    try {
      const records = this.#recordsIn(descriptor).path.filter((each) => each.type === type);
      const [newest] = readEntries(descriptor, records.toReversed());
      return newest as Extract<JournalEntry, { readonly type: T }> | undefined;
    } finally {
      closeSync(descriptor);
    }
  }

  append(entry: NewEntry): JournalEntry | Promise<JournalEntry> {
    if (this.#header !== undefined) {
      this.#write(this.#header);
      this.#header = undefined;
    }
    const base = { id: this.#ids("entry"), parent: this.#newest, time: this.#now() };
    const stored = this.#write({ ...base, ...entry });
    if (RUN_STARTS.has(entry.type)) refreshLatestPointer(dirname(this.path), this.sessionId);
    return SYNCED_LATER.has(entry.type) ? stored : this.#sync().then(() => stored);
  }

  /** Syncs a turn of the event loop later, so that records written until then share the sync. */
  flush(): Promise<void> {
    if (this.#isSynced) return this.#lastSync.then(() => this.#assertUsable());
    if (this.#nextSync === undefined) {
      const idle = new Promise<void>((resolve) => {
        this.#startNow = resolve;
        setImmediate(resolve);
      });
      this.#nextSync = this.#startSync(Promise.all([this.#lastSync, idle]));
    }
    return this.#nextSync;
  }

  /**
   * Continues from the record with this id: later ones leave the conversation. Adds a record and removes
   * none. Resolves when it is on the disk. Throws `invalid_argument` if the id is not on the path from the
   * first record to the newest.
   */
  async rewind(id: string): Promise<void> {
    const descriptor = openSessionFile(this.path, "read");
    try {
      const { path } = this.#recordsIn(descriptor);
      if (!path.some((record) => record.id === id)) throw unknownRecord(id, this.path);
    } finally {
      closeSync(descriptor);
    }
    const base = { id: this.#ids("entry"), parent: id, time: this.#now() };
    this.#write<RewindEntry>({ ...base, type: "rewind", from: this.#newest });
    await this.#sync();
  }

  /** Syncs, closes the file and releases the session. A session without a record leaves no file. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    try {
      if (!this.#isSynced && this.#cause === undefined) await this.#sync();
      await this.#lastSync;
    } finally {
      this.#end();
    }
  }

  #end(): void {
    this.#isOpen = false;
    try {
      closeSync(this.#descriptor);
      if (this.#header !== undefined) unlinkSync(this.path);
    } catch (error) {
      throw this.#failure(error);
    } finally {
      this.#lock.release();
    }
  }

  /** {@link JsonlJournal.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Releases the session at once, right before the process ends. */
  release(): void {
    this.#lock.release();
  }

  async #start({ sessionId, cwd, copyOf, copyUpTo, importedFrom }: NewSession): Promise<void> {
    const base = { id: this.#ids("entry"), parent: null, time: this.#now(), type: "session" } as const;
    if (copyOf === undefined) {
      this.#header = { ...base, sessionId, cwd, ...omitUndefined({ importedFrom }) };
      this.#newest = base.id;
      return;
    }
    const descriptor = openSessionFile(copyOf, "read");
    try {
      const { path: records, header } = inspectSession(descriptor, copyOf);
      const path = pathUpTo(records, copyUpTo, copyOf);
      const origin = header?.sessionId ?? idOfPath(copyOf);
      this.#write({
        ...base,
        sessionId,
        cwd,
        forkedFrom: { sessionId: origin, entry: path.at(-1)?.id ?? null },
      });
      for (const record of readRecords(
        descriptor,
        path.filter(({ type }) => type !== "session" && type !== "rewind"),
      ))
        this.#write({ ...record, parent: this.#newest, time: Number(record["time"]) });
      await this.#sync();
    } finally {
      closeSync(descriptor);
    }
  }

  #recordsIn(descriptor: number): ScannedSession {
    if (this.#scanned !== undefined) return this.#scanned;
    const scan = scanJournal(descriptor);
    return { scan, path: recordPath(scan) };
  }

  #write<E extends EntryBase & { readonly type: string }>(entry: E): E {
    const encoded = encodeRecord(entry);
    this.#scanned = undefined;
    this.#assertUsable();
    this.#isSynced = false;
    try {
      if (this.#needsNewline()) this.#writeAll(Uint8Array.of(NEWLINE));
      this.#writeAll(encoded.bytes);
    } catch (error) {
      throw this.#fail(error);
    }
    this.#newest = entry.id;
    this.#written++;
    return encoded.entry;
  }

  #writeAll(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      const written = this.#calls.write(this.#descriptor, rest);
      if (written === 0) throw new Error("The file takes no more bytes.");
      rest = rest.subarray(written);
    }
    this.#size = (this.#size ?? 0) + bytes.length;
  }

  /** Throws if a write would be lost: the file is gone, or another process has taken it over. */
  #needsNewline(): boolean {
    const { nlink, size } = fstatSync(this.#descriptor);
    if (nlink === 0) throw new FileRemovedError("the file was removed while it was in use");
    if (size === this.#size) return false;
    if (!this.#lock.isHeld()) throw sessionError("Another process took the session over.");
    this.#size = size;
    return size > 0 && lastByte(this.#descriptor, size) !== NEWLINE;
  }

  /** Resolves when everything written so far is on the disk. Requests made meanwhile share one sync. */
  #sync(): Promise<void> {
    this.#startNow();
    this.#nextSync ??= this.#startSync(this.#lastSync);
    return this.#nextSync;
  }

  #startSync(ready: Promise<unknown>): Promise<void> {
    const sync = ready.then(async () => {
      this.#nextSync = undefined;
      this.#assertUsable();
      this.#isSynced = true;
      const written = this.#written;
      const folders = this.#newEntriesIn;
      this.#newEntriesIn = [];
      try {
        await Promise.all([this.#calls.sync(this.#descriptor), ...folders.map(syncFolder)]);
      } catch (error) {
        throw this.#fail(error);
      }
      this.#stored = Math.max(this.#stored, written);
    });
    // The caller gets any failure; the chain only keeps the order.
    this.#lastSync = sync.catch(() => undefined);
    return sync;
  }

  #assertUsable(): void {
    if (this.#cause !== undefined) throw this.#failure(this.#cause);
    if (!this.#isOpen)
      throw this.#failure(new Error("the journal was closed before; close it after the run has ended"));
  }

  #fail(error: unknown): Error {
    this.#cause ??= error instanceof Error ? error : new Error(String(error));
    return this.#failure(this.#cause);
  }

  #failure(cause: unknown): Error {
    const isRemoved = cause instanceof FileRemovedError;
    if (isRemoved) this.#stored = 0;
    const kept =
      this.#stored === 0
        ? `${isRemoved ? "Nothing of the session is left." : "Nothing is stored."} Put that right${NO_SESSION_HINT}.`
        : `${pluralize(this.#stored, "record is", "records are")} stored and kept.`;
    return sessionError(`${this.path}: ${systemReason(cause)}. ${kept}`, {
      cause,
      details: { file: this.path, stored: this.#stored, reason: systemCode(cause) },
    });
  }
}

function pathUpTo(
  path: readonly IndexedRecord[],
  id: string | undefined,
  file: string,
): readonly IndexedRecord[] {
  if (id === undefined) return path;
  const at = path.findIndex((record) => record.id === id);
  if (at === -1) throw unknownRecord(id, file);
  return path.slice(0, at + 1);
}

function unknownRecord(id: string, file: string): NanoAgentError {
  return invalidArgument(
    `The record ${id} is not part of the conversation in ${file}. Take the id of one of its entries.`,
  );
}

interface OpenedFile {
  readonly path: string;
  readonly descriptor: number;
  readonly lock: SessionLock;
  readonly sessionId: string;
  readonly repairs: RepairReport;
  readonly found?: ScannedSession;
  readonly newEntriesIn?: readonly string[];
}

const NO_REPAIRS = { repairs: { damaged: [], droppedResults: [], interrupted: [] } } as const;

export interface AppendCalls {
  readonly write: (descriptor: number, bytes: Uint8Array) => number;
  readonly sync: (descriptor: number) => Promise<void>;
}

/** The file was removed: everything written to it is lost. */
class FileRemovedError extends Error {}

export const SYSTEM_CALLS: AppendCalls = {
  write: (descriptor, bytes) => writeSync(descriptor, bytes),
  sync: (descriptor) =>
    new Promise((resolve, reject) => {
      fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error)));
    }),
};

const NEWLINE = 10;

function lastByte(descriptor: number, size: number): number | undefined {
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0];
}

/** Syncs a folder's entries to the disk. File systems that cannot sync folders have their own guarantees. */
function syncFolder(path: string): Promise<void> {
  const descriptor = openSync(path, "r");
  return new Promise((resolve, reject) => {
    fsync(descriptor, (error) => {
      closeSync(descriptor);
      if (error === null || error.code === "EINVAL" || error.code === "EPERM") resolve();
      else reject(error);
    });
  });
}

/** The journal of a session in memory; it can be rewound like one on disk. */
export class EphemeralJournal implements LocalJournal {
  readonly sessionId: string;
  readonly #ids = createIds();
  #setAside: readonly JournalEntry[] = [];
  #entries: JournalEntry[];

  constructor(sessionId: string, entries: readonly JournalEntry[] = []) {
    this.sessionId = sessionId;
    this.#entries = [...entries];
  }

  *entries(): Iterable<JournalEntry> {
    yield* this.#setAside;
    yield* this.#entries;
  }

  append(entry: NewEntry): JournalEntry {
    const parent = this.#entries.at(-1)?.id ?? null;
    const stored = { id: this.#ids("entry"), parent, time: Date.now(), ...entry } as JournalEntry;
    this.#entries.push(stored);
    return stored;
  }

  /**
   * Continues from the entry with this id, or from the start (`null`); of later ones only their cost stays.
   * Throws `invalid_argument` for an unknown id.
   */
  rewind(id: string | null): void {
    const at = id === null ? -1 : this.#entries.findIndex((entry) => entry.id === id);
    if (id !== null && at === -1) throw invalidArgument(`The entry ${id} is not part of the conversation.`);
    const left = this.#entries.slice(at + 1);
    this.#setAside = [...this.#setAside, ...left.flatMap((entry) => toDiscardedSpending(entry) ?? [])];
    this.#entries = this.#entries.slice(0, at + 1);
  }
}
