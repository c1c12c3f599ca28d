import type { JournalEntry } from "../core/agent/entries.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { isJournalEntry, parseRecord } from "../session/read-session.ts";
import type { Sql } from "./database.ts";

/** Entries of a run that are to be stored together. */
export interface EntryBatch {
  readonly run: string;
  readonly epoch: number;
  /** Number of the entry before the first of them. */
  readonly after: number;
  readonly ids: readonly string[];
  /** Their records: lines of a session file. */
  readonly records: readonly string[];
  /** True when the run has come further with them. */
  readonly isProgress: boolean;
  /** Numbers of signals that have reached the conversation with them. */
  readonly took: readonly number[];
}

/** The entry as it is stored, and its number. */
export interface StoredRecord {
  readonly seq: number;
  readonly record: string;
}

/** The journals of all runs. */
export class EntryStore {
  readonly #schema: string;

  constructor(schema: string) {
    this.#schema = schema;
  }

  /**
   * Stores entries behind those there are, all or none, and says how much was sent to the run by now. Rejects
   * with `journal` where another worker has taken the run over.
   */
  async append(sql: Sql, batch: EntryBatch): Promise<number> {
    const { run, epoch, after, ids, records, isProgress, took } = batch;
    const [held] = await sql.query<{ readonly signals: number }>(
      `with held as (
         update ${this.#schema}.runs set seq = seq + $4, newest = $5, changed_at = now(),
           losses = case when $6 then 0 else losses end
         where id = $1 and epoch = $2 and seq = $3 and state = 'working' returning signals
       ), added as (
         insert into ${this.#schema}.entries (run, seq, epoch, id, record)
         select $1, $3 + e.at, $2, e.id, e.record
         from unnest($7::text[], $8::text[]) with ordinality as e(id, record, at) where exists (select from held)
       ), took as (
         update ${this.#schema}.signals set taken = true
         where run = $1 and number = any($9::bigint[]) and exists (select from held)
       ) select signals::float8 as signals from held`,
      [run, epoch, after, ids.length, ids.at(-1), isProgress, ids, records, took],
    );
    if (held !== undefined) return held.signals;
    if (await this.#isStored(sql, batch)) return 0;
    throw new NanoAgentError(
      "journal",
      `Another worker has taken over the run ${run}, so nothing more of this one is recorded.`,
      { details: { run, epoch, reason: "taken_over" } },
    );
  }

  /** The records from the one behind `after` on, in order. */
  async read(sql: Sql, run: string, after = 0): Promise<readonly StoredRecord[]> {
    return sql.query<StoredRecord>(
      `select seq::float8 as seq, record from ${this.#schema}.entries where run = $1 and seq > $2 order by seq`,
      [run, after],
    );
  }

  /** The number of the entry of an id; undefined where a run has none such. */
  async numberOf(sql: Sql, run: string, id: string): Promise<number | undefined> {
    const [row] = await sql.query<{ readonly seq: number }>(
      `select seq::float8 as seq from ${this.#schema}.entries where run = $1 and id = $2`,
      [run, id],
    );
    return row?.seq;
  }

  /** True when a connection broke behind the commit, and not before it. */
  async #isStored(sql: Sql, { run, after, ids }: EntryBatch): Promise<boolean> {
    const rows = await sql.query<{ readonly id: string }>(
      `select id from ${this.#schema}.entries where run = $1 and seq > $2 order by seq limit $3`,
      [run, after, ids.length],
    );
    return rows.length === ids.length && rows.every(({ id }, at) => id === ids[at]);
  }
}

/** The entries in records; a type that this version does not know is left out. */
export function entriesIn(records: readonly StoredRecord[]): readonly JournalEntry[] {
  return records.flatMap(({ record }) => {
    const parsed = parseRecord(record);
    return parsed !== undefined && isJournalEntry(parsed) ? [parsed] : [];
  });
}
