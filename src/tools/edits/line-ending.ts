/** How a line ends in a text. */
export type LineEnding = "\n" | "\r\n";

/** The line ending of a text that has only one kind; `undefined` for a text with both or with none. */
export function uniformLineEnding(text: string): LineEnding | undefined {
  const first = endingAt(text, text.indexOf("\n"));
  if (first === undefined) return undefined;
  const isOther = first === "\n" ? text.includes("\r\n") : /(?<!\r)\n/u.test(text);
  return isOther ? undefined : first;
}

/** The line ending nearest to a range: the first one inside, else the next one after, else the last one before. */
export function lineEndingAround(
  text: string,
  range: { readonly start: number; readonly end: number },
): LineEnding | undefined {
  const after = text.indexOf("\n", range.start);
  return endingAt(text, after === -1 ? text.lastIndexOf("\n", range.start) : after);
}

/** `text` with all its line ends written as `ending`. A CR on its own is no line end. */
export function inLineEnding(text: string, ending: LineEnding): string {
  return text.replace(/\r?\n/gu, () => ending);
}

function endingAt(text: string, newline: number): LineEnding | undefined {
  if (newline === -1) return undefined;
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}
