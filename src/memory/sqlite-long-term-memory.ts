import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { abortError } from "../core/base/async.ts";
import { errorMessage, isNanoAgentError, misuse, NanoAgentError } from "../core/base/errors.ts";
import { inTransaction, isBusyDatabase } from "../system/sqlite.ts";
import type {
  LongTermMemory,
  Recollection,
  Recordable,
  RecordContext,
  RecordOutcome,
  RetrieveOptions,
} from "./long-term-memory.ts";
import { fileAt, isDamage, type OpenDatabase, openDatabase, setAside } from "./memory-database.ts";
import { countRecords, keepTexts, removeRecord, retrieveRecords } from "./memory-tables.ts";
import { searchFor, textsToKeep } from "./record-text.ts";
import {
  assertMilliseconds,
  type LongTermStoreOptions,
  type StoreSettings,
  storeSettings,
  wantedRecords,
} from "./store-options.ts";

/** How a {@link SqliteLongTermMemory} is made. */
export interface SqliteLongTermMemoryOptions extends LongTermStoreOptions {
  /** The database file; it and its folder are made at the first record or search, for the owner alone. */
  readonly path: string;
  /** Milliseconds to wait for other processes that write. Default 4,000. */
  readonly busyTimeoutMs?: number;
}

/** A record as {@link SqliteLongTermMemory.list} shows it. */
export interface StoredMemory {
  readonly id: string;
  readonly text: string;
  /** When it was recorded last, milliseconds since the epoch. */
  readonly time: number;
  /** `dialogue`, `model`, or undefined when the program recorded it itself. */
  readonly origin: string | undefined;
  readonly sessionId: string | undefined;
}

/**
 * A long-term memory in one file: SQLite with full text search, in which Chinese is found like English.
 * Several processes may use the file at once. What `record` resolved for is on the disk. A damaged file is
 * renamed, named in a notice, and a new one begun; one of a newer version is refused (`memory`) and not
 * touched. Opened with the first call; rejects with `memory` for what stops it.
 */
export class SqliteLongTermMemory implements LongTermMemory {
  readonly #path: string;
  readonly #busyTimeoutMs: number;
  readonly #settings: StoreSettings;
  #open: OpenDatabase | undefined;

  /** Touches no file. Throws `invalid_argument` for a path or limit that is none. */
  constructor({ path, busyTimeoutMs = 4_000, ...options }: SqliteLongTermMemoryOptions) {
    if (typeof path !== "string" || path.trim() === "" || path === ":memory:")
      throw misuse(`path is ${JSON.stringify(path)}: name a file, or use InMemoryLongTermMemory.`);
    assertMilliseconds("busyTimeoutMs", busyTimeoutMs);
    this.#path = resolve(path);
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#settings = storeSettings(options);
  }

  async record(what: Recordable, context: RecordContext = {}): Promise<RecordOutcome> {
    const texts = await textsToKeep(what, this.#settings, context.signal);
    if (texts.length === 0) return { added: 0, known: 0 };
    return this.#write(context.signal, (database) =>
      keepTexts(database, texts, { context, settings: this.#settings }),
    );
  }

  async retrieve(query: string, options: RetrieveOptions = {}): Promise<readonly Recollection[]> {
    const search = await searchFor(query, options, this.#settings);
    return this.#work(options.signal, (database) => retrieveRecords(database, search, this.#settings));
  }

  /** The newest records, newest first. Default: 50 of them. */
  async list({ limit = 50 }: { readonly limit?: number } = {}): Promise<readonly StoredMemory[]> {
    const wanted = wantedRecords(limit);
    return this.#work(undefined, (database) =>
      database
        .prepare("SELECT id, text, time, origin, session FROM memories ORDER BY time DESC, id DESC LIMIT ?")
        .all(wanted)
        .map((row) => ({
          id: String(row["id"]),
          text: String(row["text"]),
          time: Number(row["time"]),
          origin: textOrNothing(row["origin"]),
          sessionId: textOrNothing(row["session"]),
        })),
    );
  }

  /** Removes records by their ids; how many there were. */
  async forget(...ids: readonly string[]): Promise<number> {
    return this.#write(undefined, (database) => {
      let removed = 0;
      for (const id of ids) if (/^\d{1,15}$/.test(id)) removed += removeRecord(database, Number(id));
      return removed;
    });
  }

  /** Number of records. */
  async count(): Promise<number> {
    return this.#work(undefined, countRecords);
  }

  /** Closes the file; the next call opens it again. */
  close(): void {
    this.#open?.database.close();
    this.#open = undefined;
  }

  /** {@link SqliteLongTermMemory.close}, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  #write<T>(signal: AbortSignal | undefined, work: (database: DatabaseSync) => T): Promise<T> {
    return this.#work(signal, (database) => inTransaction(database, () => work(database)));
  }

  /** Works on the open database: waits for other writers without blocking, begins anew behind damage. */
  async #work<T>(signal: AbortSignal | undefined, work: (database: DatabaseSync) => T): Promise<T> {
    const { clock } = this.#settings;
    const patience = clock.elapsed() + this.#busyTimeoutMs;
    let mended = false;
    for (let pause = 5; ; pause = Math.min(100, pause * 2)) {
      if (signal?.aborted === true) throw abortError(signal);
      try {
        return work(this.#database());
      } catch (error) {
        if (isDamage(error) && !mended) {
          mended = true;
          this.#beginAnew(error);
          continue;
        }
        if (!isBusyDatabase(error) || clock.elapsed() >= patience) throw this.#failure(error);
      }
      await clock.sleep(pause, signal);
    }
  }

  #database(): DatabaseSync {
    // Set aside by another process, or removed: what is written there would be lost.
    if (this.#open !== undefined && this.#open.file !== fileAt(this.#path)) this.close();
    this.#open ??= openDatabase(this.#path);
    return this.#open.database;
  }

  #beginAnew(error: unknown): void {
    const file = this.#open?.file ?? fileAt(this.#path);
    this.close();
    const aside = setAside(this.#path, { file, now: this.#settings.clock.now() });
    this.#settings.onNotice(
      `The long-term memory ${this.#path} is damaged (${errorMessage(error)}). It was set aside as ${aside}, and a new one was begun.`,
    );
  }

  #failure(error: unknown): NanoAgentError {
    if (isNanoAgentError(error)) return error;
    const reason = isBusyDatabase(error)
      ? `another process has been writing for more than ${this.#busyTimeoutMs} ms`
      : errorMessage(error);
    return new NanoAgentError("memory", `The long-term memory ${this.#path} cannot be used: ${reason}.`, {
      cause: error,
      retryable: isBusyDatabase(error),
    });
  }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
