import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Transaction } from "@electric-sql/pglite";
import type { PoolClient } from "pg";
import type { Db, PgBoss } from "pg-boss";
import { backoffDelayMs, type Clock, systemClock } from "../core/base/async.ts";
import {
  assertEngine,
  errorMessage,
  invalidArgument,
  invalidConfig,
  isNanoAgentError,
  NanoAgentError,
} from "../core/base/errors.ts";
import { type SessionLock, takeLock } from "../session/session-lock.ts";

/** Runs statements: a database, or one of its transactions. Values are `$1`, `$2`, … */
export interface Sql {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface Database extends Sql {
  /** Commits the work of `work`, or nothing if it rejects. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** For the queue. With a transaction, the queue's statements commit together with it. */
  forQueue(sql?: Sql): Db;
  /** True if no other process can have it open. */
  readonly isEmbedded: boolean;
  readonly Queue: typeof PgBoss;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly databaseUrl?: string | undefined;
  readonly dataDir?: string | undefined;
  /** Maximum number of connections. */
  readonly connections: number;
  /**
   * Milliseconds after which a statement, and its connection with it, counts as lost: if packets are dropped,
   * nothing else ends the wait. Default 30,000: longer than reading the largest journal takes, and short
   * enough for work on a run to retry while it waits for its database.
   */
  readonly timeoutMs?: number;
  readonly onWarning: (message: string) => void;
}

/** Opens the database. Rejects with `invalid_config` if a package is missing or it cannot be reached. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  assertEngine();
  return options.databaseUrl === undefined ? openEmbedded(options) : openServer(options, options.databaseUrl);
}

const STATEMENT_TIMEOUT_MS = 30_000;

async function openServer(
  { connections, timeoutMs = STATEMENT_TIMEOUT_MS, onWarning }: DatabaseOptions,
  databaseUrl: string,
): Promise<Database> {
  const [{ default: pg }, { PgBoss: Queue }] = await loadPackages("pg pg-boss", () =>
    Promise.all([import("pg"), import("pg-boss")]),
  );
  assertReadable(databaseUrl, (connectionString) => new pg.Client({ connectionString }));
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connections,
    connectionTimeoutMillis: 10_000,
    query_timeout: timeoutMs,
    application_name: "nano-agent",
    keepAlive: true,
  });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on("error", (error) => onWarning(`A connection to the database broke: ${errorMessage(error)}`));
  const sql = sqlOf((text, values) => pool.query(text, values));
  // The server ends idle transactions too: their locks would block the run for everyone.
  const begin = `begin; set local idle_in_transaction_session_timeout = ${timeoutMs}`;
  const clients = new WeakMap<Sql, PoolClient>();
  return {
    ...sql,
    isEmbedded: false,
    Queue,
    transaction: async (work) => {
      const client = await pool.connect();
      const scoped = sqlOf((text, values) => client.query(text, values));
      clients.set(scoped, client);
      let broken: Error | undefined;
      // A client outside the pool has no other listener, and an unhandled error would end the process.
      const onError = (error: Error): void => {
        broken = error;
      };
      client.on("error", onError);
      try {
        await client.query(begin);
        const done = await work(scoped);
        await client.query("commit");
        return done;
      } catch (error) {
        if (isTimeout(error)) broken = error;
        else
          await client.query("rollback").catch((failure: Error) => {
            broken = failure;
          });
        throw error;
      } finally {
        client.off("error", onError);
        client.release(broken);
      }
    },
    forQueue: (sql) => {
      const target = sql === undefined ? pool : (clients.get(sql) ?? pool);
      return { executeSql: async (text, values) => ({ rows: rowsOf(await target.query(text, values)) }) };
    },
    close: () => pool.end(),
  };
}

/** The pool would parse the URL for each connection, and that is retried. */
function assertReadable(databaseUrl: string, read: (url: string) => unknown): void {
  try {
    read(databaseUrl);
  } catch {
    // Without the cause, which contains the password.
    throw invalidArgument(
      "databaseUrl cannot be read as an address: write postgres://user:password@host:port/database, with %-escapes for what is special in a password.",
    );
  }
}

/** True if a statement got no answer; later statements on that connection would not either. */
function isTimeout(error: unknown): error is Error {
  return error instanceof Error && error.message === "Query read timeout";
}

/** Text with several statements gives a list of results. */
function rowsOf(result: { readonly rows: object[] } | readonly { readonly rows: object[] }[]): object[] {
  return "rows" in result ? result.rows : result.flatMap(({ rows }) => rows);
}

async function openEmbedded({ dataDir }: DatabaseOptions): Promise<Database> {
  const [{ PGlite }, { PgBoss: Queue, fromPglite }] = await loadPackages("@electric-sql/pglite pg-boss", () =>
    Promise.all([import("@electric-sql/pglite"), import("pg-boss")]),
  );
  const lock = dataDir === undefined ? undefined : await lockFolder(dataDir);
  const database = await PGlite.create(dataDir === undefined ? {} : { dataDir }).catch((error: unknown) => {
    lock?.release();
    throw cannotOpen(dataDir, errorMessage(error), error);
  });
  const transactions = new WeakMap<Sql, Transaction>();
  return {
    ...sqlOf((text, values) => database.query<object>(text, values)),
    isEmbedded: true,
    Queue,
    transaction: (work) =>
      database.transaction((transaction) => {
        const scoped = sqlOf((text, values) => transaction.query<object>(text, values));
        transactions.set(scoped, transaction);
        return work(scoped);
      }),
    forQueue: (sql) => {
      const transaction = sql === undefined ? undefined : transactions.get(sql);
      return transaction === undefined ? fromPglite(database) : queueInTransaction(transaction);
    },
    close: async () => {
      try {
        await database.close();
      } finally {
        lock?.release();
      }
    },
  };
}

/** The embedded database does not lock its folder: two processes would overwrite each other's data. */
async function lockFolder(dataDir: string): Promise<SessionLock> {
  const folder = resolve(dataDir);
  try {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) throw new Error("it is a file");
    mkdirSync(folder, { recursive: true });
    // The embedded database reports only a number if it cannot open something.
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return await takeLock(`${folder}.lock`);
  } catch (error) {
    const pid = isNanoAgentError(error) ? error.details["pid"] : undefined;
    // A lock's advice about sessions does not apply to databases.
    const cause = isNanoAgentError(error) ? (error.cause ?? error) : error;
    const reason = pid === undefined ? errorMessage(cause) : `process ${String(pid)} has it open`;
    throw cannotOpen(dataDir, reason, error);
  }
}

