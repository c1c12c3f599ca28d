import { utf8Length } from "../core/base/text.ts";
import { similarity } from "./embedder.ts";
import type {
  LongTermMemory,
  Recollection,
  Recordable,
  RecordContext,
  RecordOutcome,
  RetrieveOptions,
} from "./long-term-memory.ts";
import { type Candidate, rank } from "./ranking.ts";
import { type KeptText, searchFor, textsToKeep } from "./record-text.ts";
import { type LongTermStoreOptions, type StoreSettings, storeSettings } from "./store-options.ts";
import { TermReader } from "./term-reader.ts";

/**
 * A long-term memory that lives as long as the program: for tests, and for a service that keeps its memories elsewhere. Finds, ranks and
 * forgets as {@link import("./sqlite-long-term-memory.ts").SqliteLongTermMemory} does.
 */
export class InMemoryLongTermMemory implements LongTermMemory {
  readonly #settings: StoreSettings;
  readonly #terms = new TermReader();
  /** By id; the one unused for the longest time first. */
  readonly #records = new Map<number, Kept>();
  readonly #byKey = new Map<string, number>();
  readonly #byTerm = new Map<string, Map<number, number>>();
  #lastId = 0;
  #bytes = 0;
  #length = 0;

  /** Throws `invalid_argument` for a limit that is none. */
  constructor(options: LongTermStoreOptions = {}) {
    this.#settings = storeSettings(options);
  }

  /** Number of records. */
  get size(): number {
    return this.#records.size;
  }

  async record(what: Recordable, context: RecordContext = {}): Promise<RecordOutcome> {
    const texts = await textsToKeep(what, this.#settings, context.signal);
    let known = 0;
    for (const text of texts) {
      const before = this.#byKey.get(text.key);
      if (before === undefined) this.#add(text);
      else {
        known++;
        this.#use(before, { time: this.#settings.clock.now() });
      }
      this.#shrink();
    }
    return { added: texts.length - known, known };
  }

  async retrieve(query: string, options: RetrieveOptions = {}): Promise<readonly Recollection[]> {
    const { limit, vector } = await searchFor(query, options, this.#settings);
    const { recencyHalfLifeMs: halfLifeMs, recencyWeight, clock } = this.#settings;
    const found = rank(this.#candidates(this.#fits(query), vector), {
      now: clock.now(),
      limit,
      halfLifeMs,
      recencyWeight,
    });
    return found.flatMap(({ id, score }) => {
      const kept = this.#records.get(id);
      if (kept === undefined) return [];
      this.#use(id, {});
      return [{ id: String(id), text: kept.text, time: kept.time, score }];
    });
  }

  #add({ text, key, vector }: KeptText): void {
    const id = ++this.#lastId;
    const { words, parts } = this.#terms.index(text);
    const bytes = utf8Length(text);
    const weights = new Map<string, number>();
    for (const word of words) weights.set(word, (weights.get(word) ?? 0) + WORD_WEIGHT);
    for (const part of parts) weights.set(part, (weights.get(part) ?? 0) + PART_WEIGHT);
    const length = words.length + parts.length;
    const time = this.#settings.clock.now();
    this.#records.set(id, { text, key, time, bytes, length, terms: [...weights.keys()], vector });
    this.#byKey.set(key, id);
    for (const [term, weight] of weights) {
      const places = this.#byTerm.get(term) ?? new Map<number, number>();
      this.#byTerm.set(term, places.set(id, weight));
    }
    this.#bytes += bytes;
    this.#length += length;
  }

  #use(id: number, change: { readonly time?: number }): void {
    const kept = this.#records.get(id);
    if (kept === undefined) return;
    this.#records.delete(id);
    this.#records.set(id, { ...kept, ...change });
  }

  #shrink(): void {
    const { maxRecords, maxBytes } = this.#settings;
    for (const id of this.#records.keys()) {
      if (this.#records.size <= maxRecords && this.#bytes <= maxBytes) return;
      this.#drop(id);
    }
  }

  #drop(id: number): void {
    const kept = this.#records.get(id);
    if (kept === undefined) return;
    this.#records.delete(id);
    this.#byKey.delete(kept.key);
    this.#bytes -= kept.bytes;
    this.#length -= kept.length;
    for (const term of kept.terms) {
      const places = this.#byTerm.get(term);
      places?.delete(id);
      if (places?.size === 0) this.#byTerm.delete(term);
    }
  }

  /** How well the words of the records fit. */
  #fits(query: string): ReadonlyMap<number, number> {
    const { terms, loose } = this.#terms.query(query);
    const fits = this.#fitsOf(terms);
    return fits.size > 0 ? fits : this.#fitsOf(loose);
  }

  #fitsOf(terms: readonly string[]): ReadonlyMap<number, number> {
    const fits = new Map<number, number>();
    const average = this.#length / Math.max(1, this.#records.size);
    for (const term of terms) {
      const places = this.#byTerm.get(term);
      if (places === undefined) continue;
      const rarity = inverseFrequency(this.#records.size, places.size);
      for (const [id, weight] of places) {
        const length = this.#records.get(id)?.length ?? average;
        const saturated = (weight * (K1 + 1)) / (weight + K1 * (1 - B + (B * length) / average));
        fits.set(id, (fits.get(id) ?? 0) + rarity * saturated);
      }
    }
    return fits;
  }

  #candidates(fits: ReadonlyMap<number, number>, vector: Float32Array | undefined): readonly Candidate[] {
    return [...this.#records].flatMap(([id, { time, vector: own }]) => {
      const text = fits.get(id);
      const near = vector === undefined || own === undefined ? undefined : similarity(vector, own);
      if (text === undefined && near === undefined) return [];
      return [
        {
          id,
          time,
          ...(text === undefined ? {} : { text }),
          ...(near === undefined ? {} : { similarity: near }),
        },
      ];
    });
  }
}

/** A word counts in full, what only helps to find it a little: the same weights as in the index of the database. */
const WORD_WEIGHT = 1;
const PART_WEIGHT = 0.4;
/** The constants of BM25 as SQLite has them. */
const K1 = 1.2;
const B = 0.75;

interface Kept {
  readonly text: string;
  readonly key: string;
  readonly time: number;
  readonly bytes: number;
  readonly length: number;
  readonly terms: readonly string[];
  readonly vector: Float32Array | undefined;
}

/** Above 0 also for a term that is in more than half of the records. */
function inverseFrequency(records: number, holding: number): number {
  return Math.max(1e-6, Math.log((records - holding + 0.5) / (holding + 0.5)));
}
