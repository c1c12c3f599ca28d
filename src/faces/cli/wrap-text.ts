import { columnsOf, wrapColumns } from "../text/columns.ts";
import type { Output } from "./standard-output.ts";

/** Columns of the terminal behind an output; `undefined` where it is none. */
export function widthOf({ isTerminal }: Pick<Output, "isTerminal">, descriptor: 1 | 2): number | undefined {
  if (!isTerminal) return undefined;
  const { columns } = descriptor === 1 ? process.stdout : process.stderr;
  return columns > 0 ? columns : undefined;
}

/**
 * A line without control characters as lines of at most `width` columns, cut at blanks, and inside a word
 * only where it is too long by itself. The first begins with `first`, the others with `rest`. One line when
 * `width` is undefined.
 */
export function wrapText(
  text: string,
  {
    width,
    first = "",
    rest = first,
  }: { readonly width: number | undefined; readonly first?: string; readonly rest?: string },
): readonly string[] {
  if (width === undefined) return [`${first}${text}`];
  const room = Math.max(MIN_ROOM, width - Math.max(columnsOf(first), columnsOf(rest)));
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (columnsOf(joined) <= room) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    const pieces = wrapColumns(word, room);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? "";
  }
  return [...lines, line].map((each, index) => `${index === 0 ? first : rest}${each}`);
}

const MIN_ROOM = 12;
