import {
  cutLine,
  type Line,
  line,
  lineColumns,
  longestWord,
  sliceSpans,
  span,
  wrapLine,
} from "../paint/line.ts";
import type { Marks } from "../paint/theme.ts";
import { inlineSpans } from "./inline.ts";

/** Precedes a block's rows: bars of quotes, indents and bullets of lists. */
export interface Lead {
  readonly first: Line;
  readonly rest: Line;
}

export type Block =
  | { readonly type: "blank" }
  | {
      readonly type: "paragraph";
      readonly text: string;
      readonly lead: Lead;
      readonly heading: boolean;
      readonly skip: number;
    }
  | { readonly type: "code"; readonly spans: Line; readonly lead: Lead }
  | { readonly type: "table"; readonly lines: readonly string[]; readonly lead: Lead }
  | { readonly type: "rule"; readonly lead: Lead };

export function layOutBlock(block: Block, width: number, marks: Marks): readonly Line[] {
  switch (block.type) {
    case "blank":
      return [[]];
    case "paragraph": {
      const { lead, heading, text, skip } = block;
      const spans = inlineSpans(text, heading ? { role: "heading", bold: true } : {});
      return wrapLine(sliceSpans(spans, skip), { width, ...lead });
    }
    case "code": {
      const { first, rest } = block.lead;
      const room = Math.max(2, width - lineColumns(first));
      return cutLine(block.spans, room).map((row, index) => [...(index === 0 ? first : rest), ...row]);
    }
    case "table": {
      const { first, rest } = block.lead;
      const rows = tableRows(block.lines, width - lineColumns(first), marks);
      if (rows === undefined)
        return block.lines.flatMap((each) => wrapLine(inlineSpans(each), { width, ...block.lead }));
      return rows.map((row, index) => [...(index === 0 ? first : rest), ...row]);
    }
    case "rule":
      return [
        [
          ...block.lead.first,
          ...line(marks.rule.repeat(Math.max(3, Math.min(40, width - 4))), { role: "muted" }),
        ],
      ];
  }
}

const MAX_COLUMNS = 30;
const LONGEST_WORD = 16;
/** In narrower tables continued rows have no margin. */
const MARGIN_FROM = 8;

/** A table's rows, as records if columns do not fit; undefined if it is not a table. */
function tableRows(lines: readonly string[], width: number, marks: Marks): readonly Line[] | undefined {
  const [head, rule, ...body] = lines;
  if (head === undefined || rule === undefined || !/^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(rule))
    return undefined;
  const sides = cellsOf(rule).map(sideOf);
  const count = sides.length;
  const names = cellsOf(head);
  if (count > MAX_COLUMNS || names.length !== count) return undefined;
  const texts = [names, ...body.map((row) => joinSurplus(cellsOf(row), count))];
  const cells = texts.map((row, index) =>
    Array.from({ length: count }, (_, column) =>
      inlineSpans(row[column] ?? "", index === 0 ? { bold: true } : {}),
    ),
  );
  const widths = columnWidths(cells, width - 3 * (count - 1));
  if (widths === undefined) return recordRows(cells, width, marks);
  const rows = cells.flatMap((row) => layOutRow(row, { widths, sides, marks }));
  const headRows = layOutRow(cells[0] ?? [], { widths, sides, marks }).length;
  const line = span(
    widths.map((each) => marks.rule.repeat(each)).join(`${marks.rule}${marks.cross}${marks.rule}`),
    { role: "muted" },
  );
  return [...rows.slice(0, headRows), [line], ...rows.slice(headRows)];
}

/** Joins surplus cells into the last one, so nothing is lost. */
function joinSurplus(cells: readonly string[], count: number): readonly string[] {
  return cells.length <= count ? cells : [...cells.slice(0, count - 1), cells.slice(count - 1).join(" | ")];
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

/** Each row of a table as lines of `head: text`. */
function recordRows([head = [], ...body]: readonly (readonly Line[])[], width: number, marks: Marks): Line[] {
  if (body.length === 0) return head.flatMap((cell) => wrapLine(cell, { width }));
  const margin = span(width < MARGIN_FROM ? "" : "  ");
  const rule = span(marks.rule.repeat(Math.max(1, Math.min(width, LONGEST_WORD))), { role: "muted" });
  return body.flatMap((row, index) => [
    ...(index === 0 ? [] : [[rule]]),
    ...row.flatMap((cell, column) => {
      const name = head[column] ?? [];
      const label = lineColumns(name) === 0 ? [] : [...name, span(": ")];
      const text = [...label, ...cell];
      return text.length === 0 ? [] : wrapLine(text, { width, rest: [margin] });
    }),
  ]);
}

/** Widths that break no word: narrow columns whole, the rest shared. Undefined if they do not fit. */
function columnWidths(cells: readonly (readonly Line[])[], room: number): readonly number[] | undefined {
  const most = (measure: (cell: Line) => number): readonly number[] =>
    (cells[0] ?? []).map((_, column) => Math.max(1, ...cells.map((row) => measure(row[column] ?? []))));
  const wanted = most(lineColumns);
  const least = most((cell) => Math.min(LONGEST_WORD, longestWord(cell)));
  if (least.reduce((sum, each) => sum + each, 0) > room) return undefined;
  const widths = wanted.map(() => 0);
  let left = room;
  let open = wanted.map((_, index) => index);
  const assign = (indexes: readonly number[], widthOf: (index: number) => number): void => {
    for (const index of indexes) {
      widths[index] = widthOf(index);
      left -= widthOf(index);
    }
    open = open.filter((index) => !indexes.includes(index));
  };
  while (open.length > 0) {
    const share = Math.floor(left / open.length);
    const tooWide = open.filter((index) => (least[index] ?? 0) > share);
    const narrow = open.filter((index) => (wanted[index] ?? 0) <= share);
    if (tooWide.length > 0) assign(tooWide, (index) => least[index] ?? 0);
    else if (narrow.length > 0) assign(narrow, (index) => wanted[index] ?? 0);
    else assign(open, () => share);
  }
  return widths;
}

function layOutRow(
  cells: readonly Line[],
  {
    widths,
    sides,
    marks,
  }: { readonly widths: readonly number[]; readonly sides: readonly Side[]; readonly marks: Marks },
): readonly Line[] {
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
