import { Lexer, type Token, type Tokens } from "marked";
import { type Line, lineColumns, longestWord, type Span, span, wrapLine } from "../paint/line.ts";
import type { Marks, Style } from "../paint/theme.ts";

/** Longer text stays as written: parsing its emphasis would take too long. */
const MAX_CHARS = 4_000;
const MAX_DEPTH = 6;

/** A paragraph's text with emphasis, code and links, split into its lines. */
export function inlineLines(text: string, base: Style = {}): readonly Line[] {
  const lines: Span[][] = [[]];
  const add = (text: string, style: Style): void => {
    if (text !== "") lines.at(-1)?.push(span(text.replaceAll("\n", " "), style));
  };
  const walk = (tokens: readonly Token[], style: Style, depth: number): void => {
    for (const given of tokens) {
      const token = given as Inline;
      const more = STYLES[token.type];
      if (token.type === "br") lines.push([]);
      else if (depth > MAX_DEPTH) add(token.raw, style);
      else if (more !== undefined && "tokens" in token)
        walk(token.tokens ?? [], { ...style, ...more }, depth + 1);
      else if (token.type === "codespan") add(token.text, { ...style, role: "code" });
      else if (token.type === "link" || token.type === "image") {
        const { href, text: label } = token;
        const link: Style = { ...style, role: "link", link: href };
        if (token.type === "link" && label !== "") walk(token.tokens, link, depth + 1);
        else add(label === "" ? href : label, link);
        if (isToBeShown(href, label)) add(` (${href})`, { ...style, role: "muted" });
      } else add(plainOf(token), style);
    }
  };
  if (text.length > MAX_CHARS) add(text, base);
  else walk(new Lexer().inlineTokens(text), base, 0);
  return lines;
}

/** The text of a piece; anything the screen does not interpret stays as written. */
function plainOf(token: Inline): string {
  return token.type === "text" || token.type === "escape" ? token.text : token.raw;
}

const STYLES: { readonly [type: string]: Style | undefined } = {
  strong: { bold: true },
  em: { italic: true },
  del: { strike: true },
};

/** True if a click may not work, or the link's text may name a different target. */
function isToBeShown(href: string, label: string): boolean {
  return /^(?:https?|mailto):/.test(href) && !href.includes(label.trim());
}

type Inline =
  | Tokens.Text
  | Tokens.Escape
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Br
  | Tokens.Link
  | Tokens.Image
  | Tokens.HTML;

/** Text on one line, such as a table cell. */
function inlineSpans(text: string, base: Style = {}): Line {
  return inlineLines(text, base).flat();
}

const MAX_COLUMNS = 30;
const LONGEST_WORD = 16;
/** With fewer columns continuation rows have no margin. */
const MARGIN_FROM = 8;

/** The rows of a table, as lists if the columns lack room; undefined if the lines are not a table. */
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
  const names = cellsOf(head);
  if (count > MAX_COLUMNS || names.length !== count) return undefined;
  const texts = [names, ...body.map((row) => withoutSurplus(cellsOf(row), count))];
  const cells = texts.map((row, index) =>
    Array.from({ length: count }, (_, column) =>
      inlineSpans(row[column] ?? "", index === 0 ? { bold: true } : {}),
    ),
  );
  const widths = columnWidths(cells, width - 3 * (count - 1));
  if (widths === undefined) return records(cells, width, marks);
  const rows = cells.flatMap((row) => layOutRow(row, { widths, sides, marks }));
  const headRows = layOutRow(cells[0] ?? [], { widths, sides, marks }).length;
  const line = span(
    widths.map((each) => marks.rule.repeat(each)).join(`${marks.rule}${marks.cross}${marks.rule}`),
    { role: "muted" },
  );
  return [...rows.slice(0, headRows), [line], ...rows.slice(headRows)];
}

/** A row with at most `count` cells: extra cells are joined into the last one, so nothing is lost. */
function withoutSurplus(cells: readonly string[], count: number): readonly string[] {
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
function records([head = [], ...body]: readonly (readonly Line[])[], width: number, marks: Marks): Line[] {
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

/** Widths that break no word: short columns whole, the rest shared by the others. Undefined if none fit. */
function columnWidths(cells: readonly (readonly Line[])[], room: number): readonly number[] | undefined {
  const most = (measure: (cell: Line) => number): readonly number[] =>
    (cells[0] ?? []).map((_, column) => Math.max(1, ...cells.map((row) => measure(row[column] ?? []))));
  const wanted = most(lineColumns);
  const least = most((cell) => Math.min(LONGEST_WORD, longestWord(cell)));
  if (least.reduce((sum, each) => sum + each, 0) > room) return undefined;
  const widths = wanted.map(() => 0);
  let left = room;
  let open = wanted.map((_, index) => index);
  const settle = (indexes: readonly number[], widthOf: (index: number) => number): void => {
    for (const index of indexes) {
      widths[index] = widthOf(index);
      left -= widthOf(index);
    }
    open = open.filter((index) => !indexes.includes(index));
  };
  while (open.length > 0) {
    const share = Math.floor(left / open.length);
    const needing = open.filter((index) => (least[index] ?? 0) > share);
    const fitting = open.filter((index) => (wanted[index] ?? 0) <= share);
    if (needing.length > 0) settle(needing, (index) => least[index] ?? 0);
    else if (fitting.length > 0) settle(fitting, (index) => wanted[index] ?? 0);
    else settle(open, () => share);
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
