import { check, ownSchema, STRING } from "../../core/base/check.ts";
import { clipped } from "../../core/base/text.ts";
import { BOM, inLineEnding, type LineEnding, lineEndingAt, uniformLineEnding } from "../files/file-text.ts";
import { describeNearestLines } from "./describe-nearest-lines.ts";

/** One replacement in a text. */
export interface Edit {
  /** The text to find. Must be there exactly once, unless `replace_all`. */
  readonly old_string: string;
  /** The text in its place, taken literally (`$&` is two characters). */
  readonly new_string: string;
  /** Replace every exact occurrence. Default false. */
  readonly replace_all?: boolean;
}

/** Why edits cannot be applied. */
export type EditErrorKind = "no_edits" | "empty_old" | "identical" | "not_found" | "multiple" | "overlap";

/** The first thing wrong with a list of edits. `message` tells the model what, where and what to do. */
export interface EditError {
  readonly kind: EditErrorKind;
  readonly message: string;
}

export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type EditPlan = { readonly replacements: readonly Replacement[] } | { readonly error: EditError };

/** Finds every place the edits change. Offsets are those of `before`, its byte order mark included. */
export function planEdits(before: string, edits: readonly Edit[]): EditPlan {
  if (edits.length === 0) {
    return {
      error: { kind: "no_edits", message: "edits is empty. Give at least one { old_string, new_string }." },
    };
  }
  const text = new EditedText(before);
  const planned: PlannedReplacement[] = [];
  for (const [index, edit] of edits.entries()) {
    const found = validate(edit) ?? replacementsOf(text, edit);
    if ("kind" in found) return { error: atEdit(found, index, edits.length) };
    for (const replacement of found) planned.push({ ...replacement, edit: index });
  }
  if (edits.length > 1) planned.sort((a, b) => a.start - b.start || a.edit - b.edit);
  const error = overlapIn(text, planned);
  return error === undefined ? { replacements: planned } : { error };
}

const MAX_LISTED_MATCHES = 10;
const MAX_COUNTED_MATCHES = 1000;

interface PlannedReplacement extends Replacement {
  readonly edit: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

class EditedText {
  readonly text: string;
  /** Length of the byte order mark: matches never reach into it. */
  readonly bodyStart: number;
  #folded: FoldedText | undefined;
  #ending: { readonly uniform: LineEnding | undefined } | undefined;

  constructor(text: string) {
    this.text = text;
    this.bodyStart = text.startsWith(BOM) ? 1 : 0;
  }

  get folded(): FoldedText {
    this.#folded ??= foldText(this.text);
    return this.#folded;
  }

  get uniformEnding(): LineEnding | undefined {
    this.#ending ??= { uniform: uniformLineEnding(this.text) };
    return this.#ending.uniform;
  }

