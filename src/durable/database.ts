import type { Db, PgBoss } from "pg-boss";

/** Where statements go: a database, or a transaction of it. Values are `$1`, `$2`, … */
export interface Sql {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/** A PostgreSQL, whichever way it is reached. */
export interface Database extends Sql {
  /** Commits what `work` did, or nothing of it where it rejects. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** The same place for the queue; of a transaction, to have its statements commit together with it. */
  forQueue(sql?: Sql): Db;
  /** True when nobody else can have it open. */
  readonly isEmbedded: boolean;
  /** The queue's class, loaded with the rest. */
  readonly Queue: typeof PgBoss;
  close(): Promise<void>;
}
