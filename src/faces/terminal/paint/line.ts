import { terminalText } from "../../../view/safe-text.ts";
import { columnsOf, firstColumns, graphemeColumns, graphemes, type Measure } from "../../text/columns.ts";
import { type Appearance, type Marks, type Style, styleCodes } from "./theme.ts";

/** A piece of text in one style, safe for a terminal, without line ends and tabs. */
export interface Span {
  readonly text: string;
  readonly style: Style;
}

export type Line = readonly Span[];

export interface ViewContext {
  readonly width: number;
  readonly marks: Marks;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** True if details of calls and thinking are shown instead of folded. */
  readonly details: boolean;
  /** True if thinking is shown in full even when folded. */
  readonly thinking?: boolean;
  /** True if keys and commands reveal more. */
  readonly hasKeys?: boolean;
}

const PLAIN: Style = {};

/** A span for one line. Characters a terminal would act on become visible; tabs become blanks. */
export function span(text: string, style: Style = PLAIN): Span {
  return { text: PRINTABLE.test(text) ? text : flat(terminalText(text)), style };
}

export function line(text: string, style: Style = PLAIN): Line {
  return [span(text, style)];
}

/** The lines of text: split at line ends, tabs of four columns, without what a carriage return overwrote. */
export function textLines(text: string): readonly string[] {
  return terminalText(text.replaceAll(/(?<!\r)\r+\n/g, "\n").replaceAll(/^.*\r(?=[^\n])/gm, ""))
    .split("\n")
    .map(expandTabs);
}

export function lineColumns(spans: Line): number {
  return spans.reduce((sum, { text }) => sum + columnsOf(text), 0);
}

/** The spans of the characters from `from` up to `to`. */
export function sliceSpans(spans: Line, from: number, to: number = Number.POSITIVE_INFINITY): Line {
  let at = 0;
  return spans.flatMap((each) => {
    const text = each.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += each.text.length;
    return text === "" ? [] : [{ ...each, text }];
  });
}

const CUT: Span = { text: "…", style: { role: "muted" } };

/** The text of a span in a look: the ellipsis is ASCII if the marks are. */
export function shownText(each: Span, { unicode }: Pick<Appearance, "unicode">): string {
  return each === CUT && !unicode ? "~" : each.text;
}

/** A line cut to a width, with `…` for the missing rest. */
export function fitLine(spans: Line, width: number): Line {
  if (lineColumns(spans) <= width) return spans;
  const fitted: Span[] = [];
  let room = Math.max(0, width);
  for (const each of spans) {
    const columns = columnsOf(each.text);
    if (columns < room) {
      fitted.push(each);
      room -= columns;
      continue;
    }
    return room < 1 ? fitted : [...fitted, { ...each, text: firstColumns(each.text, room - 1) }, CUT];
  }
  return fitted;
}

/** At most `most` rows, among them the last `tail`; one of them counts those that are cut. */
export function cutRows<T>(
  rows: readonly T[],
  most: number,
  tail: number,
  countRow: (count: number) => T,
): readonly T[] {
  if (rows.length <= most) return rows;
  const head = Math.max(0, most - 1 - tail);
  return [...rows.slice(0, head), countRow(rows.length - head - tail), ...rows.slice(rows.length - tail)];
}

interface WrapOptions {
  readonly width: number;
  readonly first?: Line;
  /** Precedes the other rows; default: blanks as wide as `first`. */
  readonly rest?: Line;
}

/** Wraps spans to rows of at most `width`, at blanks and between wide letters, in words only if too long. */
export function wrapLine(spans: Line, { width, first = [], rest }: WrapOptions): readonly Line[] {
  const following = rest ?? (first.length === 0 ? [] : [span(" ".repeat(lineColumns(first)))]);
  const room = Math.max(2, width - Math.max(lineColumns(first), lineColumns(following)));
  return wrapSpans(spans, room).map((row, index) => [...(index === 0 ? first : following), ...row.spans]);
}

/** A row of wrapped text, and its end in the text: before the next row's first character. */
interface WrappedRow {
  readonly spans: Line;
  readonly end: number;
}

/**
 * Spans as rows of at most `width` columns, broken anywhere: code keeps its blanks. `measure` counts the
 * columns of text.
 */
export function cutLine(spans: Line, width: number, measure: Measure = columnsOf): readonly Line[] {
  if (spans.reduce((sum, { text }) => sum + measure(text), 0) <= width) return [spans];
  const limit = Math.max(2, width);
  const rows: Span[][] = [[]];
  let room = limit;
  for (const { text, style } of spans) {
    for (const cluster of graphemes(text)) {
      for (const piece of measure(cluster) > limit ? cluster : [cluster]) {
        const columns = measure(piece);
        if (columns > room) {
          rows.push([]);
          room = limit;
        }
        room -= columns;
        rows.at(-1)?.push({ text: piece, style });
      }
    }
  }
  return rows.map((row) => joined(row));
}

interface Piece {
  readonly text: string;
  readonly style: Style;
  readonly columns: number;
  readonly blank: boolean;
}