  lineAt(offset: number): number {
    return linesAt(this.text, [offset])[0] ?? 1;
  }
}

function validate(edit: Edit): EditError | undefined {
  if (edit.old_string === "" || edit.old_string === BOM) {
    const message =
      "old_string is empty. Quote the text to replace; to insert, quote the text next to the place; use write for a new file.";
    return { kind: "empty_old", message };
  }
  if (edit.old_string === edit.new_string) {
    return {
      kind: "identical",
      message: "old_string and new_string are the same: there is nothing to change.",
    };
  }
  return undefined;
}

function replacementsOf(text: EditedText, edit: Edit): readonly Replacement[] | EditError {
  const ranges = findRanges(text, edit);
  if ("kind" in ranges) return ranges;
  const replacements = ranges.map((range) => ({ ...range, text: insertedText(text, range, edit) }));
  if (replacements.every(({ start, end, text: inserted }) => text.text.slice(start, end) === inserted)) {
    const line = text.lineAt(replacements[0]?.start ?? 0);
    return {
      kind: "identical",
      message: `new_string is what line ${line} already says (line ends are kept): there is nothing to change.`,
    };
  }
  return replacements;
}

function findRanges(text: EditedText, edit: Edit): readonly Range[] | EditError {
  for (const wanted of exactSpellings(text, edit.old_string)) {
    const starts = occurrences(text.text, wanted, {
      from: text.bodyStart,
      overlapping: edit.replace_all !== true,
    });
    if (starts.length > 1 && edit.replace_all !== true) {
      return multiple(text, starts, "Add lines around it until it is unique, or set replace_all.");
    }
    if (starts.length > 0) return starts.map((start) => exactRange(text, start, wanted));
  }
  return foldedRange(text, edit.old_string);
}

/** The ways to write `old` for someone who sees neither line ends nor byte order marks. */
function exactSpellings(text: EditedText, old: string): readonly string[] {
  const spellings = new Set([old]);
  const body = old.startsWith(BOM) ? old.slice(1) : old;
  spellings.add(body);
  const ending = text.uniformEnding;
  if (ending !== undefined && body.includes("\n")) spellings.add(inLineEnding(body, ending));
  return [...spellings];
}

function occurrences(
  text: string,
  wanted: string,
  options: { readonly from: number; readonly overlapping: boolean },
): readonly number[] {
  const starts: number[] = [];
  const step = options.overlapping ? 1 : wanted.length;
  for (let at = text.indexOf(wanted, options.from); at !== -1; at = text.indexOf(wanted, at + step)) {
    starts.push(at);
    if (options.overlapping && starts.length > MAX_COUNTED_MATCHES) break;
  }
  return starts;
}

/** A match that begins with the LF of a CR LF takes the CR too: no half line end is left. */
function exactRange(text: EditedText, start: number, wanted: string): Range {
  const splitsLineEnd = wanted.startsWith("\n") && start > text.bodyStart && text.text[start - 1] === "\r";
  return { start: splitsLineEnd ? start - 1 : start, end: start + wanted.length };
}

function foldedRange(text: EditedText, old: string): readonly Range[] | EditError {
  const body = old.startsWith(BOM) ? old.slice(1) : old;
  const wanted = foldText(body);
  // A text of nothing but blanks and line ends would match any line end.
  if (wanted.text.trim() === "") return notFound(text, old);
  const endsInBlanks = isTrailing(body.charCodeAt(body.length - 1));
  const { text: folded, offsets } = text.folded;
  const starts = occurrences(folded, wanted.text, { from: text.bodyStart, overlapping: true }).filter(
    (start) => !endsInBlanks || atLineEnd(folded, start + wanted.text.length),
  );
  const [start] = starts;
  if (start === undefined) return notFound(text, old);
  if (starts.length > 1) {
    const hint =
      "It matches only when blanks, line ends, quotes and dashes are not told apart: copy the one place exactly, with lines around it.";
    return multiple(
      text,
      starts.map((at) => offsets[at] ?? 0),
      hint,
    );
  }
  const last = offsets[start + wanted.text.length - 1] ?? 0;
  let end = last + (text.text.startsWith("\r\n", last) ? 2 : 1);
  if (endsInBlanks) while (isBlank(text.text.charCodeAt(end))) end++;
  let begin = offsets[start] ?? 0;
  if (startsWithBlankEnd(body))
    while (begin > text.bodyStart && isBlank(text.text.charCodeAt(begin - 1))) begin--;
  return [{ start: begin, end }];
}

function startsWithBlankEnd(text: string): boolean {
  return isBlank(text.charCodeAt(0)) && /^[^\S\n]+\n/u.test(text);
}

function isTrailing(code: number): boolean {
  return code === 13 || isBlank(code);
}

function atLineEnd(folded: string, at: number): boolean {
  return at === folded.length || folded[at] === "\n";
}

function insertedText(text: EditedText, range: Range, edit: Edit): string {
  const addsMark =
    edit.new_string.startsWith(BOM) && (range.start === text.bodyStart || edit.old_string.startsWith(BOM));
  const inserted = addsMark ? edit.new_string.slice(1) : edit.new_string;
  if (!inserted.includes("\n")) return inserted;
  const ending = text.uniformEnding ?? lineEndingAround(text.text, range);
  return ending === undefined ? inserted : inLineEnding(inserted, ending);
}

function multiple(text: EditedText, starts: readonly number[], hint: string): EditError {
  const listed = starts.slice(0, MAX_LISTED_MATCHES);
  const lines = linesAt(text.text, listed).join(", ");
  const count = starts.length > MAX_COUNTED_MATCHES ? `more than ${MAX_COUNTED_MATCHES}` : starts.length;
  const more = starts.length > listed.length ? ", …" : "";
  const message = `old_string is in the file ${count} times, at lines ${lines}${more}. ${hint}`;
  return { kind: "multiple", message };
}

/** The numbers of the lines at offsets, which are sorted. */
function linesAt(text: string, offsets: readonly number[]): readonly number[] {
  const lines: number[] = [];
  let line = 1;
  let newline = text.indexOf("\n");
  for (const offset of offsets) {
    for (; newline !== -1 && newline < offset; newline = text.indexOf("\n", newline + 1)) line++;
    lines.push(line);
  }
  return lines;
}

function notFound(text: EditedText, old: string): EditError {
  return {
    kind: "not_found",
    message: `old_string is not in the file. ${describeNearestLines(text.text.slice(text.bodyStart), old)}`,
  };
}

function overlapIn(text: EditedText, planned: readonly PlannedReplacement[]): EditError | undefined {
  for (const [index, next] of planned.entries()) {
    const previous = planned[index - 1];
    if (previous === undefined || previous.end <= next.start) continue;
    const [first, second] = [previous.edit, next.edit].sort((a, b) => a - b);
    const line = text.lineAt(next.start);
    const message = `edits[${first}] and edits[${second}] change the same text at line ${line}. All edits refer to the file as it was: join them into one edit.`;
    return { kind: "overlap", message };
  }
  return undefined;
}

function atEdit(error: EditError, index: number, count: number): EditError {
  return count === 1 ? error : { kind: error.kind, message: `edits[${index}]: ${error.message}` };
}

/** The line ending nearest to a range: the first inside, else the next after, else the last before. */
function lineEndingAround(
  text: string,
  range: { readonly start: number; readonly end: number },
): LineEnding | undefined {
  const after = text.indexOf("\n", range.start);
  return lineEndingAt(text, after === -1 ? text.lastIndexOf("\n", range.start) : after);
}

/** A text without its invisible and typographic variants, and the way back to the original. */
interface FoldedText {
  /** Quotes, dashes and blanks as ASCII, line ends as LF, no blanks before a line end or the end. */
  readonly text: string;
  /** Where `text[i]` starts in the original, a line end at its CR. One more entry than `text` has. */
  readonly offsets: Uint32Array;
}

/** Folds `text`. Every unit of the result stands for exactly one unit (or CR LF) of the original. */
function foldText(text: string): FoldedText {
  let plain = text;
  for (const [variants, ascii] of VARIANTS) plain = plain.replace(variants, ascii);
  const offsets = new Uint32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  let at = 0;
  for (const { 0: gap, index } of plain.matchAll(LINE_ENDS)) {
    parts.push(plain.slice(at, index));
    while (at < index) offsets[length++] = at++;
    at = index + gap.length;
    if (!gap.endsWith("\n")) continue;
    parts.push("\n");
    offsets[length++] = at - (gap.endsWith("\r\n") ? 2 : 1);
  }
  offsets[length] = text.length;
  return { text: parts.join(""), offsets: offsets.subarray(0, length + 1) };
}

/** True for a tab, a space and the Unicode blanks (zero-width characters are none). */
function isBlank(code: number): boolean {
  return code === 9 || code === 32 || BLANK.test(String.fromCharCode(code));
}

/** Blanks beyond ASCII. */
const BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

/** Each is one unit, as is what stands for it. */
const VARIANTS: readonly (readonly [variants: RegExp, ascii: string])[] = [
  [new RegExp(BLANK, "g"), " "],
  [/[\u2018-\u201b\u2032\uff07]/g, "'"],
  [/[\u201c-\u201f\u2033\uff02]/g, '"'],
  [/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, "-"],
];

/** Ends of lines, and of the text, with the blanks before them. Looks at no blank twice. */
const LINE_ENDS = /(?<![ \t\r])[ \t\r]*(?:\n|$)/g;

/** The numbered lines of `after` that sorted `replacements` touched, with two around each; at most 60. */
export function editedSnippet(after: string, replacements: readonly Replacement[]): string {
  const lines = after.replace(/^\uFEFF/u, "").split(/\r?\n/u);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const shown: string[] = [];
  let next = 1;
  for (const { first, last } of changedLines(after, replacements.slice(0, MAX_RANGES))) {
    if (next > 1 && first > next) shown.push("   ...");
    for (let line = Math.max(first, next); line <= last && shown.length < MAX_LINES; line++) {
      const text = lines[line - 1];
      if (text !== undefined)
        shown.push(`${String(line).padStart(6)}\t${clipped(text, MAX_LINE_CHARS).toWellFormed()}`);
    }
    next = Math.max(next, last + 1);
  }
  if (shown.length >= MAX_LINES || replacements.length > MAX_RANGES)
    shown.push("   ... (further changed lines not shown)");
  return shown.join("\n");
}

const CONTEXT = 2;
const MAX_RANGES = 20;
const MAX_LINES = 60;
const MAX_LINE_CHARS = 200;

function changedLines(
  after: string,
  replacements: readonly Replacement[],
): readonly { readonly first: number; readonly last: number }[] {
  let shift = 0;
  return replacements.map(({ start, end, text }) => {
    const [first = 1, last = 1] = linesAt(after, [start + shift, start + shift + text.length]);
    shift += text.length - (end - start);
    return { first: Math.max(1, first - CONTEXT), last: last + CONTEXT };
  });
}

/**
 * Applies all edits, or none. Every edit refers to `before`, not to what an earlier edit made of it.
 *
 * An `old_string` is looked for exactly, then with the line ends of the text, then folded: blanks at line
 * ends, CR LF against LF, and Unicode quotes, dashes and blanks do not count. A folded match must be the only
 * one. Nothing outside a match changes: a byte order mark stays as it is, and line ends in a `new_string`
 * become those of the text (in a text with both kinds, those around the match).
 */
export function applyEdits(
  before: string,
  edits: readonly Edit[],
): { readonly after: string } | { readonly error: EditError } {
  check(before, STRING, "before");
  check(edits, EDITS, "edits");
  const plan = planEdits(before, edits);
  return "error" in plan ? { error: plan.error } : { after: splice(before, plan.replacements) };
}

const EDITS = ownSchema({
  type: "array",
  items: {
    type: "object",
    properties: { old_string: STRING.schema, new_string: STRING.schema },
    required: ["old_string", "new_string"],
  },
});

export function splice(before: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let position = 0;
  for (const { start, end, text } of replacements) {
    parts.push(before.slice(position, start), text);
    position = end;
  }
  parts.push(before.slice(position));
  return parts.join("");
}
