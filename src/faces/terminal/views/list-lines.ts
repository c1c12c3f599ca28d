import { fitLine, type Line, line, lineColumns, oneLine, span } from "../paint/line.ts";
import type { Marks } from "../paint/theme.ts";

/** One row of a list. */
export interface ListRow {
  readonly label: string;
  readonly note?: string | undefined;
}

/** How a list is shown. */
export interface ListLook {
  readonly marked: number;
  readonly maxRows: number;
  readonly width: number;
  readonly marks: Marks;
}

/** The effect of the keys, below the list they work on. */
export function keysLine(keys: readonly string[], { marks, width }: Pick<ListLook, "marks" | "width">): Line {
  return fitLine(line(`  ${keys.join(` ${marks.dot} `)}`, { role: "muted" }), width);
}

/** Rows around the marked one, each with its note where there is room, and how many are beside them. */
export function listLines(
  rows: readonly ListRow[],
  { marked, maxRows, width, marks }: ListLook,
): readonly Line[] {
  const room = Math.max(1, rows.length > maxRows ? maxRows - 1 : maxRows);
  const first = Math.max(0, Math.min(marked - Math.floor(room / 2), rows.length - room));
  const shown = rows.slice(first, first + room);
  const column = Math.min(
    Math.floor(width / 2),
    Math.max(0, ...shown.map(({ label }) => lineColumns(line(label)))) + 2,
  );
  const lines = shown.map(({ label, note }, index): Line => {
    const isMarked = first + index === marked;
    const head: Line = [
      span(`${isMarked ? marks.prompt : " "} `, { role: "accent" }),
      span(oneLine(label), isMarked ? { bold: true } : {}),
    ];
    if (note === undefined || note === "") return fitLine(head, width);
    const gap = Math.max(2, column - lineColumns(head) + 2);
    return fitLine([...head, span(" ".repeat(gap)), span(oneLine(note), { role: "muted" })], width);
  });
  if (rows.length <= maxRows) return lines;
  return [...lines, line(`  ${marked + 1} of ${rows.length}`, { role: "muted" })];
}
