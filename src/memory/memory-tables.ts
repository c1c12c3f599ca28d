import type { DatabaseSync } from "node:sqlite";
import { inTransaction } from "../core/base/sqlite.ts";
import { utf8Length } from "../core/base/text.ts";
import { similarity } from "./embedder.ts";
import type { Candidate } from "./ranking.ts";
import type { QueryTerms } from "./term-reader.ts";

/** A record as it goes into the tables. */
export interface NewRecord {
  readonly key: string;
  readonly text: string;
  readonly time: number;
  readonly words: readonly string[];
  readonly parts: readonly string[];
  readonly origin: string | null;
  readonly session: string | null;
  readonly vector?: Float32Array;
  readonly model?: string;
}

/** Adds a record; one with its key becomes as new instead. False when there was one. */
export function addRecord(database: DatabaseSync, record: NewRecord): boolean {
  const { key, text, time, words, parts, origin, session, vector, model } = record;
  const known = database
    .prepare("UPDATE memories SET time = max(time, ?), last_used = max(last_used, ?) WHERE key = ?")
    .run(time, time, key);
  if (Number(known.changes) > 0) return false;
  const { lastInsertRowid: id } = database
    .prepare(
      "INSERT INTO memories (key, text, bytes, time, last_used, origin, session) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .run(key, text, utf8Length(text), time, time, origin, session);
  database
    .prepare("INSERT INTO terms (rowid, words, parts) VALUES (?, ?, ?)")
    .run(id, words.join(" "), parts.join(" "));
  if (vector !== undefined && model !== undefined)
    database
      .prepare("INSERT INTO vectors (id, model, vector) VALUES (?, ?, ?)")
      .run(id, model, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
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

/** Drops the records unused for the longest time until the limits hold. */
export function shrink(
  database: DatabaseSync,
  { maxRecords, maxBytes }: { readonly maxRecords: number; readonly maxBytes: number },
): void {
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

/** Marks records as used. Not waited for until it is on the disk: nothing is lost with it but an order. */
export function touch(database: DatabaseSync, ids: readonly number[], time: number): void {
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

/** A query. */
export interface Search extends QueryTerms {
  readonly vector: Float32Array | undefined;
  /** Of the vector. */
  readonly model: string | undefined;
  readonly limit: number;
}

/** The records that may fit, by id: the best by their words, and every one whose vector can be compared. */
export function candidatesFor(database: DatabaseSync, search: Search): ReadonlyMap<number, Candidate> {
  const { terms, loose, vector, model, limit } = search;
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

/** Every term in quotes: an operator of the search language is a word like any other. Terms hold no quotes. */
function matchAny(terms: readonly string[]): string {
  return terms.map((term) => `"${term}"`).join(" OR ");
}
