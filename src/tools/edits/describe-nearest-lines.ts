import { counted } from "../../core/base/text.ts";
import { editDistance, substringDistance } from "./edit-distance.ts";

/**
 * Tells a model where a text that is not there probably was meant to be: the most similar lines of `text` with their numbers,
 * and what differs. Looks at a bounded part of both texts and writes a bounded message.
 */
export function describeNearestLines(text: string, wanted: string): string {
  const wantedLines = wanted.split(/\r?\n/u, MAX_WANTED_LINES);
  if (hasLineNumbers(wantedLines)) {
    return "It begins its lines with line numbers: leave out the numbers and the tab that read puts in front.";
  }
  const lines = text.slice(0, MAX_SEARCHED_CHARS).split(/\r?\n/u, MAX_SEARCHED_LINES);
  const start = startOfNearest(lines, wantedLines);
  if (start === undefined) return nothingSimilar(lines);
  const first = Math.max(start, 0);
  const shown = lines.slice(first, Math.min(start + wantedLines.length, first + MAX_SHOWN_LINES));
  const listing = shown.map((line, index) => `${String(first + index + 1).padStart(6)}\t${clip(line, 0)}`);
  return `The nearest text is:\n${listing.join("\n")}\n${firstDifference(lines, wantedLines, start)}`;
}

/** A file of a few lines is shown whole: there is nothing nearer. */
function nothingSimilar(lines: readonly string[]): string {
  const real = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  const has = `No line is similar to it (the file has ${counted(real.length, "line")})`;
  if (real.length === 0 || real.length > MAX_SHOWN_LINES)
    return `${has}. Read the file again and copy the text exactly.`;
  const listing = real.map((line, index) => `${String(index + 1).padStart(6)}\t${clip(line, 0)}`);
  return `${has}:\n${listing.join("\n")}\nCopy the text exactly from there.`;
}

const MAX_SEARCHED_CHARS = 8_000_000;
const MAX_SEARCHED_LINES = 200_000;
const MAX_WANTED_LINES = 400;
const MAX_SHOWN_LINES = 10;
const MAX_LINE_CHARS = 160;
const MAX_COMPARED_CHARS = 300;
/** Share of common trigrams from which two lines count as similar. */
const MIN_SIMILARITY = 0.45;
/** Lengths of a text that is looked for as a part of a line, the share of it that may differ, and how much of the file is searched so. */
const MIN_PART_CHARS = 3;
const MAX_PART_CHARS = 60;
const MAX_PART_CHANGES = 0.4;
const MAX_PARTS_CHARS = 100_000;
/** How many of the similar lines are compared character by character. */
const MAX_MEASURED_LINES = 50;
const GRAM_BITS = 14;
const GRAM_SLOTS = 2 ** GRAM_BITS;

function hasLineNumbers(lines: readonly string[]): boolean {
  return lines.every((line) => /^ *\d+\t/u.test(line) || line === "") && lines.some((line) => line !== "");
}

/** Index of the line where `wanted` would start (negative when its first lines are before the file), if anything is similar. */
function startOfNearest(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const keys = lines.map(normalise);
  const wantedKeys = wanted.map(normalise);
  return (
    startByEqualLines(keys, wantedKeys) ??
    startBySimilarLine(keys, wantedKeys) ??
    startBySimilarPart(keys, wantedKeys)
  );
}

/** A few words that are a part of a line but for some letters: too short to have much in common with the whole line. */
function startBySimilarPart(keys: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = indexOfLongest(wanted);
  const part = wanted[anchor] ?? "";
  if (part.length < MIN_PART_CHARS || part.length > MAX_PART_CHARS) return undefined;
  let best: number | undefined;
  let bestDistance = Math.floor(part.length * MAX_PART_CHANGES) + 1;
  let left = MAX_PARTS_CHARS;
  for (const [line, key] of keys.entries()) {
    left -= key.length;
    if (left < 0) break;
    const distance = substringDistance(key, part);
    if (distance < bestDistance) [best, bestDistance] = [line, distance];
  }
  return best === undefined ? undefined : best - anchor;
}