function queueInTransaction(transaction: Transaction): Db {
  return {
    executeSql: async (text, values = []) =>
      values.length > 0
        ? { rows: (await transaction.query<object>(text, values)).rows }
        : { rows: (await transaction.exec(text)).flatMap(({ rows }) => rows as object[]) },
  };
}

function cannotOpen(dataDir: string | undefined, why: string, cause: unknown): NanoAgentError {
  return invalidConfig(
    `The embedded database${dataDir === undefined ? "" : ` in ${dataDir}`} cannot be opened: ${why.replace(/\.$/, "")}. Name a writable folder that no other process uses.`,
    { cause },
  );
}

async function loadPackages<T>(packages: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const isAbsent = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    const why = isAbsent ? "are not all installed" : `cannot be loaded (${errorMessage(error)})`;
    throw invalidConfig(`The packages for durable runs ${why}: npm install ${packages} next to nano-agent.`, {
      cause: error,
    });
  }
}

function sqlOf(run: (text: string, values: unknown[]) => Promise<{ readonly rows: readonly object[] }>): Sql {
  return {
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await run(text, [...values])).rows as readonly Row[],
  };
}

interface RetryOptions {
  /** Milliseconds after which the last error is thrown. */
  readonly maxMs: number;
  readonly onWarning: (message: string) => void;
  readonly clock?: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Retries work with the database until it succeeds: a server may restart, a connection may break. `work` may
 * have succeeded even if it fails, so repeating it must do no harm. Rejects with `journal` for errors not
 * caused by the connection, and when the time is over.
 */
export async function withRetry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { maxMs, onWarning, clock = systemClock, signal } = options;
  const begun = clock.elapsed();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (isNanoAgentError(error)) throw error;
      const isOver = !isTemporary(error) || clock.elapsed() - begun >= maxMs || signal?.aborted === true;
      if (isOver) throw databaseError(error);
      if (attempt === 1) onWarning(`The database does not answer, trying again: ${errorMessage(error)}`);
      await clock
        .sleep(backoffDelayMs(attempt, { baseMs: 100, maxMs: 2_000 }), signal)
        .catch(() => undefined);
    }
  }
}

function databaseError(error: unknown): NanoAgentError {
  return new NanoAgentError("journal", `The database of durable runs failed: ${errorMessage(error)}`, {
    cause: error,
    retryable: isTemporary(error),
  });
}

/**
 * SQLSTATE of temporary errors. Classes: 08 connection · 40 rollback · 53 resources · 57 intervention · 58
 * system. 25P03: timeout of an idle transaction.
 */
const TEMPORARY_STATES = /^(?:08|40|53|57|58|25P03)/;
/** SQLSTATE has five characters; system error codes have names. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

function isTemporary(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  // Without a code it is the client, which has no connection or lost it.
  return SQLSTATE.test(code) && !code.startsWith("E") ? TEMPORARY_STATES.test(code) : true;
}
