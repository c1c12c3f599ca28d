import { misuse } from "../core/base/errors.ts";
import { toCleanText, truncateMiddle } from "../core/base/text.ts";
import { vectorsOf } from "./embedder.ts";
import { type Recordable, type RetrieveOptions, textsToRecord } from "./long-term-memory.ts";
import { type StoreSettings, wantedRecords } from "./store-options.ts";

/** A text as it is kept. */
export interface RecordText {
  readonly text: string;
  /** Equal for texts that differ in compatibility forms, case, blanks and a last full stop alone. */
  readonly key: string;
}

/** The texts to keep, cleaned, cut to size, each once. */
export function recordTexts(
  what: Recordable,
  { maxRecordChars, maxBytes }: Pick<StoreSettings, "maxRecordChars" | "maxBytes">,
): readonly RecordText[] {
  const texts = new Map<string, RecordText>();
  for (const raw of textsToRecord(what)) {
    const cut = truncateMiddle(toCleanText(raw), maxRecordChars);
    const text = truncateMiddle(cut, { maxBytes }).trim();
    const key = keyOf(text);
    if (text !== "" && !texts.has(key)) texts.set(key, { text, key });
  }
  return [...texts.values()];
}

/** A text as it is kept, with its vector where there is an embedder that made one. */
export interface KeptText extends RecordText {
  readonly vector: Float32Array | undefined;
}

/** The texts a store with an index keeps of those it was given. Rejects when `signal` is aborted. */
export async function textsToKeep(
  what: Recordable,
  settings: StoreSettings,
  signal: AbortSignal | undefined,
): Promise<readonly KeptText[]> {
  const texts = recordTexts(what, settings);
  const vectors = await vectorsOf(
    texts.map(({ text }) => text),
    settings,
    signal,
  );
  return texts.map((text, at) => ({ ...text, vector: vectors[at] }));
}

/** The subject of a search, and how many records of it. */
export interface Search {
  readonly query: string;
  readonly limit: number;
  readonly vector: Float32Array | undefined;
}

/** The search that a query stands for. Throws `invalid_argument`: no query. Rejects when aborted. */
export async function searchFor(
  query: string,
  { limit, signal }: RetrieveOptions,
  settings: StoreSettings,
): Promise<Search> {
  assertQuery(query);
  const wanted = wantedRecords(limit);
  const [vector] = await vectorsOf(query.trim() === "" ? [] : [query], settings, signal);
  return { query, limit: wanted, vector };
}

/** Throws `invalid_argument` for what is no text. */
export function assertQuery(query: unknown): void {
  if (typeof query === "string") return;
  throw misuse(`The query is ${query === null ? "null" : typeof query}: pass a text.`);
}

function keyOf(text: string): string {
  const folded = text.normalize("NFKC").toLowerCase().normalize("NFKC").replace(/\s+/gu, " ").trim();
  const open = folded.replace(/[\s.!?。！？…,;、，；]+$/u, "");
  return open === "" ? folded : open;
}
