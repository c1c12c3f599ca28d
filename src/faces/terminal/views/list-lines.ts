import { columnsOf } from "../../text/columns.ts";
import { fitLine, type Line, line, lineColumns, oneLine, type Span, span } from "../paint/line.ts";
import type { Marks, Role } from "../paint/theme.ts";

export interface ListRow {
  readonly label: string;
  readonly mark?: Span | undefined;
  readonly note?: string | Line | undefined;
  readonly end?: string | undefined;
  /** Heading above consecutive rows with the same value. */
  readonly group?: string | undefined;
  readonly isDim?: boolean | undefined;
}

export interface ListOptions {
  readonly selected: number;
  readonly maxRows: number;
  readonly width: number;
  readonly marks: Marks;
}

export function keysLine(
  keys: readonly string[],
  { marks, width }: Pick<ListOptions, "marks" | "width">,
): Line {
  return fitLine(line(`  ${keys.join(` ${marks.dot} `)}`, { role: "muted" }), width);
}

/** Wider lists are harder to read across. */
const MAX_COLUMNS = 100;

/** Rows around the marked one, under the headings of their groups; a count if not all of them fit. */
export function listLines(
  rows: readonly ListRow[],
  { selected, maxRows, width, marks }: ListOptions,
): readonly Line[] {
  const whole = layOut(rows, { selected, width: Math.min(width, MAX_COLUMNS), marks });
  if (whole.length <= maxRows) return whole.map(({ row }) => row);
  const room = Math.max(1, maxRows - 1);
  const at = whole.findIndex(({ index }) => index === selected);
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), whole.length - room));
  const count = line(`  ${selected + 1} of ${rows.length}`, { role: "muted" });
  return [...whole.slice(first, first + room).map(({ row }) => row), count];
}

interface ListedRow {
  readonly row: Line;
  /** Undefined for a heading. */
  readonly index?: number;
}

function layOut(
  rows: readonly ListRow[],
  { selected, width, marks }: Omit<ListOptions, "maxRows">,
): readonly ListedRow[] {
  const ends = Math.max(0, ...rows.map(({ end = "" }) => columnsOf(end)));
  const column = columnOfNotes(rows, width, ends);
  return rows.flatMap(({ label, mark, note, end = "", isDim = false }, index): readonly ListedRow[] => {
    const isMarked = index === selected;
    const head: Line = [
      span(`${isMarked ? marks.chosen : " "} `, { role: "accent" }),
      ...(mark === undefined ? [] : [mark, span(" ")]),
      span(oneLine(label), isMarked ? { bold: true } : isDim ? { role: "muted" } : {}),
    ];
    const text = typeof note === "string" ? [span(oneLine(note), { role: "muted" })] : (note ?? []);
    const left = lineColumns(text) > 0 && column < width - 4 ? [...padTo(head, column), ...text] : head;
    const row =
      ends === 0 || width < ends + 20
        ? fitLine(left, width)
        : [...padTo(left, width - ends - 2), span(end.padStart(ends), { role: "muted" })];
    return [...heading(rows, index), { row, index }];
  });
}

function heading(rows: readonly ListRow[], index: number): readonly ListedRow[] {
  const group = rows[index]?.group;
  if (group === undefined || group === rows[index - 1]?.group) return [];
  return [...(index === 0 ? [] : [{ row: [] }]), { row: line(`  ${group}`, { role: "muted" }) }];
}

/** The column where notes are aligned: after the longest label, or in the middle. */
function columnOfNotes(rows: readonly ListRow[], width: number, ends: number): number {
  const labels = rows.map(({ label, mark }) => columnsOf(oneLine(label)) + (mark === undefined ? 0 : 2));
  const notes = rows.map(({ note = "" }) => (typeof note === "string" ? columnsOf(note) : lineColumns(note)));
  const room = width - Math.max(...notes, 0) - (ends === 0 ? 0 : ends + 4);
  return Math.min(Math.max(...labels, 0) + 4, Math.max(Math.floor(width / 2), room));
}

/** Exactly `columns` wide, the last two blank. */
function padTo(row: Line, columns: number): Line {
  const fitted = fitLine(row, Math.max(1, columns - 2));
  return [...fitted, span(" ".repeat(Math.max(0, columns - lineColumns(fitted))))];
}

const BARS = "▁▂▅█";
const ROLES: { readonly [kind: string]: Role } = {
  l: "muted",
  b: "trace-ran",
  e: "trace-edit",
  w: "warning",
  f: "bad",
};

/**
 * The trace of a session: one bar per step, its height the time, its colour the activity. `trace` has two
 * letters per step. Empty if the characters are unavailable.
 */
export function traceLine(trace: string, marks: Marks): Line {
  if (marks.full !== "█") return [];
  return [...trace.matchAll(/([a-z])(\d)/g)].map(([, kind = "l", height = "1"]) =>
    span(BARS[Number(height) - 1] ?? "▁", { role: ROLES[kind] ?? "muted" }),
  );
}
