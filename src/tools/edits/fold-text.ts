/** A text without its invisible and typographic variants, and the way back to the original. */
export interface FoldedText {
  /** Quotes, dashes and blanks as ASCII, line ends as LF, no blanks before a line end or the end. */
  readonly text: string;
  /** Where `text[i]` starts in the original, a line end at its CR. One more entry than `text` has. */
  readonly offsets: Uint32Array;
}

/** Folds `text`. Every unit of the result stands for exactly one unit (or CR LF) of the original. */
export function foldText(text: string): FoldedText {
  let plain = text;
  for (const [variants, ascii] of VARIANTS) plain = plain.replace(variants, ascii);
  const offsets = new Uint32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  let at = 0;
  for (const { 0: gap, index } of plain.matchAll(LINE_ENDS)) {
    parts.push(plain.slice(at, index));
    while (at < index) offsets[length++] = at++;
    at = index + gap.length;
    if (!gap.endsWith("\n")) continue;
    parts.push("\n");
    offsets[length++] = at - (gap.endsWith("\r\n") ? 2 : 1);
  }
  offsets[length] = text.length;
  return { text: parts.join(""), offsets: offsets.subarray(0, length + 1) };
}

/** True for a tab, a space and the Unicode blanks (zero-width characters are none). */
export function isBlank(code: number): boolean {
  return code === 9 || code === 32 || BLANK.test(String.fromCharCode(code));
}

/** Blanks beyond ASCII. */
const BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

/** Each is one unit, as is what stands for it. */
const VARIANTS: readonly (readonly [variants: RegExp, ascii: string])[] = [
  [new RegExp(BLANK, "g"), " "],
  [/[\u2018-\u201b\u2032\uff07]/g, "'"],
  [/[\u201c-\u201f\u2033\uff02]/g, '"'],
  [/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, "-"],
];

/** Ends of lines, and of the text, with the blanks before them. Looks at no blank twice. */
const LINE_ENDS = /(?<![ \t\r])[ \t\r]*(?:\n|$)/g;
