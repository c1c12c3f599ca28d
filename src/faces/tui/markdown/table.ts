import { type Line, lineColumns, span, wrapLine } from "../paint/line.ts";
import type { Marks } from "../paint/theme.ts";
import { inlineSpans } from "./inline.ts";

const MAX_COLUMNS = 30;
const SMALLEST = 3;

/** The rows of a table; undefined when the lines are none, or there is no room for its columns side by side. */
export function tableRows(
  lines: readonly string[],
  width: number,
  marks: Marks,
): readonly Line[] | undefined {
  const [head, rule, ...body] = lines;
  if (head === undefined || rule === undefined || !/^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(rule))
    return undefined;
  const sides = cellsOf(rule).map(sideOf);
  const count = sides.length;
  if (count > MAX_COLUMNS) return undefined;
  const texts = [head, ...body].map(cellsOf);
  const cells = texts.map((row, index) =>
    Array.from({ length: count }, (_, column) =>
      inlineSpans(row[column] ?? "", index === 0 ? { bold: true } : {}),
    ),
  );
  const widths = columnWidths(cells, width - 3 * (count - 1));
  if (widths === undefined) return undefined;
  const rows = cells.flatMap((row) => layOutRow(row, { widths, sides, marks }));
  const headRows = layOutRow(cells[0] ?? [], { widths, sides, marks }).length;
  const line = span(
    widths.map((each) => marks.rule.repeat(each)).join(`${marks.rule}${marks.cross}${marks.rule}`),
    { role: "muted" },
  );
  return [...rows.slice(0, headRows), [line], ...rows.slice(headRows)];
}

type Side = "left" | "right" | "center";

function sideOf(cell: string): Side {
  if (!cell.endsWith(":")) return "left";
  return cell.startsWith(":") ? "center" : "right";
}

function cellsOf(text: string): readonly string[] {
  const inner = text
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Widths that fit: short columns whole, the others share what is left. */
function columnWidths(cells: readonly (readonly Line[])[], room: number): readonly number[] | undefined {
  const wanted = (cells[0] ?? []).map((_, column) =>
    Math.max(1, ...cells.map((row) => lineColumns(row[column] ?? []))),
  );
  if (wanted.length * SMALLEST > room) return undefined;
  const widths = wanted.map(() => 0);
  let left = room;
  let open = wanted.map((_, index) => index);
  while (open.length > 0) {
    const share = Math.floor(left / open.length);
    const fitting = open.filter((index) => (wanted[index] ?? 0) <= share);
    for (const index of fitting.length > 0 ? fitting : open) {
      widths[index] = fitting.length > 0 ? (wanted[index] ?? 0) : share;
      left -= widths[index] ?? 0;
    }
    if (fitting.length === 0) break;
    open = open.filter((index) => !fitting.includes(index));
  }
  return widths;
}

interface RowLook {
  readonly widths: readonly number[];
  readonly sides: readonly Side[];
  readonly marks: Marks;
}

function layOutRow(cells: readonly Line[], { widths, sides, marks }: RowLook): readonly Line[] {
  const wrapped = cells.map((cell, column) => wrapLine(cell, { width: Math.max(2, widths[column] ?? 0) }));
  const height = Math.max(1, ...wrapped.map((rows) => rows.length));
  const border = span(` ${marks.column} `, { role: "muted" });
  return Array.from({ length: height }, (_, index) =>
    widths.flatMap((width, column): Line => {
      const cell = wrapped[column]?.[index] ?? [];
      const gap = Math.max(0, width - lineColumns(cell));
      const before = sides[column] === "right" ? gap : sides[column] === "center" ? Math.floor(gap / 2) : 0;
      const isLast = column === widths.length - 1;
      const padded = [...blanks(before), ...cell, ...blanks(isLast ? 0 : gap - before)];
      return isLast ? padded : [...padded, border];
    }),
  );
}

function blanks(count: number): Line {
  return count > 0 ? [span(" ".repeat(count))] : [];
}
