import type { Redaction } from "../../core/base/text.ts";

/**
 * The words of a text as they are indexed and searched: by Unicode word boundaries, in lower case and
 * compatibility form. Words of scripts without blanks (Chinese, Japanese, Thai…) are split into characters,
 * so that any part is found too.
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
      words.push([withoutInnerMarks(segment)]);
    }
  }
  endRun();
  return words.filter(([first]) => first !== undefined && first !== "");
}

/** Splits text into words. One instance serves many texts. */
export function wordSegmenter(): Intl.Segmenter {
  return new Intl.Segmenter("zh", { granularity: "word" });
}

/** Without the blanks and quotes inside words (`don't`). */
function withoutInnerMarks(text: string): string {
  return text.replaceAll(/[\s"']+/g, "");
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const CHARS_BEFORE = 60;
const CHARS_AFTER = 120;

/**
 * An excerpt of a text around the first wanted word; its beginning if it has none of them. Secrets are
 * removed before it is shortened: redaction does not recognise half a secret.
 */
export function excerptOf(
  text: string,
  wanted: string,
  redaction: Pick<Redaction, "text"> | undefined,
): string {
  const shown = redaction?.text(text) ?? text;
  const plain = shown.toLowerCase();
  const positions = [wanted.toLowerCase(), ...searchWords(wanted).map((word) => word.join(""))]
    .map((word) => plain.indexOf(word))
    .filter((position) => position >= 0);
  const at = positions[0] ?? 0;
  const start = Math.max(0, at - CHARS_BEFORE);
  const end = Math.min(shown.length, at + CHARS_AFTER);
  const piece = shown.slice(start, end).toWellFormed().replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "…" : ""}${piece}${end < shown.length ? "…" : ""}`;
}
