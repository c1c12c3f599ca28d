import { chmodSync, closeSync, existsSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { errorMessage, NanoAgentError } from "../core/base/errors.ts";
import { makePrivateFolders } from "../system/private-folders.ts";
import { inTransaction, isDamagedDatabase, loadSqlite } from "../system/sqlite.ts";

/** Version of the tables; a file with a higher one is left alone. */
const SCHEMA_VERSION = 1;
/** Marks a database as one of these stores (`nmem`): another program's is never taken for a damaged one. */
const APPLICATION_ID = 0x6e6d656d;

const SCHEMA = `
CREATE TABLE memories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  time INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  origin TEXT,
  session TEXT
);
CREATE INDEX memories_by_use ON memories (last_used, id, bytes);
CREATE VIRTUAL TABLE terms USING fts5 (words, parts, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE TABLE vectors (id INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Milliseconds SQLite waits for another writer: short, as nothing else in this process runs meanwhile. */
const BUSY_MS = 25;

export interface OpenDatabase {
  readonly database: DatabaseSync;
  /** Device and inode: what now lies at the path may be another file. */
  readonly file: string;
}

/**
 * Opens the database at `path`, or makes it, readable for its owner alone. Throws `memory` for one of a newer
 * version or of another program, which it leaves as it is, and for a place that cannot be written; what
 * SQLite throws (damage, another writer) is passed on: see {@link isDamage}.
 */
export function openDatabase(path: string): OpenDatabase {
  assertOurs(readHeader(path), path);
  createFile(path);
  const file = fileAt(path);
  const Database = databaseClass();
  const database = new Database(path, { timeout: BUSY_MS });
  try {
    // First, for it also sees to it that the database of another program stays as it is.
    prepareTables(database, path);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    // Reads the whole file: damage in a large one is met when its pages are.
    if (statSync(path).size <= MAX_CHECKED_BYTES) checkWhole(database);
    return { database, file };
  } catch (error) {
    database.close();
    throw error;
  }
}

export function databaseInMemory(): DatabaseSync {
  const Database = databaseClass();
  const database = new Database(":memory:");
  database.exec(SCHEMA);
  return database;
}

function databaseClass(): typeof DatabaseSync {
  try {
    return loadSqlite().DatabaseSync;
  } catch (cause) {
    const message = `${errorMessage(cause)} SimpleLongTermMemory needs none.`;
    throw new NanoAgentError("memory", message, { cause });
  }
}

const MAX_CHECKED_BYTES = 1024 * 1024;

function checkWhole(database: DatabaseSync): void {
  const found = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found !== "ok") throw new DamagedDatabase(String(found));
}

export function fileAt(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.dev}:${stats.ino}`;
}

/** Renames a damaged database and its files, unless another process has done so. Returns its new path. */
export function setAside(path: string, file: string, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-");
  let aside = `${path}.damaged-${stamp}`;
  for (let n = 2; existsSync(aside); n++) aside = `${path}.damaged-${stamp}-${n}`;
  if (fileAt(path) !== file) return aside;
  for (const suffix of ["-wal", "-shm", ""])
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}

class DamagedDatabase extends Error {}

export function isDamage(error: unknown): boolean {
  return error instanceof DamagedDatabase || isDamagedDatabase(error);
}

/** The fields of a database file's header that say whose it is, read before SQLite touches the file. */
interface Header {
  readonly version: number;
  readonly applicationId: number;
}

const HEADER_BYTES = 100;

/** Undefined for a file that is not there, empty, or no database at all. */
function readHeader(path: string): Header | undefined {
  if (!existsSync(path)) return undefined;
  const bytes = Buffer.alloc(HEADER_BYTES);
  const descriptor = guarded(path, () => openSync(path, "r"));
  try {
    const read = guarded(path, () => readSync(descriptor, bytes, 0, HEADER_BYTES, 0));
    if (read < HEADER_BYTES || bytes.toString("latin1", 0, 16) !== "SQLite format 3\0") return undefined;
    return { version: bytes.readUInt32BE(60), applicationId: bytes.readUInt32BE(68) };
  } finally {
    closeSync(descriptor);
  }
}

function assertOurs(header: Header | undefined, path: string): void {
  if (header === undefined) return;
  const { version, applicationId } = header;
  if (applicationId !== APPLICATION_ID && (applicationId !== 0 || version !== 0)) throw foreign(path);
  if (version > SCHEMA_VERSION)
    throw new NanoAgentError(
      "memory",
      `${path} is a long-term memory of version ${version}, and this program knows versions up to ${SCHEMA_VERSION}. It was left as it is: update nano-agent, or name another file.`,
      { details: { path, version } },
    );
}

function foreign(path: string): NanoAgentError {
  return new NanoAgentError(
    "memory",
    `${path} is the database of another program and was left as it is. Name another file for the long-term memory.`,
  );
}

function createFile(path: string): void {
  guarded(path, () => {
    makePrivateFolders(dirname(path));
    // SQLite gives the files it makes beside it the same mode.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    else {
      const { mode } = statSync(path);
      // A file that its owner has made read-only stays so.
      if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
    }
  });
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new NanoAgentError(
      "memory",
      `The long-term memory ${path} cannot be opened: ${errorMessage(error)}. Put that right, or name another file.`,
      { cause: error },
    );
  }
}

/** Makes the tables of an empty database; of two processes that open it at once only one does. */
function prepareTables(database: DatabaseSync, path: string): void {
  const now = readPragmas(database);
  assertOurs(now, path);
  if (now.version === SCHEMA_VERSION) return;
  inTransaction(database, () => {
    if (readPragmas(database).version !== 0) return;
    if (database.prepare("SELECT count(*) AS n FROM sqlite_master").get()?.["n"] !== 0) throw foreign(path);
    database.exec(SCHEMA);
  });
}

function readPragmas(database: DatabaseSync): Header {
  const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
  const applicationId = database.prepare("PRAGMA application_id").get()?.["application_id"];
  return { version: Number(version), applicationId: Number(applicationId) };
}
