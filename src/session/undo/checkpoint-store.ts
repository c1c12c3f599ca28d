import { hash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import zlib from "node:zlib";
import type { OmissionReason } from "../../core/agent/entries.ts";
import { isNanoAgentError, NanoAgentError } from "../../core/base/errors.ts";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { inTransaction, isDamagedDatabase, isFullDatabase, loadSqlite } from "../../system/sqlite.ts";
import { systemCode } from "../../system/system-error.ts";
import { readRange } from "../read-session.ts";
import { systemReason } from "../session-error.ts";
import { openSessionFile } from "../session-file.ts";
import {
  type FileIndex,
  type FileState,
  fileState,
  hasSameStats,
  keyOfBytes,
  type PathKey,
  permissionBits,
  unstoredVersion,
} from "./path-state.ts";

/** Limits of the data stored for undo. */
export interface CheckpointLimits {
  /** Larger files are noted and not kept. Default 32 MiB. */
  readonly maxFileBytes: number;
  /** Most files and folders of the workspace that are scanned. Default 200,000. */
  readonly maxEntries: number;
  /** Most entries scanned in one folder like `node_modules` or of build output. Default 5,000. */
  readonly maxBulkEntries: number;
  /** Bytes on disk for one workspace. Default 1 GiB. */
  readonly maxStoreBytes: number;
  /**
   * Milliseconds that a call waits for files to be read for the first time; twice as long for listing folders
   * for the first time. The rest waits for later calls. Default 2,000.
   */
  readonly maxWaitMs: number;
}

export const DEFAULT_LIMITS: CheckpointLimits = {
  maxFileBytes: 32 * 1024 * 1024,
  maxEntries: 200_000,
  maxBulkEntries: 5_000,
  maxStoreBytes: 1024 * 1024 * 1024,
  maxWaitMs: 2_000,
};

/** Names of folders with contents that a command can recreate, often by the ten thousand. */
export const BULK_FOLDERS: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  ".pnpm-store",
  ".yarn",
  ".venv",
  "venv",
  ".tox",
  ".nox",
  ".gradle",
  ".cache",
  ".next",
  ".nuxt",
  ".turbo",
  "target",
  "Pods",
  "DerivedData",
]);

function hashOf(bytes: Buffer): string {
  return hash("sha256", bytes, "hex");
}

const FILE = "undo.sqlite";
const SCHEMA_VERSION = 1;
const SCHEMA = `
CREATE TABLE objects (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, length INTEGER NOT NULL, stored INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE UNIQUE INDEX objects_by_hash ON objects (hash, length, stored);
CREATE TABLE paths (key TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE workspace (facts TEXT NOT NULL);
CREATE TABLE sessions (path TEXT PRIMARY KEY);
PRAGMA user_version = ${SCHEMA_VERSION};
`;

const BUSY_MS = 5_000;
const PENDING_BYTES = 8 * 1024 * 1024;

/**
 * The undo store of one workspace, in one database: file contents by hash, the newest state of every path,
 * and the sessions that need it. A damaged database is renamed and replaced, with a notice. Throws
 * `checkpoint` for errors of the system.
 */
export class CheckpointStore {
  readonly folder: string;
  readonly #path: string;
  readonly #onNotice: (message: string) => void;
  #database: DatabaseSync | undefined;
  #sizes: Map<string, number> | undefined;
  readonly #pending = new Map<string, { readonly length: number; readonly packed: Buffer }>();
  #pendingBytes = 0;
  readonly #limits: CheckpointLimits;
  /** Bytes that may still be stored. */
  #spaceLeft = 0;
  /** Bytes of the files seen by the current scan. */
  #scannedBytes = 0;
  #isFull = false;

  /** The folder is created when something is stored. */
  constructor(
    folder: string,
    limits: CheckpointLimits = DEFAULT_LIMITS,
    onNotice: (message: string) => void = () => undefined,
  ) {
    this.folder = folder;
    this.#limits = limits;
    this.#path = join(folder, FILE);
    this.#onNotice = onNotice;
  }

