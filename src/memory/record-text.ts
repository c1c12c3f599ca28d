import { type Recordable, textsToRecord } from "../core/agent/long-term-memory.ts";
import { toCleanText, truncateMiddle } from "../core/base/text.ts";
import type { StoreSettings } from "./store-options.ts";

/** A text as it is kept. */
export interface RecordText {
  readonly text: string;
  /** The same for texts that say the same: compatibility forms, case, blanks and the last full stop make no difference. */
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

function keyOf(text: string): string {
  const folded = text.normalize("NFKC").toLowerCase().normalize("NFKC").replace(/\s+/gu, " ").trim();
  const open = folded.replace(/[\s.!?。！？…,;、，；]+$/u, "");
  return open === "" ? folded : open;
}
