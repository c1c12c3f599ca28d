import { check, optionSchema, STRING_SCHEMA } from "../../core/base/check-options.ts";
import { commonPrefixLength, pluralize, truncateEnd } from "../../core/base/text.ts";
import { BOM, type LineEnding, lineEndingAt, uniformLineEnding, withLineEnding } from "../files/file-text.ts";

/** The lines most similar to text that was not found, and the difference. Work and message are bounded. */
export function describeNearestLines(text: string, wanted: string): string {
  const wantedLines = wanted.split(/\r?\n/u, MAX_WANTED_LINES);
  if (hasLineNumbers(wantedLines)) {
    return "It begins its lines with line numbers: leave out the numbers and the tab that read puts in front.";
  }
  const lines = text.slice(0, MAX_SEARCHED_CHARS).split(/\r?\n/u, MAX_SEARCHED_LINES);
  const start = startOfNearest(lines, wantedLines);
  if (start === undefined) return noSimilarLineText(lines);
  const first = Math.max(start, 0);
  const shown = lines.slice(first, Math.min(start + wantedLines.length, first + MAX_SHOWN_LINES));
  const listing = shown.map((line, index) => `${String(first + index + 1).padStart(6)}\t${clip(line, 0)}`);
  return `The nearest text is:\n${listing.join("\n")}\n${firstDifference(lines, wantedLines, start)}`;
}

/** Shows a file of a few lines whole, as nothing in it is nearer. */
function noSimilarLineText(lines: readonly string[]): string {
  const real = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  const has = `No line is similar to it (the file has ${pluralize(real.length, "line")})`;
  if (real.length === 0 || real.length > MAX_SHOWN_LINES)
    return `${has}. Read the file again and copy the text exactly.`;
  const listing = real.map((line, index) => `${String(index + 1).padStart(6)}\t${clip(line, 0)}`);
  return `${has}:\n${listing.join("\n")}\nCopy the text exactly from there.`;
}

const MAX_SEARCHED_CHARS = 8_000_000;
const MAX_SEARCHED_LINES = 200_000;
const MAX_WANTED_LINES = 400;
const MAX_SHOWN_LINES = 10;
const MAX_SHOWN_CHARS = 160;
const MAX_COMPARED_CHARS = 300;
/** Shorter text resembles nearly every line. */
const MIN_SIMILAR_CHARS = 3;
const MAX_PAIRS = 80;
const MIN_SHARED_PAIRS = 0.5;

function hasLineNumbers(lines: readonly string[]): boolean {
  return lines.every((line) => /^ *\d+\t/u.test(line) || line === "") && lines.some((line) => line !== "");
}

function startOfNearest(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const keys = lines.map(normalise);
  const wantedKeys = wanted.map(normalise);
  return startByEqualLines(keys, wantedKeys) ?? startBySimilarLine(keys, wantedKeys);
}

/** Lines equal except for case and blanks vote for a start; long ones outweigh a lone bracket. */
function startByEqualLines(keys: readonly string[], wanted: readonly string[]): number | undefined {
  const positions = new Map<string, number[]>();
  for (const [index, key] of wanted.entries()) {
    if (key.length < 3) continue;
    const known = positions.get(key);
    if (known === undefined) positions.set(key, [index]);
    else if (known.length < 4) known.push(index);
  }
  const votes = new Map<number, number>();
  let best: number | undefined;
  let bestWeight = 0;
  for (const [index, key] of keys.entries()) {
    for (const position of positions.get(key) ?? []) {
      const start = index - position;
      const weight = (votes.get(start) ?? 0) + Math.min(key.length, 40);
      votes.set(start, weight);
      if (weight > bestWeight) [best, bestWeight] = [start, weight];
    }
  }
  return best;
}

/** The first line with the most character pairs of the longest wanted line, which may be part of it. */
function startBySimilarLine(keys: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = indexOfLongest(wanted);
  const part = (wanted[anchor] ?? "").slice(0, MAX_PAIRS + 1);
  if (part.length < MIN_SIMILAR_CHARS) return undefined;
  const pairs = [...new Set(Array.from({ length: part.length - 1 }, (_, at) => part.slice(at, at + 2)))];
  let nearest: number | undefined;
  let most = Math.ceil(pairs.length * MIN_SHARED_PAIRS) - 1;
  for (const [line, key] of keys.entries()) {
    const shared = pairs.filter((pair) => key.includes(pair)).length;
    if (shared > most) [nearest, most] = [line, shared];
  }
  return nearest === undefined ? undefined : nearest - anchor;
}

function indexOfLongest(lines: readonly string[]): number {
  let longest = 0;
  for (const [index, line] of lines.entries()) {
    if (line.length > (lines[longest] ?? "").length) longest = index;
  }
  return longest;
}

