/** How a line ends. A CR on its own does not end a line. */
export type LineEnding = "\n" | "\r\n";

/** The line ending of a text that has only one kind; `undefined` for a text with both or with none. */
export function uniformLineEnding(text: string): LineEnding | undefined {
  const first = lineEndingAt(text, text.indexOf("\n"));
  if (first === undefined) return undefined;
  const isOther = first === "\n" ? text.includes("\r\n") : /(?<!\r)\n/u.test(text);
  return isOther ? undefined : first;
}

/** The line ending whose LF is at `newline`; `undefined` for -1. */
export function lineEndingAt(text: string, newline: number): LineEnding | undefined {
  if (newline === -1) return undefined;
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}

/** `text` with all its line ends written as `ending`. */
export function inLineEnding(text: string, ending: LineEnding): string {
  return text.replace(/\r?\n/gu, () => ending);
}

/**
 * `after` with the line ends of `before`, which it replaces: a line of both keeps its end, a new one ends
 * like the line before it. Where the texts differ in more than a thousand lines, every line ends like the
 * first.
 */
export async function withLineEndsOf(before: string, after: string): Promise<string> {
  const first = lineEndingAt(before, before.indexOf("\n"));
  if (first === undefined) return after;
  if (uniformLineEnding(before) !== undefined) return inLineEnding(after, first);
  const ends = Array.from(before.matchAll(/\r?\n/gu), ([end]) => end);
  const lines = after.split(/\r?\n/u);
  const { diffArrays } = await import("diff");
  const changes = diffArrays(before.split(/\r?\n/u), lines, { maxEditLength: MAX_CHANGED_LINES });
  if (changes === undefined) return inLineEnding(after, first);
  const written: string[] = [];
  let old = 0;
  let end: string = first;
  for (const { added, removed, value } of changes) {
    for (const line of value) {
      if (!added) end = ends[old++] ?? end;
      if (!removed) written.push(line, end);
    }
  }
  // What ends the last line is no line end: nothing follows it.
  return written.slice(0, -1).join("");
}

const MAX_CHANGED_LINES = 1000;
