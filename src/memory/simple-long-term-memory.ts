import { abortError, type Clock } from "../core/base/async.ts";
import { check, STRING_SCHEMA } from "../core/base/check-options.ts";
import type {
  LongTermMemory,
  Recollection,
  Recordable,
  RecordContext,
  RecordOutcome,
  RetrieveOptions,
} from "./long-term-memory.ts";
import { checkLimit, recordTexts, type StoreSettings, storeSettings } from "./store-options.ts";
import { significantWords } from "./term-reader.ts";

/** Options of {@link SimpleLongTermMemory}. */
export interface SimpleLongTermMemoryOptions {
  /** Maximum number of records; beyond that the oldest is dropped. Default 1,000. */
  readonly maxRecords?: number;
  readonly clock?: Clock;
}

/**
 * The simplest long-term memory: each text is filed under its keywords, and a search returns the texts that
 * share most keywords with it, newer ones first. Lives as long as the program.
 */
export class SimpleLongTermMemory implements LongTermMemory {
  readonly #settings: StoreSettings;
  /** By key, oldest first. */
  readonly #records = new Map<string, KeywordRecord>();
  #lastId = 0;

  /** Throws `invalid_argument` for an invalid limit. */
  constructor(options: SimpleLongTermMemoryOptions = {}) {
    this.#settings = storeSettings({ maxRecords: 1_000, ...options });
  }

  /** Number of records. */
  get size(): number {
    return this.#records.size;
  }

  /** The keywords that a text is filed under. */
  keywords(): readonly string[] {
    return [...new Set([...this.#records.values()].flatMap(({ keywords }) => [...keywords]))];
  }

  async record(what: Recordable, { signal }: RecordContext = {}): Promise<RecordOutcome> {
    if (signal?.aborted === true) throw abortError(signal);
    const texts = recordTexts(what, this.#settings);
    let known = 0;
    for (const { text, key } of texts) {
      if (this.#records.delete(key)) known++;
      const { words, parts } = this.#settings.terms.index(text);
      const keywords = new Set(significantWords([...words, ...parts]));
      const time = this.#settings.clock.now();
      this.#records.set(key, { id: ++this.#lastId, text, time, keywords });
    }
    for (const key of this.#records.keys()) {
      if (this.#records.size <= this.#settings.maxRecords) break;
      this.#records.delete(key);
    }
    return { added: texts.length - known, known };
  }

  async retrieve(query: string, { limit, signal }: RetrieveOptions = {}): Promise<readonly Recollection[]> {
    if (signal?.aborted === true) throw abortError(signal);
    check(query, STRING_SCHEMA, "query");
    const count = checkLimit(limit);
    const { terms, loose } = this.#settings.terms.query(query);
    const strict = this.#matches(terms);
    return (strict.length > 0 ? strict : this.#matches(loose))
      .sort((a, b) => b.score - a.score || Number(b.id) - Number(a.id))
      .slice(0, count);
  }

  /** The records that share keywords; their score is how many. */
  #matches(keywords: readonly string[]): Recollection[] {
    return [...this.#records.values()].flatMap(({ id, text, time, keywords: own }) => {
      const score = keywords.filter((keyword) => own.has(keyword)).length;
      return score === 0 ? [] : [{ id: String(id), text, time, score }];
    });
  }
}

interface KeywordRecord {
  readonly id: number;
  readonly text: string;
  readonly time: number;
  readonly keywords: ReadonlySet<string>;
}
