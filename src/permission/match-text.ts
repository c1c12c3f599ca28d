/**
 * Characters of a text that no `*` may stand for: from `from` up to, not including, `to`. An empty range
 * stands for what no text shows: no `*` may meet it.
 */
export interface FixedRange {
  readonly from: number;
  readonly to: number;
}

/** A pattern over the whole of a text: `*` is any run of characters, also none, all else is itself. */
export class TextPattern {
  readonly pattern: string;
  /** The beginning of every text it describes. */
  readonly head: string;
  readonly #pieces: readonly string[];

  constructor(pattern: string) {
    this.pattern = pattern;
    this.#pieces = pattern.split("*");
    this.head = this.#pieces[0] ?? "";
  }

  /**
   * True when it describes `text`. Linear. Where ranges are fixed, only literal characters of the pattern may
   * meet them (then at most pattern × text steps, and false for texts beyond four million of those).
   */
  matches(text: string, fixed: readonly FixedRange[] = []): boolean {
    if (!this.#matchesFreely(text)) return false;
    if (fixed.length === 0 || this.#pieces.length === 1) return true;
    return fixed.every(({ from, to }) => from < to) && matchesFixed(this.pattern, text, fixed);
  }

  #matchesFreely(text: string): boolean {
    const pieces = this.#pieces;
    const first = pieces[0] ?? "";
    if (pieces.length === 1) return first === text;
    const last = pieces.at(-1) ?? "";
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false;
    const end = text.length - last.length;
    let at = first.length;
    for (let index = 1; index < pieces.length - 1; index++) {
      const piece = pieces[index] ?? "";
      const found = text.indexOf(piece, at);
      if (found === -1 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  }
}

/** True when `pattern` describes the whole of `text`: see {@link TextPattern}. */
export function matchesText(pattern: string, text: string, fixed: readonly FixedRange[] = []): boolean {
  return new TextPattern(pattern).matches(text, fixed);
}

const MAX_STEPS = 4_000_000;

/** Walks the text with the set of places in the pattern that can be reached. */
function matchesFixed(pattern: string, text: string, fixed: readonly FixedRange[]): boolean {
  if (pattern.length * text.length > MAX_STEPS) return false;
  const held = new Uint8Array(text.length);
  for (const { from, to } of fixed) held.fill(1, from, to);
  let reached = new Uint8Array(pattern.length + 1);
  let next = new Uint8Array(pattern.length + 1);
  reached[0] = 1;
  skipStars(pattern, reached);
  for (let index = 0; index < text.length; index++) {
    next.fill(0);
    for (let place = 0; place < pattern.length; place++) {
      if (reached[place] !== 1) continue;
      if (pattern[place] === "*") {
        if (held[index] === 0 || text[index] === "*") next[place] = 1;
      } else if (pattern[place] === text[index]) next[place + 1] = 1;
    }
    skipStars(pattern, next);
    [reached, next] = [next, reached];
  }
  return reached[pattern.length] === 1;
}

function skipStars(pattern: string, reached: Uint8Array): void {
  for (let place = 0; place < pattern.length; place++)
    if (reached[place] === 1 && pattern[place] === "*") reached[place + 1] = 1;
}

/** The words of a text, which blanks or ends of lines part. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
