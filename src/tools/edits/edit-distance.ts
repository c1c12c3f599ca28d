/** Levenshtein distance of two strings in UTF-16 units; takes time proportional to the product of their lengths. */
export function editDistance(a: string, b: string): number {
  let row = Uint32Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = new Uint32Array(b.length + 1);
    next[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      next[j] = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/**
 * Fewest characters to insert, delete or replace that make `wanted` a part of `text`; 0 when it is one. Compares UTF-16 code units; the
 * cost is the product of both lengths.
 */
export function substringDistance(text: string, wanted: string): number {
  // Column by column of the usual table, but a match may begin anywhere for nothing.
  let before = Array.from({ length: wanted.length + 1 }, (_, row) => row);
  let best = wanted.length;
  for (const unit of text.split("")) {
    const column = [0];
    for (let row = 1; row <= wanted.length; row++) {
      const replaced = (before[row - 1] ?? 0) + (wanted[row - 1] === unit ? 0 : 1);
      column.push(Math.min(replaced, (before[row] ?? 0) + 1, (column[row - 1] ?? 0) + 1));
    }
    best = Math.min(best, column[wanted.length] ?? best);
    before = column;
  }
  return best;
}
