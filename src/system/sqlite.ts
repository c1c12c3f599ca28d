/** The part of a `node:sqlite` connection that a transaction needs. */
export interface TransactionHost {
  readonly isTransaction: boolean;
  exec(sql: string): void;
}

/** Runs `work` as a transaction. Takes the write lock first, so that nothing read is out of date. */
export function inTransaction<T>(database: TransactionHost, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // Some errors, such as a full disk, end the transaction by themselves.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** True if an error of SQLite means that the file is damaged or not a database. */
export function isDamagedDatabase(error: unknown): boolean {
  return hasCode(error, [SQLITE_CORRUPT, SQLITE_NOTADB]);
}

/** True if an error of SQLite means that another connection is writing. */
export function isBusyDatabase(error: unknown): boolean {
  return hasCode(error, [SQLITE_BUSY, SQLITE_LOCKED]);
}

/** True if an error of SQLite means that the disk is full. */
export function isFullDatabase(error: unknown): boolean {
  return hasCode(error, [SQLITE_FULL]);
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

function hasCode(error: unknown, codes: readonly number[]): boolean {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return false;
  // The low byte is the kind, the bits above it give details.
  return typeof error.errcode === "number" && codes.includes(error.errcode & 0xff);
}

/** Node's database module, loaded without the warning that some versions print. Throws if there is none. */
export function loadSqlite(): typeof import("node:sqlite") {
  const host: { emitWarning: unknown } = process;
  const emit = host.emitWarning;
  host.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
    if (typeof emit === "function" && !String(warning).includes("SQLite"))
      Reflect.apply(emit, process, [warning, ...rest]);
  };
  try {
    const sqlite: typeof import("node:sqlite") | undefined = process.getBuiltinModule("node:sqlite");
    if (sqlite !== undefined) return sqlite;
    throw new Error(`This runtime (${process.version}) has no node:sqlite. Use Node 22.21 or newer.`);
  } finally {
    host.emitWarning = emit;
  }
}
