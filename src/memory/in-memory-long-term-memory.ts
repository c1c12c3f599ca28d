import type { DatabaseSync } from "node:sqlite";
import type {
  LongTermMemory,
  Recollection,
  Recordable,
  RecordContext,
  RecordOutcome,
  RetrieveOptions,
} from "./long-term-memory.ts";
import { databaseInMemory } from "./memory-database.ts";
import { countRecords, keepTexts, retrieveRecords } from "./memory-tables.ts";
import { searchFor, textsToKeep } from "./record-text.ts";
import { type LongTermStoreOptions, type StoreSettings, storeSettings } from "./store-options.ts";

/**
 * A long-term memory that lives as long as the program: for tests, and for a service that keeps its memories
 * elsewhere. Finds, ranks and forgets as {@link import("./sqlite-long-term-memory.ts").SqliteLongTermMemory}
 * does, over the same tables.
 */
export class InMemoryLongTermMemory implements LongTermMemory {
  readonly #settings: StoreSettings;
  #opened: DatabaseSync | undefined;

  /** Throws `invalid_argument` for a limit that is none. */
  constructor(options: LongTermStoreOptions = {}) {
    this.#settings = storeSettings(options);
  }

  /** Number of records. */
  get size(): number {
    return countRecords(this.#database);
  }

  async record(what: Recordable, context: RecordContext = {}): Promise<RecordOutcome> {
    const texts = await textsToKeep(what, this.#settings, context.signal);
    return keepTexts(this.#database, texts, { context, settings: this.#settings });
  }

  async retrieve(query: string, options: RetrieveOptions = {}): Promise<readonly Recollection[]> {
    const search = await searchFor(query, options, this.#settings);
    return retrieveRecords(this.#database, search, this.#settings);
  }

  get #database(): DatabaseSync {
    return (this.#opened ??= databaseInMemory());
  }
}