/** Lines that are equal but for case and blanks vote for a start; long lines weigh more than a lone bracket. */
function startByEqualLines(keys: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>();
  for (const [index, key] of wanted.entries()) {
    if (key.length < 3) continue;
    const known = places.get(key);
    if (known === undefined) places.set(key, [index]);
    else if (known.length < 4) known.push(index);
  }
  const votes = new Map<number, number>();
  let best: number | undefined;
  let bestWeight = 0;
  for (const [index, key] of keys.entries()) {
    for (const place of places.get(key) ?? []) {
      const start = index - place;
      const weight = (votes.get(start) ?? 0) + Math.min(key.length, 40);
      votes.set(start, weight);
      if (weight > bestWeight) [best, bestWeight] = [start, weight];
    }
  }
  return best;
}

function startBySimilarLine(keys: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = indexOfLongest(wanted);
  const anchorKey = wanted[anchor] ?? "";
  const grams = new Uint8Array(GRAM_SLOTS);
  for (let index = 2; index < anchorKey.length; index++) grams[gramSlot(anchorKey, index)] = 1;
  const similar: { readonly line: number; readonly similarity: number }[] = [];
  for (const [line, key] of keys.entries()) {
    const similarity = commonShare(grams, key, anchorKey.length);
    if (similarity > MIN_SIMILARITY) similar.push({ line, similarity });
  }
  const [nearest] = similar
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, MAX_MEASURED_LINES)
    .map(({ line }) => ({ line, distance: editDistance(keys[line] ?? "", anchorKey) }))
    .sort((a, b) => a.distance - b.distance);
  return nearest === undefined ? undefined : nearest.line - anchor;
}

function indexOfLongest(lines: readonly string[]): number {
  let longest = 0;
  for (const [index, line] of lines.entries()) {
    if (line.length > (lines[longest] ?? "").length) longest = index;
  }
  return longest;
}

/** About twice the number of common trigrams over the number of both: 1 for equal lines, 0 for lines with nothing in common. */
function commonShare(grams: Uint8Array, line: string, anchorLength: number): number {
  const possible = Math.min(line.length, anchorLength) - 2;
  const total = line.length + anchorLength - 4;
  if (possible < 1 || (2 * possible) / total < MIN_SIMILARITY) return 0;
  let common = 0;
  for (let index = 2; index < line.length; index++) common += grams[gramSlot(line, index)] ?? 0;
  return (2 * Math.min(common, possible)) / total;
}

/** Slot of the three characters that end at `index`: a hash, because collisions only blur a similarity. */
function gramSlot(text: string, index: number): number {
  const mixed =
    text.charCodeAt(index - 2) * 31 * 31 + text.charCodeAt(index - 1) * 31 + text.charCodeAt(index);
  return Math.imul(mixed, 0x9e3779b1) >>> (32 - GRAM_BITS);
}

function normalise(line: string): string {
  return line.slice(0, MAX_COMPARED_CHARS).replace(/\s+/gu, " ").trim().toLowerCase();
}

function firstDifference(lines: readonly string[], wanted: readonly string[], start: number): string {
  for (const [index, line] of wanted.entries()) {
    const actual = lines[start + index];
    if (actual !== undefined && fits(actual, line, { first: index === 0, last: index === wanted.length - 1 }))
      continue;
    const number = start + index + 1;
    if (actual === undefined)
      return `old_string has lines ${number < 1 ? "before the first" : "after the last"} line of the file.`;
    const at = Math.max(0, commonPrefixLength(actual, line) - 40);
    const texts = `the file has ${quote(clip(actual, at))}, old_string has ${quote(clip(line, at))}`;
    return `Line ${number} differs (${kindOfDifference(actual, line)}): ${texts}.`;
  }
  return "Copy it exactly from there.";
}

/** The first line of a quoted text may begin, and the last one end, inside a line of the file. */
function fits(
  actual: string,
  wanted: string,
  place: { readonly first: boolean; readonly last: boolean },
): boolean {
  if (place.first && place.last) return actual.includes(wanted);
  if (place.first) return actual.endsWith(wanted);
  return place.last ? actual.startsWith(wanted) : actual === wanted;
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
  const names = [amount(tabs, "tab"), amount(spaces, "blank")];
  return names.filter((name) => name !== "").join(" and ");
}

function amount(count: number, noun: string): string {
  return count === 0 ? "" : counted(count, noun);
}

function commonPrefixLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function clip(line: string, from: number): string {
  const part = line.slice(from, from + MAX_LINE_CHARS);
  return `${from > 0 ? "…" : ""}${part}${from + MAX_LINE_CHARS < line.length ? "…" : ""}`.toWellFormed();
}

function quote(text: string): string {
  return JSON.stringify(text);
}
