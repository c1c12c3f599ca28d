import { chmodSync, closeSync, existsSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { abortError } from "../core/base/async.ts";
import { check, optionSchema, STRING_SCHEMA } from "../core/base/check-options.ts";
import { errorMessage, invalidArgument, isNanoAgentError, NanoAgentError } from "../core/base/errors.ts";
import { utf8Length } from "../core/base/text.ts";
import { makePrivateFolders } from "../system/private-folders.ts";
import { inTransaction, isBusyDatabase, isDamagedDatabase, loadSqlite } from "../system/sqlite.ts";
import type {
  LongTermMemory,
  Recollection,
  Recordable,
  RecordContext,
  RecordOutcome,
  RetrieveOptions,
} from "./long-term-memory.ts";
import {
  checkLimit,
  type LongTermStoreOptions,
  recordTexts,
  type StoreSettings,
  storeSettings,
  vectorsOf,
} from "./store-options.ts";

/** Version of the tables; a file with a higher one is left untouched. */
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

/** Milliseconds SQLite waits for another writer: short, as it blocks this whole process. */
const BUSY_MS = 25;

interface OpenDatabase {
  readonly database: DatabaseSync;
  /** Device and inode: the path may lead to another file later. */
  readonly file: string;
}

/**
 * Opens the database at `path`, or creates it, readable only by its owner. Throws `memory` for a newer
 * version's or another program's database, which it leaves untouched, and for a place that cannot be written.
 * Other SQLite errors (damage, another writer) are passed on: see {@link isDamage}.
 */
function openDatabase(path: string): OpenDatabase {
  assertOwnDatabase(readHeader(path), path);
  createFile(path);
  const file = fileAt(path);
  const Database = databaseClass();
  const database = new Database(path, { timeout: BUSY_MS });
  try {
    // First, as it also ensures that the database of another program is left untouched.
    prepareTables(database, path);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    // This reads the whole file of a small database; damage in a large one shows when its pages are read.
    if (statSync(path).size <= MAX_CHECKED_BYTES) checkWhole(database);
    return { database, file };
  } catch (error) {
    database.close();
    throw error;
  }
}

function databaseInMemory(): DatabaseSync {
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

function fileAt(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.dev}:${stats.ino}`;
}

/** Renames a damaged database and its files, unless another process has done so. Returns the new path. */
function renameDamaged(path: string, file: string, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-");
  let renamed = `${path}.damaged-${stamp}`;
  for (let n = 2; existsSync(renamed); n++) renamed = `${path}.damaged-${stamp}-${n}`;
  if (fileAt(path) !== file) return renamed;
  for (const suffix of ["-wal", "-shm", ""])
    if (existsSync(path + suffix)) renameSync(path + suffix, renamed + suffix);
  return renamed;
}

class DamagedDatabase extends Error {}

function isDamage(error: unknown): boolean {
  return error instanceof DamagedDatabase || isDamagedDatabase(error);
}

/** The fields of a database file's header that identify its owner, read before SQLite touches the file. */
interface Header {
  readonly version: number;
  readonly applicationId: number;
}

const HEADER_BYTES = 100;

/** Undefined if the file is missing, empty, or not a database. */
function readHeader(path: string): Header | undefined {
  if (!existsSync(path)) return undefined;
  const bytes = Buffer.alloc(HEADER_BYTES);
  const descriptor = withOpenError(path, () => openSync(path, "r"));
  try {
    const read = withOpenError(path, () => readSync(descriptor, bytes, 0, HEADER_BYTES, 0));
    if (read < HEADER_BYTES || bytes.toString("latin1", 0, 16) !== "SQLite format 3\0") return undefined;
    return { version: bytes.readUInt32BE(60), applicationId: bytes.readUInt32BE(68) };
  } finally {
    closeSync(descriptor);
  }
}

function assertOwnDatabase(header: Header | undefined, path: string): void {
  if (header === undefined) return;
  const { version, applicationId } = header;
  if (applicationId !== APPLICATION_ID && (applicationId !== 0 || version !== 0)) throw foreignDatabase(path);
  if (version > SCHEMA_VERSION)
    throw new NanoAgentError(
      "memory",
      `${path} is a long-term memory of version ${version}, and this program knows versions up to ${SCHEMA_VERSION}. It was left as it is: update nano-agent, or name another file.`,
      { details: { path, version } },
    );
}

function foreignDatabase(path: string): NanoAgentError {
  return new NanoAgentError(
    "memory",
    `${path} is the database of another program and was left as it is. Name another file for the long-term memory.`,
  );
}

function createFile(path: string): void {
  withOpenError(path, () => {
    makePrivateFolders(dirname(path));
    // SQLite gives its companion files the same mode.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    else {
      const { mode } = statSync(path);
      // A file made read-only by its owner stays read-only.
      if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
    }
  });
}

function withOpenError<T>(path: string, work: () => T): T {
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

/** Creates the tables of an empty database; if two processes open it at once, only one does. */
function prepareTables(database: DatabaseSync, path: string): void {
  const now = readPragmas(database);
  assertOwnDatabase(now, path);
  if (now.version === SCHEMA_VERSION) return;
  inTransaction(database, () => {
    if (readPragmas(database).version !== 0) return;
    if (database.prepare("SELECT count(*) AS n FROM sqlite_master").get()?.["n"] !== 0)
      throw foreignDatabase(path);
    database.exec(SCHEMA);
  });
}

function readPragmas(database: DatabaseSync): Header {
  const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
  const applicationId = database.prepare("PRAGMA application_id").get()?.["application_id"];
  return { version: Number(version), applicationId: Number(applicationId) };
}

type DatabaseAccess = <T>(signal: AbortSignal | undefined, work: (database: DatabaseSync) => T) => Promise<T>;

/**
 * A long-term memory that lives as long as the program: for tests, and for services that keep their memories
 * elsewhere. Finds, ranks and forgets as {@link SqliteLongTermMemory} does, over the same tables.
 */
export class InMemoryLongTermMemory implements LongTermMemory {
  readonly #settings: StoreSettings;
  #opened: DatabaseSync | undefined;

  /** Throws `invalid_argument` for an invalid limit. */
  constructor(options: LongTermStoreOptions = {}) {
    this.#settings = storeSettings(options);
  }

  /** Number of records. */
  get size(): number {
    return countRecords(this.#database);
  }

  record(what: Recordable, context: RecordContext = {}): Promise<RecordOutcome> {
    return recordIn(async (_signal, work) => work(this.#database), this.#settings, what, context);
  }

  retrieve(query: string, options: RetrieveOptions = {}): Promise<readonly Recollection[]> {
    return retrieveFrom(async (_signal, work) => work(this.#database), this.#settings, query, options);
  }

  get #database(): DatabaseSync {
    return (this.#opened ??= databaseInMemory());
  }
}

/** Options of {@link SqliteLongTermMemory}. */
export interface SqliteLongTermMemoryOptions extends LongTermStoreOptions {
  /** The database file, created with its folder at the first record or search, for the owner alone. */
  readonly path: string;
  /** Milliseconds to wait for other processes that are writing. Default 4,000. */
  readonly busyTimeoutMs?: number;
}

/** A record as returned by {@link SqliteLongTermMemory.list}. */
export interface StoredMemory {
  readonly id: string;
  readonly text: string;
  /** Time of the last recording, milliseconds since the epoch. */
  readonly time: number;
  /** `dialogue`, `model`, or undefined if the program recorded it itself. */
  readonly origin: string | undefined;
  readonly sessionId: string | undefined;
}

const MILLISECONDS = optionSchema({ type: "number", minimum: 0 });

/**
 * A long-term memory in one file: SQLite with full-text search, which handles Chinese as well as English.
 * Several processes may use the file at once. When `record` resolves, its records are on disk. A damaged file
 * is renamed, reported in a notice, and replaced by a new one. A newer version's file is refused (`memory`)
 * and not touched. Opened by the first call, which rejects with `memory` if that fails.
 */
export class SqliteLongTermMemory implements LongTermMemory {
  readonly #path: string;
  readonly #busyTimeoutMs: number;
  readonly #settings: StoreSettings;
  #open: OpenDatabase | undefined;

  /** Touches no file. Throws `invalid_argument` for an invalid path or limit. */
  constructor({ path, busyTimeoutMs = 4_000, ...options }: SqliteLongTermMemoryOptions) {
    if (typeof path !== "string" || path.trim() === "" || path === ":memory:")
      throw invalidArgument(`path is ${JSON.stringify(path)}: name a file, or use InMemoryLongTermMemory.`);
    check(busyTimeoutMs, MILLISECONDS, "busyTimeoutMs");
    this.#path = resolve(path);
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#settings = storeSettings(options);
  }

  record(what: Recordable, context: RecordContext = {}): Promise<RecordOutcome> {
    return recordIn(this.#work, this.#settings, what, context);
  }

  retrieve(query: string, options: RetrieveOptions = {}): Promise<readonly Recollection[]> {
    return retrieveFrom(this.#work, this.#settings, query, options);
  }

  /** The newest records, newest first. Default: 50 of them. */
  async list({ limit = 50 }: { readonly limit?: number } = {}): Promise<readonly StoredMemory[]> {
    const count = checkLimit(limit);
    return this.#work(undefined, (database) =>
      database
        .prepare("SELECT id, text, time, origin, session FROM memories ORDER BY time DESC, id DESC LIMIT ?")
        .all(count)
        .map(({ id, text, time, origin, session }) => ({
          id: String(id),
          text: String(text),
          time: Number(time),
          origin: origin === null ? undefined : String(origin),
          sessionId: session === null ? undefined : String(session),
        })),
    );
  }

  /** Removes records by their ids. Resolves to the number removed. */
  async forget(...ids: readonly string[]): Promise<number> {
    const numbers = ids.filter((id) => /^\d{1,15}$/.test(id)).map(Number);
    return this.#work(undefined, (database) =>
      inTransaction(database, () => numbers.reduce((removed, id) => removed + removeRecord(database, id), 0)),
    );
  }

  /** Number of records. */
  async count(): Promise<number> {
    return this.#work(undefined, countRecords);
  }

  /** Closes the file; the next call reopens it. */
  close(): void {
    this.#open?.database.close();
    this.#open = undefined;
  }

  /** {@link SqliteLongTermMemory.close}, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Waits for other writers without blocking, and starts a new file if this one is damaged. */
  readonly #work: DatabaseAccess = async (signal, work) => {
    const { clock } = this.#settings;
    const deadline = clock.elapsed() + this.#busyTimeoutMs;
    let hasReplaced = false;
    for (let pause = 5; ; pause = Math.min(100, pause * 2)) {
      if (signal?.aborted === true) throw abortError(signal);
      try {
        return work(this.#database());
      } catch (error) {
        if (isDamage(error) && !hasReplaced) {
          hasReplaced = true;
          this.#replaceDamaged(error);
          continue;
        }
        if (!isBusyDatabase(error) || clock.elapsed() >= deadline) throw this.#failure(error);
      }
      await clock.sleep(pause, signal);
    }
  };

  #database(): DatabaseSync {
    // If another process renamed or removed the file, anything written to it would be lost.
    if (this.#open !== undefined && this.#open.file !== fileAt(this.#path)) this.close();
    this.#open ??= openDatabase(this.#path);
    return this.#open.database;
  }

  #replaceDamaged(error: unknown): void {
    const file = this.#open?.file ?? fileAt(this.#path);
    this.close();
    const renamed = renameDamaged(this.#path, file, this.#settings.clock.now());
    this.#settings.onNotice(
      `The long-term memory ${this.#path} is damaged (${errorMessage(error)}). It was set aside as ${renamed}, and a new one was begun.`,
    );
  }

  #failure(error: unknown): NanoAgentError {
    if (isNanoAgentError(error)) return error;
    const reason = isBusyDatabase(error)
      ? `another process has been writing for more than ${this.#busyTimeoutMs} ms`
      : errorMessage(error);
    return new NanoAgentError("memory", `The long-term memory ${this.#path} cannot be used: ${reason}.`, {
      cause: error,
      retryable: isBusyDatabase(error),
    });
  }
}

