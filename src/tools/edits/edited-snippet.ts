import { clipped } from "../../core/base/text.ts";
import { linesAt, type Replacement } from "./plan-edits.ts";

/** The numbered lines of `after` that sorted `replacements` touched, with two around each; at most 60. */
export function editedSnippet(after: string, replacements: readonly Replacement[]): string {
  const lines = after.replace(/^\uFEFF/u, "").split(/\r?\n/u);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const shown: string[] = [];
  let next = 1;
  for (const { first, last } of changedLines(after, replacements.slice(0, MAX_RANGES))) {
    if (next > 1 && first > next) shown.push("   ...");
    for (let line = Math.max(first, next); line <= last && shown.length < MAX_LINES; line++) {
      const text = lines[line - 1];
      if (text !== undefined)
        shown.push(`${String(line).padStart(6)}\t${clipped(text, MAX_LINE_CHARS).toWellFormed()}`);
    }
    next = Math.max(next, last + 1);
  }
  if (shown.length >= MAX_LINES || replacements.length > MAX_RANGES)
    shown.push("   ... (further changed lines not shown)");
  return shown.join("\n");
}

const CONTEXT = 2;
const MAX_RANGES = 20;
const MAX_LINES = 60;
const MAX_LINE_CHARS = 200;

/** Numbers of the lines of each replacement, with those around. */
function changedLines(
  after: string,
  replacements: readonly Replacement[],
): readonly { readonly first: number; readonly last: number }[] {
  let shift = 0;
  return replacements.map(({ start, end, text }) => {
    const [first = 1, last = 1] = linesAt(after, [start + shift, start + shift + text.length]);
    shift += text.length - (end - start);
    return { first: Math.max(1, first - CONTEXT), last: last + CONTEXT };
  });
}
