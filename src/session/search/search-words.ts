import type { Redaction } from "../../core/base/text.ts";

/**
 * The words of a text as they are indexed and looked for: by the word boundaries of Unicode, in lower case
 * and compatibility form. Words of scripts without blanks (Chinese, Japanese, Thai…) are taken apart into
 * characters, so that a part of one is found too.
 */
export function searchWords(
  text: string,
  segmenter: Intl.Segmenter = wordSegmenter(),
): readonly (readonly string[])[] {
  const words: (readonly string[])[] = [];
  let run: string[] = [];
  const endRun = (): void => {
    if (run.length > 0) words.push(run);
    run = [];
  };
  for (const { segment, isWordLike } of segmenter.segment(text.normalize("NFKC").toLowerCase())) {
    if (isWordLike !== true) endRun();
    else if (UNSPACED.test(segment)) run.push(...segment);
    else {
      endRun();
      words.push([joined(segment)]);
    }
  }
  endRun();
  return words.filter(([first]) => first !== undefined && first !== "");
}

/** Splits text into words. One serves for many texts. */
export function wordSegmenter(): Intl.Segmenter {
  return new Intl.Segmenter("zh", { granularity: "word" });
}

/** Without the blanks and quotes that stand inside words (`don't`). */
function joined(text: string): string {
  return text.replaceAll(/[\s"']+/g, "");
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

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
