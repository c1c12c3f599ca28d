import { closeSync, lstatSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { errorMessage } from "../../core/base/errors.ts";
import type { Redaction } from "../../core/base/text.ts";
import { textOf, toolCallsOf } from "../../core/message/message.ts";
import { StepCounter } from "../../journal/steps.ts";
import { inTransaction, isDamagedDatabase, loadSqlite } from "../../system/sqlite.ts";
import { inspectSession, readEntries } from "../read-session.ts";
import { isFolder, openSessionFile } from "../session-file.ts";
import type { SessionFile, SessionStore } from "../session-store.ts";
import { excerptOf, searchWords, wordSegmenter } from "./search-words.ts";

/** A session in which a text was found. */
export interface FoundSession extends SessionFile {
  /** Step of the passage that fits best. */
  readonly step: number;
  /** An excerpt of that passage, around the text. */
  readonly excerpt: string;
  /** Number of matching passages in the session. */
  readonly passages: number;
}

/** Outcome of a search. */
export interface SessionSearch {
  readonly sessions: readonly FoundSession[];
  /** The number of sessions searched, and the total. */
  readonly searched: { readonly sessions: number; readonly of: number };
  /** The search method. */
  readonly by: "index" | "scan";
  /** Notices for a person: an index that was set aside, files that were not searched. */
  readonly notices: readonly string[];
}

/** Options of a search. */
export interface FindOptions {
  /** Working folder whose sessions are searched. Default: all. */
  readonly cwd?: string | undefined;
  /** Most sessions returned. Default 50. */
  readonly limit?: number;
  /** True: searches the index as is, because another caller keeps it up to date. Default false. */
  readonly asItIs?: boolean;
  /** Most bytes read if there is no index. Default 256 MB. */
  readonly maxScanBytes?: number;
  /** Removes secrets from excerpts. Default: they stay. */
  readonly redaction?: Pick<Redaction, "text"> | undefined;
}

/**
 * Finds the sessions that contain all words of `text`, each as a word prefix; in Chinese and other scripts
 * without blanks, anywhere. Uses an index next to the sessions, updated first. A damaged index is set aside,
 * reported and rebuilt; if none can be used, the files themselves are read, newest first. Throws if Node has
 * no SQLite.
 */
export async function findSessions(
  store: SessionStore,
  text: string,
  options: FindOptions = {},
): Promise<SessionSearch> {
  const { cwd, limit = 50, asItIs = false, maxScanBytes = 256 * 1024 * 1024, redaction } = options;
  const sessions = store.list(cwd);
  const of = sessions.length;
  const notices: string[] = [];
  if (sessions.length === 0 || searchWords(text).length === 0)
    return { sessions: [], searched: { sessions: of, of }, by: "index", notices };
  const search: Search = { text, sessions, isComplete: cwd === undefined, limit, redaction };
  const found = isFolder(store.root)
    ? await withIndex(store, notices, async (index) => ({
        sessions: await searchIn(index, { ...search, asItIs }),
        searched: { sessions: index.count(sessions), of },
      }))
    : undefined;
  if (found !== undefined) return { ...found, by: "index", notices };
  return { ...(await scanFiles(search, maxScanBytes, notices)), by: "scan", notices };
}

/**
 * Updates the index of all sessions until the signal aborts, so that the next search need not. Does nothing
 * if it cannot be used: a search reports why.
 */
export async function indexSessions(
  store: SessionStore,
  options: Pick<UpdateOptions, "signal" | "rest">,
): Promise<void> {
  if (!isFolder(store.root)) return;
  await withIndex(store, [], (index) => index.update(store.list(), { ...options, isComplete: true }));
}

interface Search {
  readonly text: string;
  readonly sessions: readonly SessionFile[];
  readonly isComplete: boolean;
  readonly asItIs?: boolean;
  readonly limit: number;
  readonly redaction: FindOptions["redaction"];
}

async function withIndex<T>(
  store: SessionStore,
  notices: string[],
  work: (index: SearchIndex) => Promise<T>,
): Promise<T | undefined> {
  const path = join(store.root, "search.sqlite");
  for (let attempt = 1; ; attempt++) {
    try {
      using index = new SearchIndex(path);
      return await work(index);
    } catch (error) {
      if (attempt === 1 && isDamagedDatabase(error)) {
        notices.push(
          `the search index was damaged and is rebuilt; the old one is ${moveIndexAway(path, Date.now())}`,
        );
        continue;
      }
      notices.push(
        `the search index cannot be used (${errorMessage(error)}); the session files themselves were searched`,
      );
      return undefined;
    }
  }
}

/** Searches a temporary index: of the newest sessions that total at most `maxBytes`. */
async function scanFiles(
  search: Search,
  maxBytes: number,
  notices: string[],
): Promise<Pick<SessionSearch, "sessions" | "searched">> {
  let bytes = 0;
  const sessions = search.sessions.filter((session) => (bytes += session.bytes) <= maxBytes);
  const left = search.sessions.length - sessions.length;
  if (left > 0) notices.push(`${left} older sessions were not looked at`);
  using index = new SearchIndex();
  const searched = { sessions: sessions.length, of: search.sessions.length };
  return { sessions: await searchIn(index, { ...search, sessions }), searched };
}

async function searchIn(
  index: SearchIndex,
  { text, sessions, isComplete, limit, redaction, asItIs = false }: Search,
): Promise<readonly FoundSession[]> {
  if (!asItIs) await index.update(sessions, { isComplete });
  const byPath = new Map(sessions.map((session) => [session.path, session]));
  const found = new Map<string, FoundSession>();
  for (const { path, step, text: passage } of index.find(text, 5_000)) {
    const session = byPath.get(path);
    if (session === undefined) continue;
    const before = found.get(path);
    if (before !== undefined) found.set(path, { ...before, passages: before.passages + 1 });
    else if (found.size < limit) {
      const excerpt = excerptOf(withoutCutWord(passage), text, redaction);
      found.set(path, { ...session, step, excerpt, passages: 1 });
    }
  }
  return [...found.values()];
}

/** Version of the tables; an index with another version is rebuilt. */
const INDEX_VERSION = 2;

/** Most passages per file: a passage's number is its file's number times this, plus its own. */
const MAX_PASSAGES = 2 ** 20;
/** Approximate number of characters to segment and store at once: it blocks all other work. */
const BATCH_CHARS = 10_000;

interface FoundPassage extends SessionPassage {
  readonly path: string;
}

interface UpdateOptions {
  /** True if these are all sessions: others are removed from the index. */
  readonly isComplete: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Yields to other work. Default: to work that is already waiting. */
  readonly rest?: (() => Promise<unknown>) | undefined;
}

/** Full-text index of session files, in a separate database. Contains only data from these files. */
class SearchIndex {
  readonly #database: DatabaseSync;
  readonly #drop: StatementSync;
  readonly #put: StatementSync;
  readonly #add: StatementSync;

  /** Opens or creates (0600) the index; in memory without a path. Throws for a link, and SQLite's errors. */
  constructor(path?: string) {
    if (path !== undefined) {
      const exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
      closeSync(openSessionFile(path, exists ? "append" : "create"));
    }
    const { DatabaseSync: Database } = loadSqlite();
    this.#database = new Database(path ?? ":memory:", { timeout: 2_000 });
    try {
      this.#prepare();
      this.#drop = this.#database.prepare("DELETE FROM passages WHERE rowid BETWEEN ? AND ?");
      this.#put = this.#database.prepare(
        "INSERT INTO files (path, bytes, changed) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET bytes = excluded.bytes, changed = excluded.changed RETURNING id",
      );
      this.#add = this.#database.prepare(
        "INSERT OR REPLACE INTO passages (rowid, words, step, text) VALUES (?, ?, ?, ?)",
      );
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
      CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT UNIQUE, bytes INTEGER, changed REAL);
      CREATE VIRTUAL TABLE passages USING fts5(words, step UNINDEXED, text UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');
      PRAGMA user_version = ${INDEX_VERSION};
      COMMIT`);
  }

  /**
   * Updates the index to the current files, regularly yielding to other work. A file that cannot be read is
   * left out. An abort ends it early, keeping the data stored so far.
   */
  async update(
    sessions: readonly SessionFile[],
    { isComplete, signal, rest = setImmediate }: UpdateOptions,
  ): Promise<void> {
    const { stale, gone } = this.#changes(sessions, isComplete);
    if (stale.length + gone.length === 0) return;
    inTransaction(this.#database, () => {
      for (const path of gone) this.#forget(path);
    });
    const segmenter = wordSegmenter();
    for (const session of stale) {
      let [first, next] = [0, 0];
      let passages: SessionPassage[] = [];
      let chars = 0;
      const store = (isLast: boolean): void =>
        inTransaction(this.#database, () => {
          if (next === 0) first = next = this.#begin(session);
          for (const { step, text } of passages.slice(0, Math.max(0, first + MAX_PASSAGES - next)))
            this.#add.run(next++, searchWords(text, segmenter).flat().join(" "), step, text);
          if (isLast) this.#put.get(session.path, session.bytes, session.changedAt);
        });
      for (const passage of readablePassages(session.path)) {
        passages.push(passage);
        chars += passage.text.length;
        if (chars < BATCH_CHARS) continue;
        store(false);
        passages = [];
        chars = 0;
        await rest();
        if (signal?.aborted === true) return;
      }
      store(true);
      // Between two commits, this and other processes can do other work.
      await setImmediate();
      if (signal?.aborted === true) return;
    }
  }

  /** Removes a file's passages; returns the number of its first. Others may add the same ones meanwhile. */
  #begin({ path, changedAt }: SessionFile): number {
    // An impossible size until it is complete, so that an interrupted file is indexed again.
    const { id } = this.#put.get(path, -1, changedAt) ?? {};
    const first = Number(id) * MAX_PASSAGES;
    this.#drop.run(first, first + MAX_PASSAGES - 1);
    return first;
  }

  #forget(path: string): void {
    const { id } = this.#database.prepare("SELECT id FROM files WHERE path = ?").get(path) ?? {};
    const first = Number(id ?? 0) * MAX_PASSAGES;
    this.#drop.run(first, first + MAX_PASSAGES - 1);
    this.#database.prepare("DELETE FROM files WHERE path = ?").run(path);
  }

  /** Files that are outdated or missing in the index, and its paths of files that no longer exist. */
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

  count(sessions: readonly SessionFile[]): number {
    return sessions.length - this.#changes(sessions, false).stale.length;
  }

  /** Passages of the files that contain all the words, best matches first. */
  find(text: string, limit: number): readonly FoundPassage[] {
    const words = searchWords(text).map((word) =>
      word.length === 1 ? `"${word[0]}"*` : `"${word.join(" ")}"`,
    );
    if (words.length === 0) return [];
    const files = this.#database.prepare(
      `SELECT DISTINCT rowid / ${MAX_PASSAGES} AS id FROM passages WHERE passages MATCH ?`,
    );
    const sets = words.map((word) => new Set(files.all(word).map((row) => Number(row["id"]))));
    const [first = new Set<number>(), ...others] = sets;
    const ids = [...first].filter((id) => others.every((set) => set.has(id)));
    if (ids.length === 0) return [];
    return this.#database
      .prepare(
        `SELECT path, step, text FROM passages JOIN files ON id = passages.rowid / ${MAX_PASSAGES} WHERE passages MATCH ? AND id IN (SELECT value FROM json_each(?)) ORDER BY rank LIMIT ?`,
      )
      .all(words.join(" OR "), JSON.stringify(ids), limit)
      .map((row) => ({ path: String(row["path"]), step: Number(row["step"]), text: String(row["text"]) }));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function* readablePassages(path: string): Generator<SessionPassage, void, undefined> {
  try {
    yield* sessionPassages(path);
  } catch {
    // A file that is gone, linked or of a newer version has no text to find; opening it reports why.
    return;
  }
}

function moveIndexAway(path: string, now: number): string {
  const aside = `${path}.damaged-${now}`;
  renameSync(path, aside);
  return aside;
}

interface SessionPassage {
  /** Its step in the session: the next one for input, its own for answers and results. */
  readonly step: number;
  readonly text: string;
}

/** Searched characters per text: of people and models, and of tool results. */
const MAX_MESSAGE_CHARS = 32_000;
const MAX_RESULT_CHARS = 8_000;

/** The texts of a session file, one by one. Throws `journal` if it cannot be read. */
function* sessionPassages(path: string): Generator<SessionPassage, void, undefined> {
  const descriptor = openSessionFile(path, "read");
  try {
    const { path: records } = inspectSession(descriptor, path);
    const counter = new StepCounter();
    for (const entry of readEntries(descriptor, records)) {
      const step = counter.stepOf(entry);
      for (const text of textsOf(entry)) if (text.trim() !== "") yield { step, text: text.toWellFormed() };
    }
  } finally {
    closeSync(descriptor);
  }
}

/** A truncated passage without its partial last word: redaction does not recognise half a secret. */
function withoutCutWord(text: string): string {
  if (text.length !== MAX_MESSAGE_CHARS && text.length !== MAX_RESULT_CHARS) return text;
  let end = text.length;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function textsOf(entry: JournalEntry): readonly string[] {
  switch (entry.type) {
    case "user_message":
      return [textOf(entry.message.content, "\n").slice(0, MAX_MESSAGE_CHARS)];
    case "assistant_message":
      return [
        textOf(entry.message.content, "\n").slice(0, MAX_MESSAGE_CHARS),
        ...toolCallsOf(entry.message).map(({ name, input }) =>
          `${name} ${JSON.stringify(input)}`.slice(0, MAX_RESULT_CHARS),
        ),
      ];
    case "tool_result":
      return [textOf(entry.result.content, "\n").slice(0, MAX_RESULT_CHARS)];
    case "history":
    case "compaction":
      return entry.messages.map((message) => textOf(message.content, "\n").slice(0, MAX_MESSAGE_CHARS));
    default:
      return [];
  }
}
