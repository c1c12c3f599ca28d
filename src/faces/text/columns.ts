import { eastAsianWidth } from "get-east-asian-width";

export type Measure = (text: string) => number;

/** Terminal cells text takes. It must not contain control characters. */
export function columnsOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  if (PLAIN.test(text)) return text.length + text.replaceAll(NARROW_CHARS, "").length;
  let columns = 0;
  for (const cluster of graphemes(text)) columns += graphemeColumns(cluster);
  return columns;
}

/**
 * Maximum cells of text on any terminal: each character is drawn separately, ambiguous ones in two cells. It
 * must not contain control characters.
 */
export function maxColumnsOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += NARROW.test(char) ? 1 : 2;
  return columns;
}

export function graphemes(text: string): readonly string[] {
  if (NARROW.test(text)) return text.split("");
  if (PLAIN.test(text)) return [...text];
  return Array.from(LAZY.segmenter.segment(text), ({ segment }) => segment);
}

export function graphemeColumns(cluster: string): number {
  if (cluster.length === 1 && cluster >= " " && cluster <= "~") return 1;
  if (EMOJI.test(cluster)) return 2;
  let columns = 0;
  for (const char of cluster) {
    if (!NO_CELL.test(char)) columns += eastAsianWidth(char.codePointAt(0) ?? 0);
  }
  return columns;
}

/** Splits text into pieces of at most `width` columns, at least one piece. A `width` below 2 counts as 2. */
export function wrapColumns(line: string, width: number): readonly string[] {
  const limit = Math.max(2, width);
  const pieces: string[] = [];
  let rest = line;
  for (;;) {
    // A cluster wider than a row, such as a letter under a hundred marks, is split.
    const piece = firstColumns(rest, limit) || firstCharacters(rest, limit);
    pieces.push(piece);
    if (piece.length === rest.length) return pieces;
    rest = rest.slice(piece.length);
  }
}

/** As many single characters as fit `width` columns; at least one, if there is any. */
function firstCharacters(text: string, width: number): string {
  let columns = 0;
  let end = 0;
  for (const char of text.slice(0, width * MAX_CLUSTER)) {
    columns += columnsOf(char);
    if (columns > width && end > 0) break;
    end += char.length;
  }
  return text.slice(0, end);
}

export function firstColumns(text: string, width: number): string {
  if (text.length <= width && NARROW.test(text)) return text;
  let columns = 0;
  let end = 0;
  // No grapheme of a given width has more characters than this; the rest cannot fit.
  for (const cluster of graphemes(text.slice(0, (width + 1) * MAX_CLUSTER))) {
    columns += columnsOf(cluster);
    if (columns > width) break;
    end += cluster.length;
  }
  return text.slice(0, end);
}

/** Text that fits `width` columns, with `…` for the omitted rest. */
export function fitColumns(text: string, width: number): string {
  if (columnsOf(text.slice(0, width * MAX_CLUSTER + 1)) <= width && text.length <= width * MAX_CLUSTER)
    return text;
  return width < 1 ? "" : `${firstColumns(text, width - 1)}…`;
}

/** Created on first use: costly to load, and most runs need none. */
const LAZY = {
  get segmenter(): Intl.Segmenter {
    const value = new Intl.Segmenter("en", { granularity: "grapheme" });
    Object.defineProperty(this, "segmenter", { value });
    return value;
  },
};

const MAX_CLUSTER = 24;
const NARROW = /^[\x20-\x7e]*$/;
/** Characters that never combine: marks of the screen, Latin, Cyrillic, Chinese, Japanese, Korean. */
const PLAIN =
  /^[\x20-\x7e\u00ae-\u024f\u0410-\u044f\u2013\u2014\u2018-\u201d\u2022\u2026\u2190-\u2193\u2500-\u259f\u25cb-\u25d3\u2713\u2717\u276f\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*$/;
/** The narrow ones among them. */
const NARROW_CHARS =
  /[\x20-\x7e\u00ae-\u024f\u0410-\u044f\u2013\u2014\u2018-\u201d\u2022\u2026\u2190-\u2193\u2500-\u259f\u25cb-\u25d3\u2713\u2717\u276f]/g;
const EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2}|[#*0-9]\ufe0f?\u20e3|\p{Extended_Pictographic}\p{Emoji_Modifier})/u;
const NO_CELL = /[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff]/u;
