import { abortError, type Clock, systemClock, withTimeout } from "../core/base/async.ts";
import { check, checkOptions, optionSchema, type Properties } from "../core/base/check-options.ts";
import { errorMessage } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { toCleanText, truncateMiddle } from "../core/base/text.ts";
import { type Recordable, textsToRecord } from "./long-term-memory.ts";
import { TermReader } from "./term-reader.ts";

/**
 * The port to a model that turns texts into vectors, for search by meaning in addition to search by words. If
 * it throws, only the vectors of that call are lost.
 */
export interface Embedder {
  /** Identifies the model: its vectors are compared only with vectors of the same name. */
  readonly model: string;
  /** One vector per text, in order, all of the same length. Should stop when `signal` is aborted. */
  embed(
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly ArrayLike<number>[]>;
}

/** Options of every long-term store of this package. */
export interface LongTermStoreOptions {
  /** Maximum number of records; then drops the one not recorded or found for longest. Default 10,000. */
  readonly maxRecords?: number;
  /** Maximum bytes of all texts together in UTF-8, with the same rule. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Maximum characters of one record; a longer text loses its middle. Default 8,000. */
  readonly maxRecordChars?: number;
  /** Milliseconds until a record has lost half of its bonus for being new. Default 30 days. */
  readonly recencyHalfLifeMs?: number;
  /** Share of the score that age can take away, 0 to 1. Default 0.3. */
  readonly recencyWeight?: number;
  /** Adds search by meaning. */
  readonly embedder?: Embedder;
  /** Milliseconds one call of the embedder may take. Default 3,000. */
  readonly embedTimeoutMs?: number;
  readonly clock?: Clock;
  /** Called with one sentence about a problem that stopped nothing. */
  readonly onNotice?: (message: string) => void;
}

export interface StoreSettings extends Required<Omit<LongTermStoreOptions, "embedder">> {
  readonly embedder: Embedder | undefined;
  readonly terms: TermReader;
}

export function storeSettings(options: LongTermStoreOptions): StoreSettings {
  checkOptions(options, OPTIONS);
  return {
    maxRecords: 10_000,
    maxBytes: 16 * 1024 * 1024,
    maxRecordChars: 8_000,
    recencyHalfLifeMs: 30 * 24 * 60 * 60 * 1000,
    recencyWeight: 0.3,
    embedTimeoutMs: 3_000,
    clock: systemClock,
    onNotice: () => undefined,
    ...omitUndefined(options),
    embedder: options.embedder,
    terms: new TermReader(),
  };
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
/** Open: each store adds its own options. */
const OPTIONS = optionSchema({ type: "object", properties: PROPERTIES });
const LIMIT = optionSchema({ type: "number", minimum: 1 });

export function checkLimit(limit = 5): number {
  check(limit, LIMIT, "limit");
  return Math.floor(limit);
}

/** Keys are equal for texts that differ only in case, blanks, compatibility forms or a final full stop. */
export function recordTexts(
  what: Recordable,
  { maxRecordChars, maxBytes }: Pick<StoreSettings, "maxRecordChars" | "maxBytes">,
): readonly { readonly text: string; readonly key: string }[] {
  const texts = new Map<string, string>();
  for (const raw of textsToRecord(what)) {
    const cut = truncateMiddle(toCleanText(raw), maxRecordChars);
    const text = truncateMiddle(cut, { maxBytes }).trim();
    const key = keyOf(text);
    if (text !== "" && !texts.has(key)) texts.set(key, text);
  }
  return Array.from(texts, ([key, text]) => ({ text, key }));
}

function keyOf(text: string): string {
  const folded = text.normalize("NFKC").toLowerCase().normalize("NFKC").replace(/\s+/gu, " ").trim();
  const open = folded.replace(/[\s.!?。！？…,;、，；]+$/u, "");
  return open === "" ? folded : open;
}

/** Empty, with a notice, if the embedder fails. Rejects only if `signal` is aborted. */
export async function vectorsOf(
  texts: readonly string[],
  { embedder, embedTimeoutMs: ms, clock, onNotice }: StoreSettings,
  signal: AbortSignal | undefined,
): Promise<readonly Float32Array[]> {
  if (isAborted(signal)) throw abortError(signal);
  if (embedder === undefined || texts.length === 0) return [];
  try {
    const embed = (combined: AbortSignal): Promise<unknown> => embedder.embed(texts, { signal: combined });
    const vectors = await withTimeout(embed, { ms, clock, signal });
    if (!Array.isArray(vectors) || vectors.length !== texts.length)
      throw new TypeError(`not one vector for each of ${texts.length} texts`);
    return vectors.map((vector: ArrayLike<number>) => toUnitVector(vector));
  } catch (error) {
    if (isAborted(signal)) throw abortError(signal);
    onNotice(`The embedder ${embedder.model} failed, words have to do: ${errorMessage(error)}`);
    return [];
  }
}

function isAborted(signal: AbortSignal | undefined): signal is AbortSignal {
  return signal?.aborted === true;
}

function toUnitVector(vector: ArrayLike<number>): Float32Array {
  const copy = Float32Array.from(vector);
  const length = Math.hypot(...copy);
  if (copy.length === 0 || !Number.isFinite(length))
    throw new TypeError("a vector that is empty or not finite");
  return length === 0 ? copy : copy.map((value) => value / length);
}
