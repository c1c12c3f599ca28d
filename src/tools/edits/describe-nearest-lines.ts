import { commonStart, counted } from "../../core/base/text.ts";

/** The lines most similar to a text that is not there, and what differs. Bounded work and message. */
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
/** A shorter text is like nearly every line, and of a longer one so large a share may differ. */
const MIN_SIMILAR_CHARS = 3;
const MAX_DIFFERENT_SHARE = 0.4;
const MAX_MEASURED_LINES = 50;

function hasLineNumbers(lines: readonly string[]): boolean {
  return lines.every((line) => /^ *\d+\t/u.test(line) || line === "") && lines.some((line) => line !== "");
}

function startOfNearest(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const keys = lines.map(normalise);
  const wantedKeys = wanted.map(normalise);
  return startByEqualLines(keys, wantedKeys) ?? startBySimilarLine(keys, wantedKeys);
}

/** Lines equal but for case and blanks vote for a start; long ones weigh more than a lone bracket. */
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

/** The line that holds something most like the longest line wanted, which may be a part of it. */
function startBySimilarLine(keys: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = indexOfLongest(wanted);
  const part = wanted[anchor] ?? "";
  if (part.length < MIN_SIMILAR_CHARS) return undefined;
  const [nearest] = likelyLines(keys, part)
    .map((line) => ({ line, distance: substringDistance(keys[line] ?? "", part) }))
    .filter(({ distance }) => distance <= part.length * MAX_DIFFERENT_SHARE)
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

function likelyLines(keys: readonly string[], part: string): readonly number[] {
  const isWanted = new Uint8Array(PAIR_SLOTS);
  for (let index = 1; index < part.length; index++) isWanted[pairSlot(part, index)] = 1;
  const seenIn = new Uint32Array(PAIR_SLOTS);
  const likely: { readonly line: number; readonly pairs: number }[] = [];
  for (const [line, key] of keys.entries()) {
    let pairs = 0;
    for (let index = 1; index < key.length; index++) {
      const slot = pairSlot(key, index);
      if (isWanted[slot] === 0 || seenIn[slot] === line + 1) continue;
      seenIn[slot] = line + 1;
      pairs++;
    }
    if (pairs > 0) likely.push({ line, pairs });
  }
  likely.sort((a, b) => b.pairs - a.pairs);
  return likely.slice(0, MAX_MEASURED_LINES).map(({ line }) => line);
}

/** A hash, because collisions only blur a similarity. */
const PAIR_SLOTS = 2 ** 14;

function pairSlot(text: string, end: number): number {
  return (text.charCodeAt(end - 1) * 127 + text.charCodeAt(end)) % PAIR_SLOTS;
}

function normalise(line: string): string {
  return line.slice(0, MAX_COMPARED_CHARS).replace(/\s+/gu, " ").trim().toLowerCase();
}

/** Fewest characters to insert, delete or replace that make `wanted` a part of `text`; cost: the product. */
export function substringDistance(text: string, wanted: string): number {
  // Column by column of the usual table, but a match may begin anywhere for nothing.
  let before = Array.from({ length: wanted.length + 1 }, (_, row) => row);
  let best = wanted.length;
  for (const unit of text.split("")) {
    const column = [0];
    for (let row = 1; row <= wanted.length; row++) {
      const replaced = (before[row - 1] ?? 0) + (wanted[row - 1] === unit ? 0 : 1);
      column.push(Math.min(replaced, (before[row] ?? 0) + 1, (column[row - 1] ?? 0) + 1));
    }
    best = Math.min(best, column[wanted.length] ?? best);
    before = column;
  }
  return best;
}

function firstDifference(lines: readonly string[], wanted: readonly string[], start: number): string {
  for (const [index, line] of wanted.entries()) {
    const actual = lines[start + index];
    if (actual !== undefined && fits(actual, line, { first: index === 0, last: index === wanted.length - 1 }))
      continue;
    const number = start + index + 1;
    if (actual === undefined)
      return `old_string has lines ${number < 1 ? "before the first" : "after the last"} line of the file.`;
    const at = Math.max(0, commonStart(actual, line) - 40);
    const texts = `the file has ${JSON.stringify(clip(actual, at))}, old_string has ${JSON.stringify(clip(line, at))}`;
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

function clip(line: string, from: number): string {
  const part = line.slice(from, from + MAX_LINE_CHARS);
  return `${from > 0 ? "…" : ""}${part}${from + MAX_LINE_CHARS < line.length ? "…" : ""}`.toWellFormed();
}
