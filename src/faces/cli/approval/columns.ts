/** Cells of a terminal that a text takes: wide characters two, combining ones none. Control characters must not be in it. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += charColumns(char);
  return columns;
}

/** A line cut into pieces of at most `width` columns, at least one piece. A `width` below 2 counts as 2. */
export function wrapColumns(line: string, width: number): readonly string[] {
  const limit = Math.max(2, width);
  const pieces: string[] = [];
  let piece = "";
  let columns = 0;
  for (const char of line) {
    const size = charColumns(char);
    if (columns + size > limit) {
      pieces.push(piece);
      piece = "";
      columns = 0;
    }
    piece += char;
    columns += size;
  }
  return [...pieces, piece];
}

/** The end of a text, as much of it as fits `width` columns. */
export function lastColumns(text: string, width: number): string {
  const chars = [...text];
  let columns = 0;
  let from = chars.length;
  while (from > 0) {
    columns += charColumns(chars[from - 1] ?? "");
    if (columns > width) break;
    from--;
  }
  return chars.slice(from).join("");
}

function charColumns(char: string): number {
  if (char === "\t") return 8;
  if (NONE.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

const NONE = /[\p{Mn}\p{Me}]/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
