import type { DatabaseSync } from "node:sqlite";
import { utf8Length } from "../core/base/text.ts";
import { inTransaction, isBusyDatabase } from "../system/sqlite.ts";
import { similarity } from "./embedder.ts";
import type { Recollection, RecordContext, RecordOutcome } from "./long-term-memory.ts";
import type { KeptText, Search } from "./record-text.ts";
import type { StoreSettings } from "./store-options.ts";
import type { QueryTerms } from "./term-reader.ts";

/** Keeps texts, and drops the records unused for the longest time where there are too many. */
export function keepTexts(
  database: DatabaseSync,
  texts: readonly KeptText[],
  { context, settings }: { readonly context: RecordContext; readonly settings: StoreSettings },
): RecordOutcome {
  const time = settings.clock.now();
  let added = 0;
  for (const text of texts) if (addRecord(database, text, { ...context, time, settings })) added++;
  shrink(database, settings);
  return { added, known: texts.length - added };
}

interface RecordFacts extends RecordContext {
  readonly time: number;
  readonly settings: StoreSettings;
}

/** Adds a record; one with its key becomes as new instead. False when there was one. */
function addRecord(
  database: DatabaseSync,
  { key, text, vector }: KeptText,
  { time, settings, origin, sessionId }: RecordFacts,
): boolean {
  const known = database
    .prepare("UPDATE memories SET time = max(time, ?), last_used = max(last_used, ?) WHERE key = ?")
    .run(time, time, key);
  if (Number(known.changes) > 0) return false;
  const { lastInsertRowid: id } = database
    .prepare(
      "INSERT INTO memories (key, text, bytes, time, last_used, origin, session) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .run(key, text, utf8Length(text), time, time, origin ?? null, sessionId ?? null);
  const { words, parts } = settings.terms.index(text);
  database
    .prepare("INSERT INTO terms (rowid, words, parts) VALUES (?, ?, ?)")
    .run(id, words.join(" "), parts.join(" "));
  const { embedder } = settings;
  if (vector !== undefined && embedder !== undefined)
    database
      .prepare("INSERT INTO vectors (id, model, vector) VALUES (?, ?, ?)")
      .run(id, embedder.model, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
  return true;
}

/** Removes a record; how many there were, 0 or 1. */
export function removeRecord(database: DatabaseSync, id: number): number {
  const { changes } = database.prepare("DELETE FROM memories WHERE id = ?").run(id);
  if (Number(changes) === 0) return 0;
  database.prepare("DELETE FROM terms WHERE rowid = ?").run(id);
  database.prepare("DELETE FROM vectors WHERE id = ?").run(id);
  return 1;
}

/** Number of records. */
export function countRecords(database: DatabaseSync): number {
  return Number(database.prepare("SELECT count(*) AS n FROM memories").get()?.["n"]);
}

/** Drops the records unused for the longest time until the limits hold. */
function shrink(database: DatabaseSync, { maxRecords, maxBytes }: StoreSettings): void {
  const total = database.prepare("SELECT count(*) AS n, total(bytes) AS bytes FROM memories").get();
  let records = Number(total?.["n"]);
  let bytes = Number(total?.["bytes"]);
  if (records <= maxRecords && bytes <= maxBytes) return;
  const oldest = database.prepare("SELECT id, bytes FROM memories ORDER BY last_used, id LIMIT 1");
  while (records > maxRecords || bytes > maxBytes) {
    const row = oldest.get();
    if (row === undefined) return;
    records -= removeRecord(database, Number(row["id"]));
    bytes -= Number(row["bytes"]);
  }
}

/** The records that fit best, the best first; from then on they count as used. */
export function retrieveRecords(
  database: DatabaseSync,
  { query, limit, vector }: Search,
  { clock, embedder, terms, recencyHalfLifeMs: halfLifeMs, recencyWeight }: StoreSettings,
): readonly Recollection[] {
  const now = clock.now();
  const found = candidatesFor(database, { ...terms.query(query), limit, vector, model: embedder?.model });
  const best = rank(found.values(), { now, limit, halfLifeMs, recencyWeight });
  const ids = best.map(({ id }) => id);
  // Only keeps what is used from being dropped: not worth waiting for another writer.
  if (ids.length > 0) unlessBusy(() => touch(database, ids, now));
  const select = database.prepare("SELECT text FROM memories WHERE id = ?");
  return best.map(({ id, score }) => ({
    id: String(id),
    text: String(select.get(id)?.["text"] ?? ""),
    time: found.get(id)?.time ?? now,
    score,
  }));
}

function unlessBusy(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isBusyDatabase(error)) throw error;
  }
}

