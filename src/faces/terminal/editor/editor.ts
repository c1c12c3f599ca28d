import { graphemeColumns, graphemes } from "../../text/columns.ts";
import { type Line, line, type Span, span } from "../paint/line.ts";
import type { Marks } from "../paint/theme.ts";

/** Text being written, with its caret. This file's functions return changed copies. */
export interface Editor {
  readonly text: string;
  /** Index of the caret, between graphemes. */
  readonly caret: number;
  /** Ctrl+Y inserts it. */
  readonly killed: string;
  /** The column of vertical movement. */
  readonly goal?: number | undefined;
  readonly past: readonly Snapshot[];
  readonly future: readonly Snapshot[];
  /** The kind of the last change: successive changes of one kind are a single undo step. */
  readonly last?: "type" | "kill" | "other" | undefined;
}

interface Snapshot {
  readonly text: string;
  readonly caret: number;
}

export const EMPTY_EDITOR: Editor = { text: "", caret: 0, killed: "", past: [], future: [] };

const MAX_PAST = 200;

export type EditCommand = keyof typeof COMMANDS;

export function isEditCommand(name: string): name is EditCommand {
  return Object.hasOwn(COMMANDS, name);
}

/** The editor after a command. Returns the same object if nothing changed. */
export function applyEdit(editor: Editor, command: EditCommand): Editor {
  return COMMANDS[command](editor);
}

const COMMANDS = {
  left: (editor: Editor): Editor => moveTo(editor, graphemeStart(editor)),
  right: (editor: Editor): Editor => moveTo(editor, graphemeEnd(editor)),
  "word-left": (editor: Editor): Editor => moveTo(editor, wordStart(editor)),
  "word-right": (editor: Editor): Editor => moveTo(editor, wordEnd(editor)),
  "line-start": (editor: Editor): Editor => moveTo(editor, lineStart(editor)),
  "line-end": (editor: Editor): Editor => moveTo(editor, lineEnd(editor)),
  up: (editor: Editor): Editor => moveRows(editor, -1),
  down: (editor: Editor): Editor => moveRows(editor, 1),
  "delete-left": (editor: Editor): Editor => remove(editor, graphemeStart(editor), editor.caret),
  "delete-right": (editor: Editor): Editor => remove(editor, editor.caret, graphemeEnd(editor)),
  "delete-word-left": (editor: Editor): Editor => kill(editor, blankWordLeft(editor), editor.caret),
  "delete-word-right": (editor: Editor): Editor => kill(editor, editor.caret, wordEnd(editor)),
  "kill-to-end": (editor: Editor): Editor => {
    const end = lineEnd(editor);
    return kill(editor, editor.caret, end === editor.caret ? graphemeEnd(editor) : end);
  },
  "kill-to-start": (editor: Editor): Editor => {
    const start = lineStart(editor);
    return kill(editor, start === editor.caret ? graphemeStart(editor) : start, editor.caret);
  },
  yank: (editor: Editor): Editor => insertText(editor, editor.killed),
  undo: (editor: Editor): Editor => restoreSnapshot(editor, "past"),
  redo: (editor: Editor): Editor => restoreSnapshot(editor, "future"),
  newline: (editor: Editor): Editor => insertText(editor, "\n"),
} as const;

export function insertText(editor: Editor, text: string): Editor {
  if (text === "") return editor;
  const caret = editor.caret + text.length;
  const isSameStep = editor.last === "type" && !/\s/.test(text) && text.length < 32;
  return withChange(
    editor,
    { text: editor.text.slice(0, editor.caret) + text + editor.text.slice(editor.caret), caret },
    isSameStep ? "type" : "type-new",
  );
}

export function replaceRange(
  editor: Editor,
  range: { readonly from: number; readonly to: number },
  text: string,
): Editor {
  const { from, to } = range;
  return withChange(
    editor,
    { text: editor.text.slice(0, from) + text + editor.text.slice(to), caret: from + text.length },
    "other",
  );
}

/** Replaces the whole text, with the caret at the end; undo restores the old one. */
export function replaceText(editor: Editor, text: string): Editor {
  if (text === editor.text) return moveTo(editor, text.length);
  return withChange(editor, { text, caret: text.length }, "other");
}

/** Position of the caret: line and index in it, both from 0, and the number of lines. */
export function caretLine({ text, caret }: Pick<Editor, "text" | "caret">): {
  readonly line: number;
  readonly column: number;
  readonly lines: number;
} {
  const before = text.slice(0, caret).split("\n");
  return { line: before.length - 1, column: before.at(-1)?.length ?? 0, lines: text.split("\n").length };
}

function moveTo(editor: Editor, caret: number): Editor {
  return caret === editor.caret ? editor : { ...editor, caret, goal: undefined, last: undefined };
}