/** Keeps texts, and drops the least recently used records if there are too many. */
async function recordIn(
  work: DatabaseAccess,
  settings: StoreSettings,
  what: Recordable,
  { signal, origin, sessionId }: RecordContext,
): Promise<RecordOutcome> {
  const texts = recordTexts(what, settings);
  const strings = texts.map(({ text }) => text);
  const vectors = await vectorsOf(strings, settings, signal);
  if (texts.length === 0) return { added: 0, known: 0 };
  const time = settings.clock.now();
  const write = (database: DatabaseSync): RecordOutcome => {
    const update = database.prepare(
      "UPDATE memories SET time = max(time, ?), last_used = max(last_used, ?) WHERE key = ?",
    );
    let added = 0;
    for (const [at, { key, text }] of texts.entries()) {
      if (Number(update.run(time, time, key).changes) > 0) continue;
      const facts = [key, text, utf8Length(text), time, time, origin ?? null, sessionId ?? null];
      addRecord(database, settings, facts, vectors[at]);
      added++;
    }
    shrink(database, settings);
    return { added, known: texts.length - added };
  };
  return work(signal, (database) => inTransaction(database, () => write(database)));
}

function addRecord(
  database: DatabaseSync,
  { terms, embedder }: StoreSettings,
  facts: readonly (string | number | null)[],
  vector: Float32Array | undefined,
): void {
  const { lastInsertRowid: id } = database
    .prepare(
      "INSERT INTO memories (key, text, bytes, time, last_used, origin, session) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .run(...facts);
  const { words, parts } = terms.index(String(facts[1]));
  database
    .prepare("INSERT INTO terms (rowid, words, parts) VALUES (?, ?, ?)")
    .run(id, words.join(" "), parts.join(" "));
  if (vector !== undefined && embedder !== undefined)
    database
      .prepare("INSERT INTO vectors (id, model, vector) VALUES (?, ?, ?)")
      .run(id, embedder.model, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
}

function removeRecord(database: DatabaseSync, id: number): number {
  const { changes } = database.prepare("DELETE FROM memories WHERE id = ?").run(id);
  if (Number(changes) === 0) return 0;
  database.prepare("DELETE FROM terms WHERE rowid = ?").run(id);
  database.prepare("DELETE FROM vectors WHERE id = ?").run(id);
  return 1;
}

function countRecords(database: DatabaseSync): number {
  return Number(database.prepare("SELECT count(*) AS n FROM memories").get()?.["n"]);
}

function shrink(database: DatabaseSync, { maxRecords, maxBytes }: StoreSettings): void {
  const total = database.prepare("SELECT count(*) AS n, total(bytes) AS bytes FROM memories").get();
  let [records, bytes] = [Number(total?.["n"]), Number(total?.["bytes"])];
  const oldest = database.prepare("SELECT id, bytes FROM memories ORDER BY last_used, id LIMIT 1");
  while (records > maxRecords || bytes > maxBytes) {
    const row = oldest.get();
    if (row === undefined) return;
    records -= removeRecord(database, Number(row["id"]));
    bytes -= Number(row["bytes"]);
  }
}

/** The best matches, best first. They count as used from then on. */
async function retrieveFrom(
  work: DatabaseAccess,
  settings: StoreSettings,
  query: string,
  { limit, signal }: RetrieveOptions,
): Promise<readonly Recollection[]> {
  check(query, STRING_SCHEMA, "query");
  const count = checkLimit(limit);
  const [vector] = await vectorsOf(query.trim() === "" ? [] : [query], settings, signal);
  return work(signal, (database) => {
    const now = settings.clock.now();
    const found = candidatesFor(database, settings, { query, limit: count, vector });
    const best = rank(found, now, settings).slice(0, count);
    const ids = best.map(({ id }) => id);
    if (ids.length > 0) touch(database, ids, now);
    const select = database.prepare("SELECT text FROM memories WHERE id = ?");
    return best.map(({ id, time, score }) => {
      return { id: String(id), text: String(select.get(id)?.["text"] ?? ""), time, score };
    });
  });
}

/** Only protects records from being dropped, so it waits for neither a writer nor the disk. */
function touch(database: DatabaseSync, ids: readonly number[], time: number): void {
  database.exec("PRAGMA synchronous = NORMAL");
  try {
    inTransaction(database, () => {
      const update = database.prepare("UPDATE memories SET last_used = max(last_used, ?) WHERE id = ?");
      for (const id of ids) update.run(time, id);
    });
  } catch (error) {
    if (!isBusyDatabase(error)) throw error;
  } finally {
    database.exec("PRAGMA synchronous = FULL");
  }
}

interface Candidate {
  readonly id: number;
  readonly time: number;
  /** BM25 of its words, above 0; absent if no word matches. */
  readonly text?: number;
  readonly similarity?: number;
}

const MIN_CANDIDATES = 100;

/** The records that may match: the best by their words, and every one with a comparable vector. */
function candidatesFor(
  database: DatabaseSync,
  { terms: reader, embedder }: StoreSettings,
  search: { readonly query: string; readonly limit: number; readonly vector: Float32Array | undefined },
): readonly Candidate[] {
  const { terms, loose } = reader.query(search.query);
  const maxCandidates = Math.max(MIN_CANDIDATES, search.limit * 4);
  const strict = matches(database, terms, maxCandidates);
  const found = strict.size === 0 ? matches(database, loose, maxCandidates) : strict;
  const { vector } = search;
  if (vector === undefined || embedder === undefined) return [...found.values()];
  const rows = database
    .prepare(
      "SELECT m.id, m.time, v.vector FROM vectors AS v JOIN memories AS m ON m.id = v.id WHERE v.model = ?",
    )
    .iterate(embedder.model);
  for (const { id, time, vector: bytes } of rows) {
    if (!(bytes instanceof Uint8Array)) continue;
    const similarity = cosine(vector, new Float32Array(bytes.slice().buffer));
    found.set(Number(id), { id: Number(id), time: Number(time), ...found.get(Number(id)), similarity });
  }
  return [...found.values()];
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.length === b.length ? a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0) : 0;
}

function matches(
  database: DatabaseSync,
  terms: readonly string[],
  maxCandidates: number,
): Map<number, Candidate> {
  if (terms.length === 0) return new Map();
  const rows = database
    .prepare(
      `SELECT m.id AS id, m.time AS time, f.fit AS fit FROM
         (SELECT rowid AS id, bm25(terms, 1.0, 0.4) AS fit FROM terms WHERE terms MATCH ? ORDER BY fit LIMIT ?) AS f
       JOIN memories AS m ON m.id = f.id`,
    )
    // Quoted operators of the search language are plain words. Terms contain no quotes.
    .all(terms.map((term) => `"${term}"`).join(" OR "), maxCandidates);
  return new Map(
    rows.map(({ id, time, fit }) => [Number(id), { id: Number(id), time: Number(time), text: -Number(fit) }]),
  );
}

/** Vectors less similar than this are treated as unrelated. */
const MIN_SIMILARITY = 0.3;
/** Below this a record shares only words that most records have. */
const MIN_RELEVANCE = 0.001;

/**
 * The candidates, best first. `score = relevance × (1 − w + w × 2^(−age ÷ halfLife))` with the recency weight
 * `w`. `relevance` is the word score divided by the best one or, if vectors were compared, half of that plus
 * half of the cosine (0 if it is below 0.3). Equal scores: the newer one first. A record from the future
 * counts as new.
 */
function rank(
  candidates: readonly Candidate[],
  now: number,
  { recencyWeight: weight, recencyHalfLifeMs }: StoreSettings,
): readonly { readonly id: number; readonly time: number; readonly score: number }[] {
  const best = candidates.reduce((highest, { text = 0 }) => Math.max(highest, text), 0);
  const hasVectors = candidates.some(({ similarity }) => similarity !== undefined);
  return candidates
    .flatMap(({ id, time, text = 0, similarity = 0 }) => {
      const words = best === 0 ? 0 : text / best;
      const relevance = hasVectors ? (words + (similarity < MIN_SIMILARITY ? 0 : similarity)) / 2 : words;
      if (relevance < MIN_RELEVANCE) return [];
      const age = Math.max(0, now - time);
      return [{ id, time, score: relevance * (1 - weight + weight * 2 ** (-age / recencyHalfLifeMs)) }];
    })
    .sort((a, b) => b.score - a.score || b.time - a.time || b.id - a.id);
}
