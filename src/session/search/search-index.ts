import { closeSync, lstatSync, renameSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { inTransaction, loadSqlite } from "../../system/sqlite.ts";
import { openSessionFile } from "../session-file.ts";
import type { SessionFile } from "../session-store.ts";
import { searchWords, wordSegmenter } from "./search-words.ts";
import { type SessionPassage, sessionPassages } from "./session-passages.ts";

/** Version of the tables; an index of another one is made anew. */
const INDEX_VERSION = 1;

/** Files whose passages are stored at once, unless they are long: each time costs. */
const TOGETHER = 16;
/** Characters that are stored at once, more or less. */
const CHARS_TOGETHER = 1_000_000;
/** Characters whose words are looked for before others may work. */
const CHARS_IN_A_ROW = 50_000;

/** A passage that was found. */
export interface FoundPassage extends SessionPassage {
  readonly path: string;
}

/** Full-text index of session files, in its own database. Holds nothing that they do not hold. */
export class SearchIndex {
  readonly #database: DatabaseSync;

  /** Opens or makes (0600) the index; without a path in memory. Throws for a link, and what SQLite throws. */
  constructor(path?: string) {
    if (path !== undefined) {
      const exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
      closeSync(openSessionFile(path, exists ? "append" : "create"));
    }
    const { DatabaseSync: Database } = loadSqlite();
    this.#database = new Database(path ?? ":memory:", { timeout: 2_000 });
    try {
      this.#prepare();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  #prepare(): void {
    const database = this.#database;
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY");
    const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
    if (version === INDEX_VERSION) return;
    database.exec(`BEGIN IMMEDIATE;
      DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS passages;
      CREATE TABLE files (path TEXT PRIMARY KEY, bytes INTEGER, changed REAL, first INTEGER, last INTEGER);
      CREATE VIRTUAL TABLE passages USING fts5(words, path UNINDEXED, step UNINDEXED, text UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');
      PRAGMA user_version = ${INDEX_VERSION};
      COMMIT`);
  }

  /**
   * Brings the index up to date with the files as they are now, and lets others work again and again
   * meanwhile. A file that cannot be read is left out. An abort ends it early, with what was stored so far.
   */
  async update(
    sessions: readonly SessionFile[],
    { isComplete, signal }: { readonly isComplete: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<void> {
    const database = this.#database;
    const { stale, gone } = this.#changes(sessions, isComplete);
    if (stale.length + gone.length === 0) return;
    const statements: Statements = {
      forget: database.prepare(
        "DELETE FROM passages WHERE rowid BETWEEN (SELECT first FROM files WHERE path = ?) AND (SELECT last FROM files WHERE path = ?)",
      ),
      forgetFile: database.prepare("DELETE FROM files WHERE path = ?"),
      addFile: database.prepare("INSERT INTO files VALUES (?, ?, ?, ?, ?)"),
      add: database.prepare("INSERT INTO passages (words, path, step, text) VALUES (?, ?, ?, ?)"),
    };
    const segmenter = wordSegmenter();
    for (const path of gone) inTransaction(database, () => forget(statements, path));
    let ready: ReadyFile[] = [];
    let chars = 0;
    for (const [at, session] of stale.entries()) {
      const file = await readyFile(session, segmenter, signal);
      if (signal?.aborted === true) return;
      ready.push(file);
      chars += file.chars;
      if (ready.length < TOGETHER && chars < CHARS_TOGETHER && at < stale.length - 1) continue;
      const files = ready;
      inTransaction(database, () => {
        for (const each of files) replace(statements, each);
      });
      ready = [];
      chars = 0;
      await setImmediate();
    }
  }

  /** The files that are not in the index as they are now, and paths in it of files that are no more. */
  #changes(
    sessions: readonly SessionFile[],
    isComplete: boolean,
  ): { readonly stale: readonly SessionFile[]; readonly gone: readonly string[] } {
    const known = new Map(
      this.#database
        .prepare("SELECT path, bytes, changed FROM files")
        .all()
        .map((row) => [String(row["path"]), `${Number(row["bytes"])} ${Number(row["changed"])}`]),
    );
    const present = new Set(sessions.map(({ path }) => path));
    const stale = sessions.filter(
      ({ path, bytes, changedAt }) => known.get(path) !== `${bytes} ${changedAt}`,
    );
    return { stale, gone: isComplete ? [...known.keys()].filter((path) => !present.has(path)) : [] };
  }

  /** Passages of the files that have all the words, those with most of them first. */
  find(text: string, limit: number): readonly FoundPassage[] {
    const words = searchWords(text).map((word) =>
      word.length === 1 ? `"${word[0]}"*` : `"${word.join(" ")}"`,
    );
    if (words.length === 0) return [];
    const files = this.#database.prepare("SELECT DISTINCT path FROM passages WHERE passages MATCH ?");
    const sets = words.map((word) => new Set(files.all(word).map((row) => String(row["path"]))));
    const [first = new Set<string>(), ...others] = sets;
    const paths = [...first].filter((path) => others.every((set) => set.has(path)));
    if (paths.length === 0) return [];
    return this.#database
      .prepare(
        "SELECT path, step, text FROM passages WHERE passages MATCH ? AND path IN (SELECT value FROM json_each(?)) ORDER BY rank LIMIT ?",
      )
      .all(words.join(" OR "), JSON.stringify(paths), limit)
      .map((row) => ({ path: String(row["path"]), step: Number(row["step"]), text: String(row["text"]) }));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

interface Statements {
  readonly forget: StatementSync;
  readonly forgetFile: StatementSync;
  readonly addFile: StatementSync;
  readonly add: StatementSync;
}

function forget({ forget: drop, forgetFile }: Statements, path: string): void {
  // Not `?1` twice: the oldest Node we run on binds no numbered parameters.
  drop.run(path, path);
  forgetFile.run(path);
}

/** A file whose words were found. */
interface ReadyFile {
  readonly session: SessionFile;
  readonly passages: readonly (SessionPassage & { readonly words: string })[];
  readonly chars: number;
}

async function readyFile(
  session: SessionFile,
  segmenter: Intl.Segmenter,
  signal: AbortSignal | undefined,
): Promise<ReadyFile> {
  const passages: ReadyFile["passages"][number][] = [];
  let chars = 0;
  let inARow = 0;
  for (const passage of readable(session.path)) {
    passages.push({ ...passage, words: searchWords(passage.text, segmenter).flat().join(" ") });
    chars += passage.text.length;
    inARow += passage.text.length;
    if (inARow < CHARS_IN_A_ROW) continue;
    inARow = 0;
    await setImmediate();
    if (signal?.aborted === true) break;
  }
  return { session, passages, chars };
}

function replace(statements: Statements, { session, passages }: ReadyFile): void {
  const { path, bytes, changedAt } = session;
  forget(statements, path);
  let first: number | bigint = 0;
  let last: number | bigint = -1;
  for (const { step, text, words } of passages) {
    last = statements.add.run(words, path, step, text).lastInsertRowid;
    if (first === 0) first = last;
  }
  statements.addFile.run(path, bytes, changedAt, first, last);
}

function* readable(path: string): Generator<SessionPassage, void, undefined> {
  try {
    yield* sessionPassages(path);
  } catch {
    // A file that is gone, linked or of a newer version has no text to find; opening it tells why.
    return;
  }
}

/** Moves a damaged index out of the way; returns its new path. */
export function setIndexAside(path: string, now: number): string {
  const aside = `${path}.damaged-${now}`;
  renameSync(path, aside);
  return aside;
}