function moveRows(editor: Editor, by: number): Editor {
  const { text, caret } = editor;
  const lines = text.split("\n");
  const { line, column } = caretLine(editor);
  const next = lines[line + by];
  if (next === undefined) return editor;
  const goal = editor.goal ?? graphemes((lines[line] ?? "").slice(0, column)).length;
  const offset = graphemes(next).slice(0, goal).join("").length;
  const start = lines.slice(0, line + by).reduce((sum, each) => sum + each.length + 1, 0);
  const moved = start + offset;
  return moved === caret ? editor : { ...editor, caret: moved, goal, last: undefined };
}

function graphemeStart({ text, caret }: Editor): number {
  const marker = MARKER_BEFORE.exec(text.slice(0, caret))?.[0];
  if (marker !== undefined) return caret - marker.length;
  return caret - (graphemes(text.slice(Math.max(0, caret - 64), caret)).at(-1)?.length ?? 0);
}

function graphemeEnd({ text, caret }: Editor): number {
  const marker = MARKER_AFTER.exec(text.slice(caret, caret + 80))?.[0];
  return caret + (marker?.length ?? graphemes(text.slice(caret, caret + 64))[0]?.length ?? 0);
}

function lineStart({ text, caret }: Editor): number {
  return text.lastIndexOf("\n", caret - 1) + 1;
}

function lineEnd({ text, caret }: Editor): number {
  const end = text.indexOf("\n", caret);
  return end < 0 ? text.length : end;
}

/** Words of letters and digits; in Chinese and similar scripts as segmented by `Intl`. */
function wordStart({ text, caret }: Editor): number {
  let start = 0;
  for (const { index, isWordLike } of LAZY.words.segment(text.slice(0, caret)))
    if (isWordLike === true) start = index;
  return start;
}

function wordEnd({ text, caret }: Editor): number {
  for (const { index, segment, isWordLike } of LAZY.words.segment(text.slice(caret)))
    if (isWordLike === true) return caret + index + segment.length;
  return text.length;
}

function blankWordLeft({ text, caret }: Editor): number {
  const found = /\S*\s*$/.exec(text.slice(0, caret));
  return found === null ? caret : found.index;
}

function remove(editor: Editor, from: number, to: number): Editor {
  if (from === to) return editor;
  return withChange(
    editor,
    { text: editor.text.slice(0, from) + editor.text.slice(to), caret: from },
    "other",
  );
}

function kill(editor: Editor, from: number, to: number): Editor {
  if (from === to) return editor;
  const part = editor.text.slice(from, to);
  const killed =
    editor.last !== "kill" ? part : from < editor.caret ? part + editor.killed : editor.killed + part;
  return {
    ...withChange(editor, { text: editor.text.slice(0, from) + editor.text.slice(to), caret: from }, "kill"),
    killed,
  };
}

function withChange(editor: Editor, now: Snapshot, how: "type" | "type-new" | "kill" | "other"): Editor {
  const { text, caret, past } = editor;
  return {
    ...now,
    killed: editor.killed,
    past: how === "type" ? past : [...past.slice(-MAX_PAST), { text, caret }],
    future: [],
    last: how === "type-new" ? "type" : how,
  };
}

function restoreSnapshot(editor: Editor, way: "past" | "future"): Editor {
  const to = editor[way].at(-1);
  if (to === undefined) return editor;
  const here = { text: editor.text, caret: editor.caret };
  const [past, future] =
    way === "past"
      ? [editor.past.slice(0, -1), [...editor.future, here]]
      : [[...editor.past, here], editor.future.slice(0, -1)];
  return { ...to, killed: editor.killed, past, future, last: undefined };
}

/** The marker of a paste or image counts as one character. */
const MARKER_BEFORE = /\[(?:pasted \d+ (?:lines|characters)|image)(?: #\d+)?\]$/;
const MARKER_AFTER = /^\[(?:pasted \d+ (?:lines|characters)|image)(?: #\d+)?\]/;

const LAZY = {
  get words(): Intl.Segmenter {
    const value = new Intl.Segmenter("en", { granularity: "word" });
    Object.defineProperty(this, "words", { value });
    return value;
  },
};

export interface EditorView {
  readonly width: number;
  /** Maximum rows shown; of more, those around the caret. */
  readonly maxRows: number;
  /** Stands before the first row, and as blanks before the others. */
  readonly prompt: Span;
  readonly placeholder: string;
  readonly marks: Marks;
}

export interface EditorRows {
  readonly rows: readonly Line[];
  readonly caret: { readonly row: number; readonly column: number };
}

/** Lays text out: wrapped at the width, with the caret always in its own cell. */
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

function layOut(
  text: string,
  caret: number,
  room: number,
): { readonly rows: readonly string[]; readonly at: { readonly row: number; readonly column: number } } {
  const rows: string[] = [];
  let at = { row: 0, column: 0 };
  let offset = 0;
  for (const part of text.split("\n")) {
    let row = "";
    let columns = 0;
    for (const cluster of graphemes(part)) {
      const shown = cluster === "\t" ? "    " : cluster;
      const size = cluster === "\t" ? 4 : graphemeColumns(cluster);
      // A row is never quite full: the caret after its last character needs a cell.
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
