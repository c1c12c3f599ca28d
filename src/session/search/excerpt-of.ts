import type { Redaction } from "../../core/base/text.ts";
import { searchWords } from "./search-words.ts";

const BEFORE = 60;
const BEHIND = 120;

/**
 * A piece of a text around the first of the words looked for; its beginning where they are in none. Secrets
 * are taken out before it is cut: half of one is none to a redaction.
 */
export function excerptOf(
  text: string,
  wanted: string,
  redaction: Pick<Redaction, "text"> | undefined,
): string {
  const shown = redaction?.text(text) ?? text;
  const plain = shown.toLowerCase();
  const places = [wanted.toLowerCase(), ...searchWords(wanted).map((word) => word.join(""))]
    .map((word) => plain.indexOf(word))
    .filter((place) => place >= 0);
  const at = places[0] ?? 0;
  const start = Math.max(0, at - BEFORE);
  const end = Math.min(shown.length, at + BEHIND);
  const piece = shown.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "…" : ""}${piece}${end < shown.length ? "…" : ""}`;
}
