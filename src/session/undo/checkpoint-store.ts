import { hash } from "node:crypto";
import { chmodSync, closeSync, existsSync, lstatSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
// As one object, so that the entry loads where an engine lacks some of it.
import zlib from "node:zlib";
import { isNanoAgentError, NanoAgentError } from "../../core/base/errors.ts";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { inTransaction, isDamagedDatabase, isFullDatabase, loadSqlite } from "../../system/sqlite.ts";
import { systemReason } from "../session-error.ts";
import { openSessionFile } from "../session-file.ts";
import type { PathKey } from "./path-key.ts";
import type { FileIndex, FileState } from "./path-state.ts";

/** The name some bytes are kept under: their SHA-256 in lowercase hex digits. */
export function hashOf(bytes: Buffer): string {
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

/** Milliseconds to wait for another session of the workspace that writes. */
const BUSY_MS = 5_000;
/** Packed bytes that are held back, so that many objects are written at once. */
const PENDING_BYTES = 8 * 1024 * 1024;

/**
 * The store for the undo of one workspace, in one database: the bytes of files by their hash, the newest
 * state of every path, and the sessions that need it. A damaged database is set aside and a new one begun,
 * with a notice. Throws `checkpoint` for what the system refuses.
 */
export class CheckpointStore {
  readonly folder: string;
  readonly #path: string;
  readonly #onNotice: (message: string) => void;
  #database: DatabaseSync | undefined;
  #sizes: Map<string, number> | undefined;
  readonly #pending = new Map<string, { readonly length: number; readonly packed: Buffer }>();
  #pendingBytes = 0;

  /** The folder is made when something is first kept. */
  constructor(folder: string, onNotice: (message: string) => void = () => undefined) {
    this.folder = folder;
    this.#path = join(folder, FILE);
    this.#onNotice = onNotice;
  }

  /** Bytes that the objects take, those not yet committed included. */
  get bytes(): number {
    let sum = this.#pendingBytes;
    for (const size of this.sizes().values()) sum += size;
    return sum;
  }

  /** Bytes that each object on the disk takes, by its name. */
  sizes(): ReadonlyMap<string, number> {
    return this.#known();
  }

  has(name: string): boolean {
    return this.#pending.has(name) || this.#known().has(name);
  }

  /** Keeps bytes from the next {@link commit} on. */
  add(name: string, bytes: Buffer): void {
    const packed = zlib.zstdCompressSync(bytes, PACKING);
    // Node 22 takes some empty buffers, such as those of an empty file, for NULL, which the table ignores.
    const stored = bytes.length === 0 ? Buffer.from("") : packed.length < bytes.length ? packed : bytes;
    this.#pending.set(name, { length: bytes.length, packed: stored });
    this.#pendingBytes += stored.length;
    if (this.#pendingBytes > PENDING_BYTES) this.commit();
  }

  /** Brings what was added to the disk. On failure none of it is kept that was not already on the disk. */
  commit(): void {
    if (this.#pending.size === 0) return;
    const known = this.#known();
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

  /** The bytes of a name; undefined when they are not kept, or damaged. */
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
    const bytes = stored.length === row?.["length"] ? Buffer.from(stored) : unpacked(stored);
    return bytes !== undefined && hashOf(bytes) === name ? bytes : undefined;
  }

  /** The index of the workspace; undefined when there is none that can be read, or it is of another root. */
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

  /** Stores the index: the states of `changed` paths, or all of them in place of what was stored. */
  saveIndex(root: string, { states, ...facts }: FileIndex, changed?: Iterable<PathKey>): void {
    this.#write((database) => {
      if (changed === undefined) database.exec("DELETE FROM paths");
      const put = database.prepare("INSERT OR REPLACE INTO paths (key, state) VALUES (?, ?)");
      const remove = database.prepare("DELETE FROM paths WHERE key = ?");
      for (const key of changed ?? states.keys()) {
        const state = states.get(key);
        // As JSON, for a key may hold what no text of a database can.
        if (state === undefined) remove.run(JSON.stringify(key));
        else put.run(JSON.stringify(key), JSON.stringify(state));
      }
      database.exec("DELETE FROM workspace");
      database
        .prepare("INSERT INTO workspace (facts) VALUES (?)")
        .run(JSON.stringify({ root, ...facts } satisfies Facts));
    });
  }

  /** Journals of the sessions that keep files here, those that were removed left out. */
  users(): readonly string[] {
    const rows = this.#read([], (database) => database.prepare("SELECT path FROM sessions").all());
    return rows.map((row) => String(row["path"])).filter((path) => existsSync(path));
  }

  /** Remembers that a session keeps files here. */
  addUser(journalPath: string): void {
    if (!this.users().includes(journalPath))
      this.#write((database) =>
        database.prepare("INSERT OR IGNORE INTO sessions (path) VALUES (?)").run(journalPath),
      );
  }

  /** Removes all objects and users but these. */
  keepOnly(names: ReadonlySet<string>, users: readonly string[]): void {
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

  /** Closes the database; the next call opens it again. */
  close(): void {
    this.#database?.close();
    this.#database = undefined;
    this.#sizes = undefined;
  }

  #known(): Map<string, number> {
    this.#sizes ??= new Map(
      this.#read([], (database) => database.prepare("SELECT hash, stored FROM objects").all()).map((row) => [
        String(row["hash"]),
        Number(row["stored"]),
      ]),
    );
    return this.#sizes;
  }

  #read<T>(otherwise: T, work: (database: DatabaseSync) => T): T {
    if (this.#database === undefined && !existsSync(this.#path)) return otherwise;
    return this.#guarded("read", work);
  }

  #write(work: (database: DatabaseSync) => unknown): void {
    this.#guarded("written", (database) => inTransaction(database, () => work(database)));
  }

  #guarded<T>(what: string, work: (database: DatabaseSync) => T): T {
    // Somebody, a command of the run perhaps, removed it: what follows is kept in a new one.
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
      this.#setAside();
      return openDatabase(this.#path);
    }
  }

  #setAside(): void {
    const aside = `${FILE}.set-aside-${Date.now()}`;
    renameSync(this.#path, join(this.folder, aside));
    this.#onNotice(
      `undo: ${this.#path} is damaged and is now ${aside}. What was changed until now can no longer be undone; remove it when you do not need it.`,
    );
  }
}

const PACKING = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

type Facts = Omit<FileIndex, "states"> & { readonly root: string };

/** Reads all that tells of the content, so that damage is met before anything relies on it. */
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

function unpacked(bytes: Uint8Array): Buffer | undefined {
  try {
    return zlib.zstdDecompressSync(bytes);
  } catch {
    // Damaged: whoever asked for it is told that it is gone.
    return undefined;
  }
}

/** Makes a folder and its parents, for this user alone. Throws system errors, and for a link there. */
export function makePrivateFolder(folder: string): void {
  makePrivateFolders(folder);
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) throw new Error(`${folder} is a link or no folder. Move it away`);
  if ((stats.mode & 0o777) !== 0o700) chmodSync(folder, 0o700);
}

/** An error of code `checkpoint` about a place of the store or the workspace that the system refused. */
export function checkpointError(what: string, cause: unknown): NanoAgentError {
  const reason = isFullDatabase(cause) ? "no space left on the device" : systemReason(cause);
  return new NanoAgentError("checkpoint", `${what}: ${reason}.`, { cause });
}
