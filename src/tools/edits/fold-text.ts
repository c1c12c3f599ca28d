/** A text with its invisible and typographic variants folded away, and the way back to the text it came from. */
export interface FoldedText {
  /** Curly quotes, dashes and Unicode blanks as ASCII, line ends as LF, no blanks before a line end or the end. */
  readonly text: string;
  /** `offsets[i]` is where `text[i]` starts in the original; a line end starts at its CR. One more entry than `text` has. */
  readonly offsets: Uint32Array;
}

/** Folds `text` in one pass. Every unit of the result stands for exactly one unit (or CR LF) of the original. */
export function foldText(text: string): FoldedText {
  const codes = new Uint16Array(text.length);
  const offsets = new Uint32Array(text.length + 1);
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    let offset = index;
    if (code === LF) {
      length = withoutTrailingBlanks(codes, length);
      if (index > 0 && text.charCodeAt(index - 1) === CR) offset = index - 1;
    }
    codes[length] = code < 128 ? code : foldedCode(code);
    offsets[length] = offset;
    length++;
  }
  length = withoutTrailingBlanks(codes, length);
  offsets[length] = text.length;
  return { text: decode(codes, length), offsets: offsets.subarray(0, length + 1) };
}

/** True when a UTF-16 unit is a tab, a space or one of the Unicode blanks (zero-width characters are none). */
export function isBlank(code: number): boolean {
  if (code < 128) return code === 32 || code === 9;
  return (
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

const LF = 10;
const CR = 13;

function withoutTrailingBlanks(codes: Uint16Array, length: number): number {
  let end = length;
  while (end > 0) {
    const code = codes[end - 1] ?? 0;
    if (code !== CR && !isBlank(code)) break;
    end--;
  }
  return end;
}

function foldedCode(code: number): number {
  if (isBlank(code)) return 32;
  if (isSingleQuote(code)) return 39;
  if (isDoubleQuote(code)) return 34;
  return isDash(code) ? 45 : code;
}

function isSingleQuote(code: number): boolean {
  return (code >= 0x2018 && code <= 0x201b) || code === 0x2032 || code === 0xff07;
}

function isDoubleQuote(code: number): boolean {
  return (code >= 0x201c && code <= 0x201f) || code === 0x2033 || code === 0xff02;
}

function isDash(code: number): boolean {
  if (code >= 0x2010 && code <= 0x2015) return true;
  return code === 0x2212 || code === 0xfe58 || code === 0xfe63 || code === 0xff0d;
}

function decode(codes: Uint16Array, length: number): string {
  const parts: string[] = [];
  for (let start = 0; start < length; start += 8192) {
    parts.push(String.fromCharCode(...codes.subarray(start, Math.min(length, start + 8192))));
  }
  return parts.join("");
}
