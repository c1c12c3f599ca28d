import { type Clock, systemClock } from "../core/base/async.ts";
import { check, checkOptions, ownSchema, type Properties } from "../core/base/check.ts";
import type { Embedder } from "./embedder.ts";
import { TermReader } from "./term-reader.ts";

/** Options of every long-term store of this package. */
export interface LongTermStoreOptions {
  /** Most records; then the one not recorded or found for the longest time is dropped. Default 10,000. */
  readonly maxRecords?: number;
  /** Bytes of all texts together in UTF-8, with the same rule. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Characters of one record; a longer text loses its middle. Default 8,000. */
  readonly maxRecordChars?: number;
  /** Milliseconds after which a record has lost half of what it gets for being new. Default 30 days. */
  readonly recencyHalfLifeMs?: number;
  /** Share of the score that age can take away, 0 to 1. Default 0.3. */
  readonly recencyWeight?: number;
  /** Adds search by meaning. */
  readonly embedder?: Embedder;
  /** Milliseconds one call of the embedder may take. Default 3,000. */
  readonly embedTimeoutMs?: number;
  readonly clock?: Clock;
  /** Told, in one sentence, what went wrong without stopping anything. */
  readonly onNotice?: (message: string) => void;
}

/** The options with their defaults. */
export interface StoreSettings extends Required<Omit<LongTermStoreOptions, "embedder">> {
  readonly embedder: Embedder | undefined;
  readonly terms: TermReader;
}

/** Fills in the defaults. Throws `invalid_argument` for a limit that is none. */
export function storeSettings(options: LongTermStoreOptions): StoreSettings {
  checkOptions(options, OPTIONS);
  const settings: StoreSettings = {
    maxRecords: options.maxRecords ?? 10_000,
    maxBytes: options.maxBytes ?? 16 * 1024 * 1024,
    maxRecordChars: options.maxRecordChars ?? 8_000,
    recencyHalfLifeMs: options.recencyHalfLifeMs ?? 30 * 24 * 60 * 60 * 1000,
    recencyWeight: options.recencyWeight ?? 0.3,
    embedder: options.embedder,
    embedTimeoutMs: options.embedTimeoutMs ?? 3_000,
    clock: options.clock ?? systemClock,
    onNotice: options.onNotice ?? (() => undefined),
    terms: new TermReader(),
  };
  return settings;
}

const COUNT = { type: "integer", minimum: 1 } as const;
const PROPERTIES: Properties<LongTermStoreOptions> = {
  maxRecords: COUNT,
  maxBytes: COUNT,
  maxRecordChars: COUNT,
  recencyHalfLifeMs: { type: "number", exclusiveMinimum: 0 },
  recencyWeight: { type: "number", minimum: 0, maximum: 1 },
  embedder: {
    type: "object",
    "x-has": ["embed"],
    properties: { model: { type: "string" } },
    required: ["model"],
    "x-say": "{ model, embed }: the name of a model and the function that asks it",
  },
  embedTimeoutMs: { type: "number", exclusiveMinimum: 0 },
  clock: { "x-has": ["now", "sleep"] },
  onNotice: { "x-function": true },
};
/** Open: each store has options of its own. */
const OPTIONS = ownSchema({ type: "object", properties: PROPERTIES });

/** The number of records wanted. Throws `invalid_argument` for a limit below 1. */
export function wantedRecords(limit = 5): number {
  check(limit, LIMIT, "limit");
  return Math.floor(limit);
}

/** Throws `invalid_argument` for a value that is not a span of time. */
export function assertMilliseconds(name: string, value: unknown): void {
  check(value, MILLISECONDS, name);
}

const LIMIT = ownSchema({ type: "number", minimum: 1 });
const MILLISECONDS = ownSchema({ type: "number", minimum: 0 });