  /** Bytes used by the objects, including those not yet committed. */
  get bytes(): number {
    let sum = this.#pendingBytes;
    for (const size of this.sizes().values()) sum += size;
    return sum;
  }

  /** Bytes of each object, by its hash. */
  sizes(): Map<string, number> {
    this.#sizes ??= new Map(
      this.#read([], (database) => database.prepare("SELECT hash, stored FROM objects").all()).map((row) => [
        String(row["hash"]),
        Number(row["stored"]),
      ]),
    );
    return this.#sizes;
  }

  has(name: string): boolean {
    return this.#pending.has(name) || this.sizes().has(name);
  }

  /** Stores bytes with the next {@link commit}. */
  #add(name: string, bytes: Buffer): void {
    const packed = zlib.zstdCompressSync(bytes, COMPRESSION);
    // Node 22 takes some empty buffers, such as those of an empty file, for NULL, which the table ignores.
    const stored = bytes.length === 0 ? Buffer.from("") : packed.length < bytes.length ? packed : bytes;
    this.#pending.set(name, { length: bytes.length, packed: stored });
    this.#pendingBytes += stored.length;
    if (this.#pendingBytes > PENDING_BYTES) this.commit();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  beginScan(): void {
    this.#spaceLeft = this.#limits.maxStoreBytes - this.bytes;
    this.#scannedBytes = 0;
  }

  countScanned(bytes: number): void {
    this.#scannedBytes += bytes;
  }

  /** A path's current state; stores a file's bytes. Undefined: it vanished. Throws `checkpoint`. */
  stateAt(path: string | Buffer, stats: Stats, known: FileState | undefined): FileState | undefined {
    const checkedAt = Date.now();
    if (stats.isDirectory())
      return fileState(stats, { type: "folder", mode: permissionBits(stats.mode) }, checkedAt);
    if (stats.isFile()) return this.#fileAt(path, stats, known);
    if (!stats.isSymbolicLink()) return fileState(stats, unstoredVersion(stats, "special"), checkedAt);
    const target = linkTarget(path);
    return target === undefined ? undefined : fileState(stats, { type: "link", target }, checkedAt);
  }

  #fileAt(path: string | Buffer, stats: Stats, known: FileState | undefined): FileState | undefined {
    const checkedAt = Date.now();
    const knownHash = known?.version?.type === "file" ? known.version.hash : undefined;
    const refused = knownHash === undefined ? this.#skipReason(stats.size) : undefined;
    const read = refused ?? readWholeFile(path, this.#limits.maxFileBytes);
    if (read === undefined) return undefined;
    if (typeof read === "string") return fileState(stats, unstoredVersion(stats, read), checkedAt);
    const { bytes, stats: facts } = read;
    const hash = hashOf(bytes);
    this.#scannedBytes += bytes.length;
    if (hash !== knownHash && !this.has(hash)) {
      if (bytes.length > this.#spaceLeft) {
        this.#isFull = true;
        return fileState(facts, unstoredVersion(facts, "no_room"), checkedAt);
      }
      this.#add(hash, bytes);
      this.#spaceLeft -= bytes.length;
    }
    const mode = permissionBits(facts.mode);
    return fileState(facts, { type: "file", hash, size: bytes.length, mode }, checkedAt);
  }

  /** The reason to skip a new file of this size. At most half of the space is for current files. */
  #skipReason(size: number): OmissionReason | undefined {
    const { maxFileBytes, maxStoreBytes } = this.#limits;
    if (size > maxFileBytes) return "too_large";
    if (size <= this.#spaceLeft && this.#scannedBytes + size <= maxStoreBytes / 2) return undefined;
    this.#isFull = true;
    return "no_room";
  }

  /** Writes additions to the disk. On failure only those already on the disk are kept. */
  commit(): void {
    if (this.#pending.size === 0) return;
    const known = this.sizes();
    try {
      this.#write((database) => {
        const insert = database.prepare(
          "INSERT OR IGNORE INTO objects (hash, length, stored, bytes) VALUES (?, ?, ?, ?)",
        );
        for (const [name, { length, packed }] of this.#pending)
          insert.run(name, length, packed.length, packed);
      });
      for (const [name, { packed }] of this.#pending) known.set(name, packed.length);
    } finally {
      this.#pending.clear();
      this.#pendingBytes = 0;
    }
  }

  /** The bytes of a name; undefined if they are missing or damaged. */
  get(name: string): Buffer | undefined {
    const row = this.#read(undefined, (database) => {
      try {
        return database.prepare("SELECT length, bytes FROM objects WHERE hash = ?").get(name);
      } catch (error) {
        if (isDamagedDatabase(error)) return undefined;
        throw error;
      }
    });
    const stored = row?.["bytes"];
    if (!(stored instanceof Uint8Array)) return undefined;
    const bytes = stored.length === row?.["length"] ? Buffer.from(stored) : decompress(stored);
    return bytes !== undefined && hashOf(bytes) === name ? bytes : undefined;
  }

  /** The index of the workspace; undefined if it is unreadable or belongs to another root. */
  loadIndex(root: string): FileIndex | undefined {
    return this.#read(undefined, (database) => {
      const facts = database.prepare("SELECT facts FROM workspace").get()?.["facts"];
      const states = new Map<PathKey, FileState>();
      try {
        const { root: ofRoot, ...known }: Partial<Facts> = JSON.parse(String(facts ?? "{}"));
        if (ofRoot !== root) return undefined;
        for (const row of database.prepare("SELECT key, state FROM paths").iterate())
          states.set(JSON.parse(String(row["key"])), JSON.parse(String(row["state"])));
        return { isComplete: false, omitted: [], sessionId: "", ...known, states };
      } catch (error) {
        if (error instanceof SyntaxError) return undefined;
        throw error;
      }
    });
  }

  /** Stores the index: the states of `changed` paths, or all of them, replacing the stored ones. */
  saveIndex(root: string, { states, ...facts }: FileIndex, changed?: Iterable<PathKey>): void {
    this.#write((database) => {
      if (changed === undefined) database.exec("DELETE FROM paths");
      const put = database.prepare("INSERT OR REPLACE INTO paths (key, state) VALUES (?, ?)");
      const remove = database.prepare("DELETE FROM paths WHERE key = ?");
      for (const key of changed ?? states.keys()) {
        const state = states.get(key);
        // As JSON, since a key may hold characters that database text cannot.
        if (state === undefined) remove.run(JSON.stringify(key));
        else put.run(JSON.stringify(key), JSON.stringify(state));
      }
      database.exec("DELETE FROM workspace");
      database
        .prepare("INSERT INTO workspace (facts) VALUES (?)")
        .run(JSON.stringify({ root, ...facts } satisfies Facts));
    });
  }

  /** Journals of the existing sessions with files in this store. */
  users(): readonly string[] {
    const rows = this.#read([], (database) => database.prepare("SELECT path FROM sessions").all());
    return rows.map((row) => String(row["path"])).filter((path) => existsSync(path));
  }

  addUser(journalPath: string): void {
    if (!this.users().includes(journalPath))
      this.#write((database) =>
        database.prepare("INSERT OR IGNORE INTO sessions (path) VALUES (?)").run(journalPath),
      );
  }

  retainOnly(names: ReadonlySet<string>, users: readonly string[]): void {
    this.#write((database) => {
      const remove = database.prepare("DELETE FROM objects WHERE id = ?");
      for (const { id, hash: name } of database.prepare("SELECT id, hash FROM objects").all())
        if (!names.has(String(name))) remove.run(Number(id));
      database.exec("DELETE FROM sessions");
      const add = database.prepare("INSERT INTO sessions (path) VALUES (?)");
      for (const path of users) add.run(path);
    });
    this.#read(undefined, (database) => database.exec("PRAGMA incremental_vacuum"));
    this.#sizes = undefined;
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
    this.#sizes = undefined;
  }

  #read<T>(otherwise: T, work: (database: DatabaseSync) => T): T {
    if (this.#database === undefined && !existsSync(this.#path)) return otherwise;
    return this.#guarded("read", work);
  }

  #write(work: (database: DatabaseSync) => unknown): void {
    this.#guarded("written", (database) => inTransaction(database, () => work(database)));
  }

  #guarded<T>(what: string, work: (database: DatabaseSync) => T): T {
    // Something, perhaps a command of the run, removed it: later data goes to a new one.
    if (this.#database !== undefined && !existsSync(this.#path)) this.close();
    try {
      return work((this.#database ??= this.#open()));
    } catch (error) {
      if (isNanoAgentError(error)) throw error;
      throw checkpointError(`${this.#path} cannot be ${what}`, error);
    }
  }

  #open(): DatabaseSync {
    makePrivateFolder(this.folder);
    try {
      return openDatabase(this.#path);
    } catch (error) {
      if (!isDamagedDatabase(error)) throw error;
      this.#replaceDamaged();
      return openDatabase(this.#path);
    }
  }

  #replaceDamaged(): void {
    const aside = `${FILE}.set-aside-${Date.now()}`;
    renameSync(this.#path, join(this.folder, aside));
    this.#onNotice(
      `undo: ${this.#path} is damaged and is now ${aside}. What was changed until now can no longer be undone; remove it when you do not need it.`,
    );
  }
}

const COMPRESSION = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

type Facts = Omit<FileIndex, "states"> & { readonly root: string };

/** Reads all metadata, so that damage is found before anything relies on it. */
function openDatabase(path: string): DatabaseSync {
  closeSync(openSessionFile(path, existsSync(path) ? "append" : "create"));
  const { DatabaseSync: Database } = loadSqlite();
  const database = new Database(path, { timeout: BUSY_MS });
  try {
    database.exec(
      "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL",
    );
    inTransaction(database, () => {
      const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
      if (version > SCHEMA_VERSION)
        throw new NanoAgentError(
          "checkpoint",
          `${path} is of version ${version}, and this program knows versions up to ${SCHEMA_VERSION}. Update nano-agent, or move the file away.`,
        );
      if (version === 0) database.exec(SCHEMA);
    });
    database.prepare("SELECT total(stored), (SELECT total(length(state)) FROM paths) FROM objects").get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function decompress(bytes: Uint8Array): Buffer | undefined {
  try {
    return zlib.zstdDecompressSync(bytes);
  } catch {
    // Damaged: the same as missing for the caller.
    return undefined;
  }
}

/** Creates a folder and its parents, for this user alone. Throws system errors, and if it is a link. */
export function makePrivateFolder(folder: string): void {
  makePrivateFolders(folder);
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) throw new Error(`${folder} is a link or no folder. Move it away`);
  if ((stats.mode & 0o777) !== 0o700) chmodSync(folder, 0o700);
}

export function checkpointError(what: string, cause: unknown): NanoAgentError {
  const reason = isFullDatabase(cause) ? "no space left on the device" : systemReason(cause);
  return new NanoAgentError("checkpoint", `${what}: ${reason}.`, { cause });
}

function linkTarget(path: string | Buffer): string | undefined {
  try {
    return keyOfBytes(readlinkSync(path, "buffer"));
  } catch (error) {
    // Something else replaced it.
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

const MAX_TRIES = 3;

/**
 * Reads a whole regular file, with its stats from before the first byte; follows no link and does not block
 * on pipes. Returns the reason if it cannot be read; undefined if it vanished or was replaced.
 */
function readWholeFile(
  path: string | Buffer,
  maxBytes: number,
): { readonly stats: Stats; readonly bytes: Buffer } | OmissionReason | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(
      path,
      constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0),
    );
    for (let tries = 1; ; tries++) {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return undefined;
      if (stats.size > maxBytes) return "too_large";
      const bytes = readRange(descriptor, 0, stats.size);
      const isSteady = hasSameStats(stats, fstatSync(descriptor));
      // A file that keeps changing is stored as read; its times will show the later change.
      if (isSteady || tries === MAX_TRIES) return { stats, bytes };
    }
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    return VANISHED_CODES.has(code) ? undefined : "unreadable";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const VANISHED_CODES: ReadonlySet<string> = new Set(["ENOENT", "ELOOP", "ENOTDIR", "ENXIO"]);
