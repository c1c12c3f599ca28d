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