function normalise(line: string): string {
  return line.slice(0, MAX_COMPARED_CHARS).replace(/\s+/gu, " ").trim().toLowerCase();
}

function firstDifference(lines: readonly string[], wanted: readonly string[], start: number): string {
  for (const [index, line] of wanted.entries()) {
    const actual = lines[start + index];
    if (
      actual !== undefined &&
      matchesLine(actual, line, { first: index === 0, last: index === wanted.length - 1 })
    )
      continue;
    const number = start + index + 1;
    if (actual === undefined)
      return `old_string has lines ${number < 1 ? "before the first" : "after the last"} line of the file.`;
    const at = Math.max(0, commonPrefixLength(actual, line) - 40);
    const texts = `the file has ${JSON.stringify(clip(actual, at))}, old_string has ${JSON.stringify(clip(line, at))}`;
    return `Line ${number} differs (${kindOfDifference(actual, line)}): ${texts}.`;
  }
  return "Copy it exactly from there.";
}

/** The first line of a quote may begin, and the last one end, inside a line of the file. */
function matchesLine(
  actual: string,
  wanted: string,
  position: { readonly first: boolean; readonly last: boolean },
): boolean {
  if (position.first && position.last) return actual.includes(wanted);
  if (position.first) return actual.endsWith(wanted);
  return position.last ? actual.startsWith(wanted) : actual === wanted;
}

function kindOfDifference(actual: string, wanted: string): string {
  if (actual.trimStart() === wanted.trimStart()) {
    return `indentation: ${blanksOf(actual)} in the file, ${blanksOf(wanted)} in old_string`;
  }
  const [a, b] = [actual, wanted].map((line) => line.replace(/\s+/gu, ""));
  if (a === b) return "blanks";
  return a?.toLowerCase() === b?.toLowerCase() ? "upper and lower case" : "text";
}

function blanksOf(line: string): string {
  const blanks = /^\s*/u.exec(line)?.[0] ?? "";
  if (blanks === "") return "none";
  const tabs = blanks.split("\t").length - 1;
  const spaces = blanks.length - tabs;
  const names = [countedOrEmpty(tabs, "tab"), countedOrEmpty(spaces, "blank")];
  return names.filter((name) => name !== "").join(" and ");
}

function countedOrEmpty(count: number, noun: string): string {
  return count === 0 ? "" : pluralize(count, noun);
}

function clip(line: string, from: number): string {
  const part = line.slice(from, from + MAX_SHOWN_CHARS);
  return `${from > 0 ? "…" : ""}${part}${from + MAX_SHOWN_CHARS < line.length ? "…" : ""}`.toWellFormed();
}

/** One replacement in a text. */
export interface Edit {
  /** The text to find. Must occur exactly once, unless `replace_all`. */
  readonly old_string: string;
  /** The replacement, taken literally (`$&` is two characters). */
  readonly new_string: string;
  /** Replace every exact occurrence. Default false. */
  readonly replace_all?: boolean;
}

/** Reasons why edits cannot be applied. */
export type EditErrorKind = "no_edits" | "empty_old" | "identical" | "not_found" | "multiple" | "overlap";

/** The first thing wrong with a list of edits. `message` tells the model what, where and how to fix it. */
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

class Refusal extends Error {
  readonly kind: EditErrorKind;

