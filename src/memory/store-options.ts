import { type Clock, systemClock } from "../core/base/clock.ts";
import { misuse } from "../core/base/errors.ts";
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
  for (const name of ["maxRecords", "maxBytes", "maxRecordChars"] as const)
    assertNumber(name, settings[name], Number.isInteger(settings[name]) && settings[name] >= 1);
  for (const name of ["recencyHalfLifeMs", "embedTimeoutMs"] as const)
    assertNumber(name, settings[name], settings[name] > 0);
  assertEmbedder(settings.embedder);
  const { recencyWeight } = settings;
  assertNumber("recencyWeight", recencyWeight, recencyWeight >= 0 && recencyWeight <= 1);
  return settings;
}

function assertEmbedder(embedder: Embedder | undefined): void {
  if (embedder === undefined || (typeof embedder.embed === "function" && typeof embedder.model === "string"))
    return;
  throw misuse(
    "embedder has no embed() or no model: pass { model, embed }, the name of a model and the function that asks it.",
  );
}

/** The number of records wanted. Throws `invalid_argument` for what is no number from 1. */
export function wantedRecords(limit: number | undefined): number {
  if (limit === undefined) return 5;
  assertNumber("limit", limit, limit >= 1);
  return Math.floor(limit);
}

/** Throws `invalid_argument` for what is no span of time. */
export function assertMilliseconds(name: string, value: unknown): void {
  assertNumber(name, value, typeof value === "number" && value >= 0);
}

function assertNumber(name: string, value: unknown, holds: boolean): void {
  if (holds) return;
  throw misuse(`${name} is ${String(value)}, which is out of range: see its description for what it may be.`);
}
