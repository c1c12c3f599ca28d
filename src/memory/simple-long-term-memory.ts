import { abortError, type Clock } from "../core/base/async.ts";
import { check, STRING } from "../core/base/check.ts";
import type {
  LongTermMemory,
  Recollection,
  Recordable,
  RecordContext,
  RecordOutcome,
  RetrieveOptions,
} from "./long-term-memory.ts";
import { recordTexts, type StoreSettings, storeSettings, wantedRecords } from "./store-options.ts";
import { telling } from "./term-reader.ts";

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
  readonly #records = new Map<string, KeywordRecord>();
  readonly #byKeyword = new Map<string, Set<KeywordRecord>>();
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
    return [...this.#byKeyword.keys()];
  }

  async record(what: Recordable, { signal }: RecordContext = {}): Promise<RecordOutcome> {
    if (signal?.aborted === true) throw abortError(signal);
    const texts = recordTexts(what, this.#settings);
    let known = 0;
    for (const { text, key } of texts) {
      if (this.#drop(key)) known++;
      this.#file(text, key);
    }
    for (const key of this.#records.keys()) {
      if (this.#records.size <= this.#settings.maxRecords) break;
      this.#drop(key);
    }
    return { added: texts.length - known, known };
  }

  async retrieve(query: string, { limit, signal }: RetrieveOptions = {}): Promise<readonly Recollection[]> {
    if (signal?.aborted === true) throw abortError(signal);
    check(query, STRING, "query");
    const wanted = wantedRecords(limit);
    const { terms, loose } = this.#settings.terms.query(query);
    const strict = this.#sharing(terms);
    const shared = strict.size > 0 ? strict : this.#sharing(loose);
    return [...shared]
      .toSorted(([a, manyA], [b, manyB]) => manyB - manyA || b.id - a.id)
      .slice(0, wanted)
      .map(([{ id, text, time }, many]) => ({ id: String(id), text, time, score: many }));
  }

  #sharing(keywords: readonly string[]): ReadonlyMap<KeywordRecord, number> {
    const shared = new Map<KeywordRecord, number>();
    for (const keyword of keywords)
      for (const filed of this.#byKeyword.get(keyword) ?? []) shared.set(filed, (shared.get(filed) ?? 0) + 1);
    return shared;
  }

  #file(text: string, key: string): void {
    const { words, parts } = this.#settings.terms.index(text);
    const keywords = new Set(telling([...words, ...parts]));
    const filed = { id: ++this.#lastId, text, time: this.#settings.clock.now(), keywords };
    this.#records.set(key, filed);
    for (const keyword of keywords) {
      const place = this.#byKeyword.get(keyword) ?? new Set();
      this.#byKeyword.set(keyword, place.add(filed));
    }
  }

  #drop(key: string): boolean {
    const filed = this.#records.get(key);
    if (filed === undefined) return false;
    this.#records.delete(key);
    for (const keyword of filed.keywords) {
      const place = this.#byKeyword.get(keyword);
      place?.delete(filed);
      if (place?.size === 0) this.#byKeyword.delete(keyword);
    }
    return true;
  }
}

interface KeywordRecord {
  readonly id: number;
  readonly text: string;
  readonly time: number;
  readonly keywords: ReadonlySet<string>;
}
