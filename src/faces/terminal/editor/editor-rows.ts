import { graphemeColumns, graphemes } from "../../text/columns.ts";
import { type Line, line, type Span, span } from "../paint/line.ts";
import type { Marks } from "../paint/theme.ts";
import type { Editor } from "./editor.ts";

/** How an editor is shown. */
export interface EditorView {
  readonly width: number;
  /** Most rows; of more, those around the caret are shown. */
  readonly maxRows: number;
  /** Stands before the first row and, as blanks, before the others. */
  readonly prompt: Span;
  readonly placeholder: string;
  readonly marks: Marks;
}

/** The rows of an editor, and where in them the caret is. */
export interface EditorRows {
  readonly rows: readonly Line[];
  readonly caret: { readonly row: number; readonly column: number };
}

/** Lays a text out: broken where the width ends, the caret always on a cell of its own. */
export function editorRows({ text, caret }: Pick<Editor, "text" | "caret">, view: EditorView): EditorRows {
  const { width, maxRows, prompt, placeholder, marks } = view;
  const indent = Math.min(graphemeColumnsOf(prompt.text), Math.max(0, width - 3));
  const room = Math.max(2, width - indent);
  const { rows, at } = layOut(text, caret, room);
  const first = Math.max(0, Math.min(at.row - Math.floor(maxRows / 2), rows.length - maxRows));
  const shown = rows.slice(first, first + maxRows);
  const left = " ".repeat(indent);
  const lines = shown.map((row, index): Line => {
    const lead =
      first + index === 0
        ? { ...prompt, text: prompt.text.slice(0, indent) }
        : span(index === 0 ? marks.up.padEnd(indent).slice(0, indent) : left);
    return [lead, ...markers(row)];
  });
  if (text === "" && placeholder !== "")
    lines[0] = [...(lines[0] ?? []), span(placeholder.slice(0, room - 1), { role: "muted" })];
  return { rows: lines, caret: { row: at.row - first, column: indent + at.column } };
}

interface EditorLayout {
  readonly rows: readonly string[];
  readonly at: { readonly row: number; readonly column: number };
}

function layOut(text: string, caret: number, room: number): EditorLayout {
  const rows: string[] = [];
  let at = { row: 0, column: 0 };
  let offset = 0;
  for (const part of text.split("\n")) {
    let row = "";
    let columns = 0;
    for (const cluster of graphemes(part)) {
      const shown = cluster === "\t" ? "    " : cluster;
      const size = cluster === "\t" ? 4 : graphemeColumns(cluster);
      // A row is never quite full: the caret behind its last character needs a cell.
      if (columns + size > room - 1) {
        rows.push(row);
        row = "";
        columns = 0;
      }
      if (offset === caret) at = { row: rows.length, column: columns };
      row += shown;
      columns += size;
      offset += cluster.length;
    }
    if (offset === caret) at = { row: rows.length, column: columns };
    rows.push(row);
    offset += 1;
  }
  return { rows, at };
}

function markers(row: string): Line {
  if (!row.includes("[")) return line(row);
  return row.split(MARKER).map((part) => span(part, MARKER_WHOLE.test(part) ? { role: "accent" } : {}));
}

function graphemeColumnsOf(text: string): number {
  return graphemes(text).reduce((sum, cluster) => sum + graphemeColumns(cluster), 0);
}

const MARKER = /(\[(?:pasted \d+ (?:lines|characters)|image)(?: #\d+)?\])/;
const MARKER_WHOLE = new RegExp(`^${MARKER.source}$`);
