/** As much of a connection of `node:sqlite` as a transaction needs. */
export interface TransactionHost {
  readonly isTransaction: boolean;
  exec(sql: string): void;
}

/** Works as a whole or not at all. Takes the write lock first, so that nothing read is out of date. */
export function inTransaction<T>(database: TransactionHost, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // Some faults, a full disk for one, end the transaction by themselves.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** True when an error of SQLite says that the file is damaged or no database. */
export function isDamagedDatabase(error: unknown): boolean {
  return hasCode(error, [SQLITE_CORRUPT, SQLITE_NOTADB]);
}

/** True when an error of SQLite says that another connection is writing. */
export function isBusyDatabase(error: unknown): boolean {
  return hasCode(error, [SQLITE_BUSY, SQLITE_LOCKED]);
}

/** True when an error of SQLite says that there is no room on the disk. */
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
  // The low byte is the kind, what stands above it the circumstances.
  return typeof error.errcode === "number" && codes.includes(error.errcode & 0xff);
}

/** The database of Node, loaded without the warning some versions print. Throws in a runtime without it. */
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