/** Marks records as used. Not waited for until it is on the disk: nothing is lost with it but an order. */
function touch(database: DatabaseSync, ids: readonly number[], time: number): void {
  database.exec("PRAGMA synchronous = NORMAL");
  try {
    inTransaction(database, () => {
      const update = database.prepare("UPDATE memories SET last_used = max(last_used, ?) WHERE id = ?");
      for (const id of ids) update.run(time, id);
    });
  } finally {
    database.exec("PRAGMA synchronous = FULL");
  }
}

/** The records that may fit, by id: the best by their words, and every one whose vector can be compared. */
function candidatesFor(
  database: DatabaseSync,
  { terms, loose, vector, limit, model }: CandidateSearch,
): ReadonlyMap<number, Candidate> {
  const most = Math.max(MIN_CANDIDATES, limit * 4);
  const found = matches(database, terms, most);
  if (found.size === 0) for (const [id, each] of matches(database, loose, most)) found.set(id, each);
  if (vector === undefined || model === undefined) return found;
  const rows = database
    .prepare(
      "SELECT m.id, m.time, v.vector FROM vectors AS v JOIN memories AS m ON m.id = v.id WHERE v.model = ?",
    )
    .iterate(model);
  for (const { id, time, vector: bytes } of rows) {
    if (!(bytes instanceof Uint8Array)) continue;
    const near = similarity(vector, new Float32Array(bytes.slice().buffer));
    found.set(Number(id), { id: Number(id), time: Number(time), ...found.get(Number(id)), similarity: near });
  }
  return found;
}

interface CandidateSearch extends QueryTerms, Pick<Search, "limit" | "vector"> {
  /** Of the vector. */
  readonly model: string | undefined;
}

const MIN_CANDIDATES = 100;

function matches(database: DatabaseSync, terms: readonly string[], most: number): Map<number, Candidate> {
  if (terms.length === 0) return new Map();
  const rows = database
    .prepare(
      `SELECT m.id AS id, m.time AS time, f.fit AS fit FROM
         (SELECT rowid AS id, bm25(terms, 1.0, 0.4) AS fit FROM terms WHERE terms MATCH ? ORDER BY fit LIMIT ?) AS f
       JOIN memories AS m ON m.id = f.id`,
    )
    .all(matchAny(terms), most)
    .map((row) => ({ id: Number(row["id"]), time: Number(row["time"]), text: -Number(row["fit"]) }));
  return new Map(rows.map((candidate) => [candidate.id, candidate]));
}

/** Every term in quotes: operators of the search language are words like any other. Terms hold none. */
function matchAny(terms: readonly string[]): string {
  return terms.map((term) => `"${term}"`).join(" OR ");
}

/** The findings of a search about one record. */
interface Candidate {
  readonly id: number;
  readonly time: number;
  /** BM25 or another measure of its words, above 0; absent when no word matches. */
  readonly text?: number;
  /** Cosine of its vector and that of the query. */
  readonly similarity?: number;
}

/** How candidates are ranked. */
interface RankingOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly limit: number;
  /** Milliseconds after which a record has lost half of what it gets for being new. */
  readonly halfLifeMs: number;
  /** Share of the score that age can take away, 0 to 1. */
  readonly recencyWeight: number;
}

/** A candidate with its place. */
interface RankedRecord {
  readonly id: number;
  readonly score: number;
}

/** Vectors further away than this say nothing about each other. */
const MIN_SIMILARITY = 0.3;
/** Below this a record shares only words that most records have. */
const MIN_RELEVANCE = 0.001;

/**
 * The best candidates, best first. `score = relevance × (1 − w + w × 2^(−age ÷ halfLife))` with the recency
 * weight `w`; `relevance` is the measure of the words divided by the best one, or, where vectors were
 * compared, half of that and half of the cosine (below 0.3 nothing). Beside better ones a record is left out
 * that shares only words with the query which most records have. Equal scores: the newer one first. A record
 * from the future counts as new.
 */
function rank(candidates: Iterable<Candidate>, options: RankingOptions): readonly RankedRecord[] {
  const { now, limit, halfLifeMs, recencyWeight } = options;
  const all = [...candidates];
  const best = all.reduce((most, { text = 0 }) => Math.max(most, text), 0);
  const hasVectors = all.some((candidate) => candidate.similarity !== undefined);
  const scored = all.flatMap((candidate) => {
    const words = best === 0 ? 0 : (candidate.text ?? 0) / best;
    const near = candidate.similarity ?? 0;
    const meaning = near < MIN_SIMILARITY ? 0 : near;
    const relevance = hasVectors ? (words + meaning) / 2 : words;
    if (relevance < MIN_RELEVANCE) return [];
    const age = Math.max(0, now - candidate.time);
    const score = relevance * (1 - recencyWeight + recencyWeight * 2 ** (-age / halfLifeMs));
    return [{ id: candidate.id, time: candidate.time, score }];
  });
  scored.sort((a, b) => b.score - a.score || b.time - a.time || b.id - a.id);
  return scored.slice(0, limit).map(({ id, score }) => ({ id, score }));
}
