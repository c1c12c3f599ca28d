import type { Replacement } from "./plan-edits.ts";

/**
 * The lines of `after` that replacements touched, numbered, with two lines around each; at most 60 lines of at most 200 characters.
 * `replacements` are sorted and refer to the text before.
 */
export function editedSnippet(after: string, replacements: readonly Replacement[]): string {
  const ranges = lineRanges(after, replacements.slice(0, MAX_RANGES));
  const lines: string[] = [];
  const cursor = new LineCursor(after);
  for (const [index, { first, last }] of ranges.entries()) {
    if (index > 0) lines.push("   ...");
    for (let line = first; line <= last && lines.length < MAX_LINES; line++) {
      const text = cursor.line(line);
      if (text === undefined) break;
      lines.push(`${String(line).padStart(6)}\t${clip(text)}`);
    }
  }
  if (lines.length >= MAX_LINES || replacements.length > MAX_RANGES)
    lines.push("   ... (further changed lines not shown)");
  return lines.join("\n");
}

const CONTEXT = 2;
const MAX_RANGES = 20;
const MAX_LINES = 60;
const MAX_LINE_CHARS = 200;

interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** Changed lines with their context; ranges that touch are joined. */
function lineRanges(after: string, replacements: readonly Replacement[]): readonly LineRange[] {
  const ranges: LineRange[] = [];
  let shift = 0;
  let line = 1;
  let position = 0;
  const advance = (to: number): number => {
    for (let at = after.indexOf("\n", position); at !== -1 && at < to; at = after.indexOf("\n", at + 1))
      line++;
    position = Math.max(position, to);
    return line;
  };
  for (const { start, end, text } of replacements) {
    const first = Math.max(1, advance(start + shift) - CONTEXT);
    const last = advance(start + shift + text.length) + CONTEXT;
    shift += text.length - (end - start);
    const previous = ranges.at(-1);
    if (previous === undefined || first > previous.last + 1) ranges.push({ first, last });
    else ranges[ranges.length - 1] = { first: previous.first, last };
  }
  return ranges;
}

/** Finds lines of a text by number, going forward only. */
class LineCursor {
  readonly #text: string;
  #line = 1;
  #start = 0;

  constructor(text: string) {
    this.#text = text;
  }

  line(number: number): string | undefined {
    while (this.#line < number) {
      const newline = this.#text.indexOf("\n", this.#start);
      if (newline === -1) return undefined;
      this.#start = newline + 1;
      this.#line++;
    }
    if (this.#start === this.#text.length && this.#line > 1) return undefined;
    const end = this.#text.indexOf("\n", this.#start);
    return this.#text.slice(this.#start, end === -1 ? undefined : end).replace(/\r$/u, "");
  }
}

function clip(text: string): string {
  return (text.length <= MAX_LINE_CHARS ? text : `${text.slice(0, MAX_LINE_CHARS)}…`).toWellFormed();
}
