import { withHiddenShown } from "../../../core/base/hidden-characters.ts";
import type { FileDiff } from "../../../view/file-diff.ts";
import { CodeHighlighter } from "../markdown/highlight.ts";
import { cutLine, type Line, type Span, span, textLines, type ViewContext } from "../paint/line.ts";
import type { Style } from "../paint/theme.ts";

/** Only the start of a longer line is shown. */
const MAX_CHARS = 2_000;
/** Lines with less in common are shown as wholly different. */
const MIN_COMMON = 0.4;

export interface DiffLook extends Pick<ViewContext, "width" | "marks"> {
  /** True if a person is asked about it: long lines in full, invisible characters by name. */
  readonly isAsked?: boolean;
}

/** A change's lines with numbers, removed and added ones, with the changed part of lines marked. */
export function diffLines(diff: FileDiff, context: DiffLook): readonly Line[] {
  const largest = Math.max(
    0,
    ...diff.hunks.map(({ oldStart, newStart, lines }) => Math.max(oldStart, newStart) + lines.length),
  );
  const digits = String(largest).length;
  const highlighter = new CodeHighlighter(endingOf(diff.path));
  return diff.hunks.flatMap((hunk, index) => {
    const plain = context.isAsked === true ? whole : beginning;
    const rows = hunkLines(hunk, { digits, width: context.width, highlighter, plain });
    return index === 0
      ? rows
      : [[span(`${" ".repeat(digits)} ${context.marks.more}`, { role: "muted" })], ...rows];
  });
}

function endingOf(path: string): string {
  return /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}

interface HunkLook {
  readonly digits: number;
  readonly width: number;
  readonly highlighter: CodeHighlighter;
  readonly plain: (text: string) => string;
}

function hunkLines(
  hunk: FileDiff["hunks"][number],
  { digits, width, highlighter, plain }: HunkLook,
): readonly Line[] {
  let oldNumber = hunk.oldStart;
  let newNumber = hunk.newStart;
  const { lines } = hunk;
  const rows: Line[] = [];
  const add = (number: number, sign: string, spans: Line): void => {
    for (const row of numbered(number, sign, spans, { digits, width })) rows.push(row);
  };
  for (let at = 0; at < lines.length; ) {
    const gone = run(lines, at, "-");
    const come = run(lines, at + gone.length, "+");
    const removed = gone.map((text, index) => apart(text, come[index], plain));
    const added = come.map((text, index) => apart(text, gone[index], plain));
    if (removed.length === 0 && added.length === 0) {
      const text = plain(lines[at]?.slice(1) ?? "");
      const spans = highlighter.peek(text);
      add(newNumber, " ", spans);
      oldNumber++;
      newNumber++;
      at++;
      continue;
    }
    const pairs = Math.min(removed.length, added.length);
    const changes = Array.from({ length: pairs }, (_, index) =>
      changedParts(removed[index] ?? "", added[index] ?? ""),
    );
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

/** A line as shown; with its tabs if nothing else tells it from the one it replaces. */
function apart(text: string, other: string | undefined, plain: HunkLook["plain"]): string {
  const shown = plain(text);
  if (other === undefined || text === other || shown !== plain(other)) return shown;
  return plain(text.replaceAll("\t", "→   "));
}

function run(lines: readonly string[], from: number, sign: string): readonly string[] {
  let end = from;
  while (lines[end]?.startsWith(sign) === true) end++;
  return lines.slice(from, end).map((each) => each.slice(1));
}

function beginning(text: string): string {
  return textLines(text.slice(0, MAX_CHARS)).join(" ");
}

/** The whole line: a carriage return in it overwrites nothing. */
function whole(text: string): string {
  const end = text.endsWith("\r") ? "\r" : "";
  return textLines(withHiddenShown(text.slice(0, text.length - end.length)) + end).join(" ");
}

function numbered(
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
  const kept = [...left.slice(0, start), ...left.slice(left.length - end)].join("").trim().length;
  if (kept < MIN_COMMON * Math.min(before.trim().length, after.trim().length)) return undefined;
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