  constructor(kind: EditErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

interface EditedText {
  readonly text: string;
  /** Length of the byte order mark: matches never reach into it. */
  readonly bodyStart: number;
  readonly ending: LineEnding | undefined;
  readonly folded: () => FoldedText;
  readonly refusal: (kind: EditErrorKind, message: string) => Refusal;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Offsets are those of `before`, including its byte order mark. */
export function planEdits(before: string, edits: readonly Edit[]): EditPlan {
  const ending = uniformLineEnding(before);
  const bodyStart = before.startsWith(BOM) ? 1 : 0;
  let foldedText: FoldedText | undefined;
  const folded = (): FoldedText => (foldedText ??= foldText(before));
  try {
    if (edits.length === 0)
      throw new Refusal("no_edits", "edits is empty. Give at least one { old_string, new_string }.");
    const planned = edits.flatMap((edit, index) => {
      const position = edits.length === 1 ? "" : `edits[${index}]: `;
      const refusal = (kind: EditErrorKind, message: string) => new Refusal(kind, position + message);
      const found = replacementsOf({ text: before, bodyStart, ending, folded, refusal }, edit);
      return found.map((replacement) => ({ ...replacement, edit: index }));
    });
    if (edits.length > 1) planned.sort((a, b) => a.start - b.start || a.edit - b.edit);
    assertDisjoint(before, planned);
    return { replacements: planned };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { error: { kind: error.kind, message: error.message } };
  }
}

const MAX_LISTED_MATCHES = 10;
const MAX_COUNTED_MATCHES = 1000;

function replacementsOf(edited: EditedText, edit: Edit): readonly Replacement[] {
  const { text, refusal } = edited;
  const { old_string: old, new_string: inserted } = edit;
  if (old === "" || old === BOM)
    throw refusal(
      "empty_old",
      "old_string is empty. Quote the text to replace; to insert, quote the text next to the place; use write for a new file.",
    );
  if (old === inserted)
    throw refusal("identical", "old_string and new_string are the same: there is nothing to change.");
  const replacements = findRanges(edited, edit).map((range) => ({
    ...range,
    text: insertedText(edited, range, edit),
  }));
  if (replacements.every(({ start, end, text: after }) => text.slice(start, end) === after)) {
    const [line] = linesAt(text, [replacements[0]?.start ?? 0]);
    throw refusal(
      "identical",
      `new_string is what line ${line} already says (line ends are kept): there is nothing to change.`,
    );
  }
  return replacements;
}

function findRanges(edited: EditedText, { old_string: old, replace_all }: Edit): readonly Range[] {
  const { text, bodyStart } = edited;
  const isForAll = replace_all === true;
  for (const wanted of exactSpellings(edited, old)) {
    const starts = occurrences(text, wanted, bodyStart, !isForAll);
    if (starts.length > 1 && !isForAll)
      throw multipleMatches(edited, starts, "Add lines around it until it is unique, or set replace_all.");
    if (starts.length > 0) return starts.map((start) => exactRange(edited, start, wanted));
  }
  return [foldedRange(edited, old)];
}

/** The ways to write `old` for a writer who sees neither line ends nor byte order marks. */
function exactSpellings({ ending }: EditedText, old: string): ReadonlySet<string> {
  const body = withoutBom(old);
  return new Set([old, body, ending === undefined ? body : withLineEnding(body, ending)]);
}

function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}

function occurrences(text: string, wanted: string, from: number, overlapping: boolean): readonly number[] {
  const starts: number[] = [];
  const step = overlapping ? 1 : wanted.length;
  for (let at = text.indexOf(wanted, from); at !== -1; at = text.indexOf(wanted, at + step)) {
    starts.push(at);
    if (overlapping && starts.length > MAX_COUNTED_MATCHES) break;
  }
  return starts;
}

/** Extends a match that begins with the LF of a CR LF to the CR, so that no half line end is left. */
function exactRange({ text, bodyStart }: EditedText, start: number, wanted: string): Range {
  const splitsLineEnd = wanted.startsWith("\n") && start > bodyStart && text[start - 1] === "\r";
  return { start: splitsLineEnd ? start - 1 : start, end: start + wanted.length };
}

function foldedRange(edited: EditedText, old: string): Range {
  const { text, bodyStart, refusal } = edited;
  const body = withoutBom(old);
  const wanted = foldText(body).text;
  const { text: folded, offsets } = edited.folded();
  const last = body.charCodeAt(body.length - 1);
  const endsInBlanks = last === 13 || isBlank(last);
  // Text made of nothing but blanks and line ends would match any line end.
  const found = wanted.trim() === "" ? [] : occurrences(folded, wanted, bodyStart, true);
  const starts = found.filter(
    (each) => !endsInBlanks || /^(?:\n|$)/.test(folded.charAt(each + wanted.length)),
  );
  const [at] = starts;
  if (at === undefined)
    throw refusal(
      "not_found",
      `old_string is not in the file. ${describeNearestLines(text.slice(bodyStart), old)}`,
    );
  if (starts.length > 1)
    throw multipleMatches(
      edited,
      starts.map((each) => offsets[each] ?? 0),
      "It matches only when blanks, line ends, quotes and dashes are not told apart: copy the one place exactly, with lines around it.",
    );
  const lastUnit = offsets[at + wanted.length - 1] ?? 0;
  let end = lastUnit + (text.startsWith("\r\n", lastUnit) ? 2 : 1);
  if (endsInBlanks) while (isBlank(text.charCodeAt(end))) end++;
  let start = offsets[at] ?? 0;
  // The match begins with the blanks at the end of a line.
  if (isBlank(body.charCodeAt(0)) && /^[^\S\n]+\n/u.test(body))
    while (start > bodyStart && isBlank(text.charCodeAt(start - 1))) start--;
  return { start, end };
}

function insertedText(
  { text, bodyStart, ending: uniform }: EditedText,
  { start }: Range,
  edit: Edit,
): string {
  const addsMark =
    edit.new_string.startsWith(BOM) && (start === bodyStart || edit.old_string.startsWith(BOM));
  const inserted = addsMark ? edit.new_string.slice(1) : edit.new_string;
  if (!inserted.includes("\n")) return inserted;
  // With mixed line ends, takes the nearest: inside, else the next, else the last before.
  const after = text.indexOf("\n", start);
  const ending = uniform ?? lineEndingAt(text, after === -1 ? text.lastIndexOf("\n", start) : after);
  return ending === undefined ? inserted : withLineEnding(inserted, ending);
}

function multipleMatches({ text, refusal }: EditedText, starts: readonly number[], hint: string): Refusal {
  const listed = starts.slice(0, MAX_LISTED_MATCHES);
  const lines = linesAt(text, listed).join(", ");
  const count = starts.length > MAX_COUNTED_MATCHES ? `more than ${MAX_COUNTED_MATCHES}` : starts.length;
  const more = starts.length > listed.length ? ", …" : "";
  return refusal("multiple", `old_string is in the file ${count} times, at lines ${lines}${more}. ${hint}`);
}

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

function assertDisjoint(text: string, planned: readonly (Replacement & { readonly edit: number })[]): void {
  for (const [index, next] of planned.entries()) {
    const previous = planned[index - 1];
    if (previous === undefined || previous.end <= next.start) continue;
    const [first, second] = [previous.edit, next.edit].sort((a, b) => a - b);
    throw new Refusal(
      "overlap",
      `edits[${first}] and edits[${second}] change the same text at line ${linesAt(text, [next.start])[0]}. All edits refer to the file as it was: join them into one edit.`,
    );
  }
}

/** Text without its invisible and typographic variants, and the way back to the original. */
interface FoldedText {
  /** Quotes, dashes and blanks as ASCII, line ends as LF, no blanks before a line end or the end. */
  readonly text: string;
  /** Where `text[i]` starts in the original, a line end at its CR. Has one entry more than `text`. */
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

/** True for a tab, a space and the Unicode blanks, but not for zero-width characters. */
function isBlank(code: number): boolean {
  return code === 9 || code === 32 || BLANK.test(String.fromCharCode(code));
}

const BLANK = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

/** Each is one unit, as is its replacement. */
const VARIANTS: readonly (readonly [variants: RegExp, ascii: string])[] = [
  [new RegExp(BLANK, "g"), " "],
  [/[\u2018-\u201b\u2032\uff07]/g, "'"],
  [/[\u201c-\u201f\u2033\uff02]/g, '"'],
  [/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, "-"],
];

/** Matches the ends of lines and of the text with the blanks before them. Visits no blank twice. */
const LINE_ENDS = /(?<![ \t\r])[ \t\r]*(?:\n|$)/g;

const CONTEXT = 2;
const MAX_RANGES = 20;
const MAX_LINES = 60;
const MAX_LINE_CHARS = 200;

/** The numbered lines of `after` touched by sorted `replacements`, with two lines of context; at most 60. */
export function editedSnippet(after: string, replacements: readonly Replacement[]): string {
  const lines = after.replace(/^\uFEFF/u, "").split(/\r?\n/u);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const shown: string[] = [];
  let next = 1;
  let shift = 0;
  for (const { start, end, text } of replacements.slice(0, MAX_RANGES)) {
    const [first = 1, last = 1] = linesAt(after, [start + shift, start + shift + text.length]);
    shift += text.length - (end - start);
    if (next > 1 && first - CONTEXT > next) shown.push("   ...");
    const from = Math.max(first - CONTEXT, next);
    for (const [at, line] of lines.slice(from - 1, last + CONTEXT).entries())
      if (shown.length < MAX_LINES)
        shown.push(`${String(from + at).padStart(6)}\t${truncateEnd(line, MAX_LINE_CHARS).toWellFormed()}`);
    next = Math.max(next, last + CONTEXT + 1);
  }
  if (shown.length >= MAX_LINES || replacements.length > MAX_RANGES)
    shown.push("   ... (further changed lines not shown)");
  return shown.join("\n");
}

/**
 * Applies all edits, or none. Every edit refers to `before`, not to what an earlier edit made of it.
 *
 * Searches for an `old_string` exactly, then with the line ends of the text, then folded: ignoring blanks at
 * line ends, CR LF or LF, and variants of Unicode quotes, dashes and blanks. A folded match must be unique.
 * Nothing outside a match changes: a byte order mark stays as it is, and line ends in a `new_string` become
 * those of the text (in text with both kinds, those around the match).
 */
export function applyEdits(
  before: string,
  edits: readonly Edit[],
): { readonly after: string } | { readonly error: EditError } {
  check(before, STRING_SCHEMA, "before");
  check(edits, EDITS, "edits");
  const plan = planEdits(before, edits);
  return "error" in plan ? { error: plan.error } : { after: splice(before, plan.replacements) };
}

const EDITS = optionSchema({
  type: "array",
  items: {
    type: "object",
    properties: { old_string: STRING_SCHEMA.schema, new_string: STRING_SCHEMA.schema },
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
