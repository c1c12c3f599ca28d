import { revealInvisible } from "../../../core/base/hidden-characters.ts";
import type { FileDiff } from "../../../view/file-diff.ts";
import { CodeHighlighter } from "../markdown/highlight.ts";
import { cutLine, type Line, type Span, span, textLines, type ViewContext } from "../paint/line.ts";
import type { Style } from "../paint/theme.ts";

const MAX_CHARS = 2_000;
/** Share of equal characters below which no parts are highlighted. */
const MIN_COMMON = 0.4;

export interface DiffOptions extends Pick<ViewContext, "width" | "marks"> {
  /** True if a person is asked about it: long lines in full, invisible characters by name. */
  readonly isAsked?: boolean;
}

/** Numbered removed and added lines, with the changed parts of each highlighted. */
export function diffLines(diff: FileDiff, context: DiffOptions): readonly Line[] {
  const lastNumber = Math.max(
    0,
    ...diff.hunks.map(({ oldStart, newStart, lines }) => Math.max(oldStart, newStart) + lines.length),
  );
  const digits = String(lastNumber).length;
  const highlighter = new CodeHighlighter(extensionOf(diff.path));
  return diff.hunks.flatMap((hunk, index) => {
    const toText = context.isAsked === true ? wholeLine : lineStart;
    const rows = hunkLines(hunk, { digits, width: context.width, highlighter, toText });
    return index === 0
      ? rows
      : [[span(`${" ".repeat(digits)} ${context.marks.more}`, { role: "muted" })], ...rows];
  });
}

function extensionOf(path: string): string {
  return /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}

interface HunkLook {
  readonly digits: number;
  readonly width: number;
  readonly highlighter: CodeHighlighter;
  readonly toText: (text: string) => string;
}

function hunkLines(
  hunk: FileDiff["hunks"][number],
  { digits, width, highlighter, toText }: HunkLook,
): readonly Line[] {
  let oldNumber = hunk.oldStart;
  let newNumber = hunk.newStart;
  const { lines } = hunk;
  const rows: Line[] = [];
  const add = (number: number, sign: string, spans: Line): void => {
    for (const row of numberedRows(number, sign, spans, { digits, width })) rows.push(row);
  };
  for (let at = 0; at < lines.length; ) {
    const oldLines = linesWithSign(lines, at, "-");
    const newLines = linesWithSign(lines, at + oldLines.length, "+");
    const removed = oldLines.map((text, index) => distinctText(text, newLines[index], toText));
    const added = newLines.map((text, index) => distinctText(text, oldLines[index], toText));
    if (removed.length === 0 && added.length === 0) {
      const text = toText(lines[at]?.slice(1) ?? "");
      const spans = highlighter.peek(text);
      add(newNumber, " ", spans);
      oldNumber++;
      newNumber++;
      at++;
      continue;
    }
    const changes = removed
      .slice(0, added.length)
      .map((text, index) => changedParts(text, added[index] ?? ""));
    for (const [index, text] of removed.entries()) {
      const spans = changes[index]?.removed ?? [span(text, { role: "removed" })];
      add(oldNumber++, "-", spans);
    }
    for (const [index, text] of added.entries()) {
      const spans = changes[index]?.added ?? [span(text, { role: "added" })];
      add(newNumber++, "+", spans);
    }
    at += removed.length + added.length;
  }
  return rows;
}

/** Tabs become visible if the line otherwise looks like the one it replaces. */
function distinctText(text: string, other: string | undefined, toText: HunkLook["toText"]): string {
  const shown = toText(text);
  if (other === undefined || text === other || shown !== toText(other)) return shown;
  return toText(text.replaceAll("\t", "→   "));
}

function linesWithSign(lines: readonly string[], from: number, sign: string): readonly string[] {
  let end = from;
  while (lines[end]?.startsWith(sign) === true) end++;
  return lines.slice(from, end).map((each) => each.slice(1));
}

function lineStart(text: string): string {
  return textLines(text.slice(0, MAX_CHARS)).join(" ");
}

/** A carriage return overwrites nothing here. */
function wholeLine(text: string): string {
  const end = text.endsWith("\r") ? "\r" : "";
  return textLines(revealInvisible(text.slice(0, text.length - end.length)) + end).join(" ");
}

function numberedRows(
  number: number,
  sign: string,
  spans: Line,
  { digits, width }: Pick<HunkLook, "digits" | "width">,
): readonly Line[] {
  const role = sign === "+" ? "added" : sign === "-" ? "removed" : "muted";
  const room = Math.max(4, width - digits - 3);
  return cutLine(spans, room).map((row, index) => [
    span(`${(index === 0 ? String(number) : "").padStart(digits)} `, { role: "muted" }),
    span(index === 0 ? `${sign} ` : "  ", { role }),
    ...row,
  ]);
}

function changedParts(
  before: string,
  after: string,
): { readonly removed: Line; readonly added: Line } | undefined {
  const [left, right] = [wordsOf(before), wordsOf(after)];
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  let end = 0;
  while (end < Math.min(left.length, right.length) - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  const common = [...left.slice(0, start), ...left.slice(left.length - end)].join("").trim().length;
  if (common < MIN_COMMON * Math.min(before.trim().length, after.trim().length)) return undefined;
  const parts = (words: readonly string[], role: "removed" | "added"): Line => {
    const plainStyle: Style = { role };
    const changed: Style = { role: role === "added" ? "added-part" : "removed-part" };
    const spans: readonly Span[] = [
      span(words.slice(0, start).join(""), plainStyle),
      span(words.slice(start, words.length - end).join(""), changed),
      span(words.slice(words.length - end).join(""), plainStyle),
    ];
    return spans.filter(({ text }) => text !== "");
  };
  return { removed: parts(left, "removed"), added: parts(right, "added") };
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? [];
}