export function wrapSpans(spans: Line, room: number): readonly WrappedRow[] {
  const rows: WrappedRow[] = [];
  let row: Piece[] = [];
  let columns = 0;
  let at = 0;
  const end = (): void => {
    while (row.at(-1)?.blank === true) row.pop();
    rows.push({ spans: joined(row), end: at });
    row = [];
    columns = 0;
  };
  const add = (piece: Piece): void => {
    row.push(piece);
    columns += piece.columns;
    at += piece.text.length;
  };
  for (const word of words(spans)) {
    const size = widthOf(word);
    if (columns + size <= room) {
      word.forEach(add);
    } else if (word[0]?.blank === true) {
      // A trailing blank serves as the row's line end; a long run of blanks counts as one.
      at += size;
      if (columns > 0) end();
    } else {
      if (columns > 0) end();
      for (const piece of size <= room ? word : word.flatMap(letters)) {
        if (columns + piece.columns > room) end();
        add(piece);
      }
    }
  }
  if (row.length > 0 || rows.length === 0) end();
  return rows;
}

function letters({ text, style }: Piece): readonly Piece[] {
  return graphemes(text).map((cluster) => ({
    text: cluster,
    style,
    columns: graphemeColumns(cluster),
    blank: false,
  }));
}

export function longestWord(spans: Line): number {
  let longest = 0;
  for (const word of words(spans)) longest = Math.max(longest, widthOf(word));
  return longest;
}

function widthOf(word: readonly Piece[]): number {
  return word.reduce((sum, { columns }) => sum + columns, 0);
}

/** The unbreakable parts: words with their punctuation, single wide letters, runs of blanks. */
function* words(spans: Line): Generator<readonly Piece[]> {
  let word: Piece[] = [];
  for (const { text, style } of spans) {
    for (const [part] of text.matchAll(PARTS)) {
      const piece: Piece = { text: part, style, columns: columnsOf(part), blank: part.startsWith(" ") };
      if (piece.blank || WIDE.test(part)) {
        // Closing punctuation stays with what it closes.
        if (CLOSING.test(part) && word.length > 0) {
          word.push(piece);
          continue;
        }
        if (word.length > 0) yield word;
        word = [];
        if (piece.blank) yield [piece];
        else word.push(piece);
        continue;
      }
      if (word.at(-1) !== undefined && WIDE.test(word.at(-1)?.text ?? "")) {
        yield word;
        word = [];
      }
      word.push(piece);
    }
  }
  if (word.length > 0) yield word;
}

/** Joined at once: strings concatenated piece by piece would keep every piece alive. */
function joined(pieces: readonly Span[]): Line {
  const spans: Span[] = [];
  let from = 0;
  for (const [index, { style }] of pieces.entries()) {
    if (pieces[index + 1]?.style === style) continue;
    const same = pieces.slice(from, index + 1);
    spans.push({ text: same.map(({ text }) => text).join(""), style });
    from = index + 1;
  }
  return spans;
}

function flat(text: string): string {
  return text.replaceAll("\t", "    ").replaceAll("\n", "␊");
}

function expandTabs(text: string): string {
  if (!text.includes("\t")) return text;
  let column = 0;
  return text
    .split(/(\t)/)
    .map((part) => {
      const shown = part === "\t" ? " ".repeat(4 - (column % 4)) : part;
      column += columnsOf(shown);
      return shown;
    })
    .join("");
}

const PRINTABLE = /^[\x20-\x7e]*$/;
const WIDE = /^[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/;
const CLOSING = /^[\u3001\u3002\uff0c\uff0e\uff01\uff1f\uff1a\uff1b\uff09\u300d\u300f\u3011\u300b]/;
const PARTS =
  / +|[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]|[^ \u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]+/gu;

/** Text on one line: each run of whitespace becomes one space. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** A line as written to a terminal; styles are reset at its end. */
export function paintLine(row: Line, look: Appearance): string {
  let out = "";
  let codes = "";
  let link = "";
  for (const each of row) {
    if (each.text === "") continue;
    const wanted = styleCodes(each.style, look);
    if (wanted !== codes) {
      out += wanted === "" ? "\u001B[m" : codes === "" ? `\u001B[${wanted}m` : `\u001B[0;${wanted}m`;
      codes = wanted;
    }
    const target = look.links ? safeLink(each.style.link) : "";
    if (target !== link) out += `\u001B]8;;${target}\u001B\\`;
    link = target;
    // The functions that make spans ensure this already; here it holds regardless of them.
    out += shownText(each, look).replaceAll(CONTROL, "\uFFFD");
  }
  if (link !== "") out += "\u001B]8;;\u001B\\";
  return codes === "" ? out : `${out}\u001B[m`;
}

const CONTROL = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** An address that is safe to give a terminal: web or file, printable ASCII; else nothing. */
function safeLink(link: string | undefined): string {
  return link !== undefined && link.length <= 2_000 && /^(?:https?|file|mailto):[!-~]+$/.test(link)
    ? link
    : "";
}
