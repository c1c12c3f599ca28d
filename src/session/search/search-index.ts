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

/** Pieces of files that are stored at once, unless they are long: each time costs. */
const TOGETHER = 16;
/** Characters that are stored at once, more or less: nothing else is done meanwhile. */
const CHARS_TOGETHER = 40_000;
/** Characters whose words are looked for before others may work. */
const CHARS_IN_A_ROW = 10_000;

/** A passage that was found. */
export interface FoundPassage extends SessionPassage {
  readonly path: string;
}

/** Options of {@link SearchIndex.update}. */
export interface UpdateOptions {
  /** True when these are all sessions: others are forgotten. */
  readonly isComplete: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Lets others work. Default: those that wait already. */
  readonly rest?: (() => Promise<unknown>) | undefined;
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
    { isComplete, signal, rest = setImmediate }: UpdateOptions,
  ): Promise<void> {
    const database = this.#database;
    const { stale, gone } = this.#changes(sessions, isComplete);
    if (stale.length + gone.length === 0) return;
    const statements: Statements = {
      // Not `?1` twice: the oldest Node we run on binds no numbered parameters.
      forget: database.prepare(
        "DELETE FROM passages WHERE rowid BETWEEN (SELECT first FROM files WHERE path = ?) AND (SELECT last FROM files WHERE path = ?) AND path = ?",
      ),
      forgetOthers: database.prepare(
        "DELETE FROM passages WHERE path = ? AND NOT (rowid BETWEEN (SELECT first FROM files WHERE path = ?) AND (SELECT last FROM files WHERE path = ?))",
      ),
      forgetFile: database.prepare("DELETE FROM files WHERE path = ?"),
      putFile: database.prepare("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)"),
      add: database.prepare("INSERT INTO passages (words, path, step, text) VALUES (?, ?, ?, ?)"),
    };
    for (const path of gone) inTransaction(database, () => forget(statements, path));
    for await (const pieces of together(piecesOf(stale, rest))) {
      if (signal?.aborted === true) return;
      inTransaction(database, () => {
        for (const piece of pieces) store(statements, piece);
      });
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

  /** How many of the files are in the index as they are now. */
  count(sessions: readonly SessionFile[]): number {
    return sessions.length - this.#changes(sessions, false).stale.length;
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
  readonly forgetOthers: StatementSync;
  readonly forgetFile: StatementSync;
  readonly putFile: StatementSync;
  readonly add: StatementSync;
}

function forget({ forget: drop, forgetFile }: Statements, path: string): void {
  drop.run(path, path, path);
  forgetFile.run(path);
}

/** A file whose words are being found, and where those that were stored stand. */
interface FileAtWork extends SessionFile {
  first: number | bigint;
  last: number | bigint;
}

/** Passages of a file, with their words. */
interface Piece {
  readonly file: FileAtWork;
  readonly place: "first" | "middle" | "last" | "whole";
  readonly passages: readonly (SessionPassage & { readonly words: string })[];
  readonly chars: number;
}

async function* piecesOf(
  sessions: readonly SessionFile[],
  rest: () => Promise<unknown>,
): AsyncGenerator<Piece, void, undefined> {
  const segmenter = wordSegmenter();
  for (const session of sessions) {
    const file: FileAtWork = { ...session, first: 0, last: -1 };
    let isFirst = true;
    let passages: Piece["passages"][number][] = [];
    let chars = 0;
    let inARow = 0;
    for (const passage of readable(session.path)) {
      passages.push({ ...passage, words: searchWords(passage.text, segmenter).flat().join(" ") });
      chars += passage.text.length;
      inARow += passage.text.length;
      if (inARow >= CHARS_IN_A_ROW) {
        inARow = 0;
        await rest();
      }
      if (chars < CHARS_TOGETHER) continue;
      yield { file, place: isFirst ? "first" : "middle", passages, chars };
      isFirst = false;
      passages = [];
      chars = 0;
      await rest();
    }
    yield { file, place: isFirst ? "whole" : "last", passages, chars };
  }
}

async function* together(pieces: AsyncIterable<Piece>): AsyncGenerator<readonly Piece[], void, undefined> {
  let ready: Piece[] = [];
  let chars = 0;
  for await (const piece of pieces) {
    ready.push(piece);
    chars += piece.chars;
    if (ready.length < TOGETHER && chars < CHARS_TOGETHER) continue;
    yield ready;
    ready = [];
    chars = 0;
    // Between one commit and the next, others of this process and of others have their turn.
    await setImmediate();
  }
  if (ready.length > 0) yield ready;
}

function store(statements: Statements, { file, place, passages }: Piece): void {
  const { path, bytes, changedAt } = file;
  if (place === "first" || place === "whole") forget(statements, path);
  for (const { step, text, words } of passages) {
    file.last = statements.add.run(words, path, step, text).lastInsertRowid;
    if (file.first === 0) file.first = file.last;
  }
  const isWhole = place === "whole" || place === "last";
  // Of a size that no file has, until all of it is there: it is looked at again.
  statements.putFile.run(path, isWhole ? bytes : -1, changedAt, file.first, file.last);
  // Somebody else may have been at work on it between the pieces.
  if (place === "last") statements.forgetOthers.run(path, path, path);
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
