import { isRecord, ownValue } from "./json.ts";
import { clipped, commonStart } from "./text.ts";

/** Where two values first differ, and what each has there, as short text. */
export interface Difference {
  /** Like `messages[2].content[0].text`; `the top` for the values themselves. */
  readonly path: string;
  readonly left: string;
  readonly right: string;
}

/** The first place where two JSON values differ, lists in order, fields by name, if there is one. */
export function firstDifference(left: unknown, right: unknown): Difference | undefined {
  return differenceAt("", left, right);
}

function differenceAt(path: string, left: unknown, right: unknown): Difference | undefined {
  if (Object.is(left, right)) return undefined;
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
      const found = differenceAt(`${path}[${at}]`, left[at], right[at]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isRecord(left) && isRecord(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const found = differenceAt(
        path === "" ? key : `${path}.${key}`,
        ownValue(left, key),
        ownValue(right, key),
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const start = typeof left === "string" && typeof right === "string" ? commonStart(left, right) : 0;
  return { path: path === "" ? "the top" : path, left: shown(left, start), right: shown(right, start) };
}

/** Characters shown of a value, and of those how many before the difference. */
const SHOWN = 80;
const BEFORE = 20;

/** A value as text; a long one around the place where it differs. */
function shown(value: unknown, difference: number): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string") return clipped(JSON.stringify(value), SHOWN);
  const start = difference > BEFORE * 2 ? difference - BEFORE : 0;
  const end = start + SHOWN;
  const quoted = JSON.stringify(value.slice(start, end).toWellFormed());
  return `${start > 0 ? "…" : ""}${quoted}${end < value.length ? "…" : ""}`;
}
