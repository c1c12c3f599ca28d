import { errorMessage } from "./errors.ts";
import { commonPrefixLength, truncateEnd } from "./text.ts";

/** Maximum nesting of a value; `JSON.stringify` could not write deeper ones. */
export const MAX_JSON_DEPTH = 500;

/** The result of {@link safeParse}. `error` says in one line what is wrong. */
type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string };

/**
 * `JSON.parse` that never throws and skips a byte order mark. Refuses values deeper than {@link
 * MAX_JSON_DEPTH}.
 */
export function safeParse(text: string): ParsedJson {
  try {
    const value: unknown = JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
    if (isDeeperThan(value, MAX_JSON_DEPTH))
      return { ok: false, error: `nested deeper than ${MAX_JSON_DEPTH} levels` };
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error: errorMessage(error) };
  }
}

/** Arguments of a tool call. If the model did not write an object, `invalid_input` has what it wrote. */
export interface ParsedToolInput {
  readonly input: { readonly [key: string]: unknown };
  readonly invalid_input?: { readonly reason: "malformed" | "truncated"; readonly raw: string };
}

interface ParseToolInputOptions {
  /** True if the provider cut the answer inside this call (output limit). Default false. */
  readonly truncated?: boolean;
}

/**
 * Parses the arguments of a tool call from the JSON a model wrote. Empty text means no arguments; an object
 * encoded as a JSON string, as some models do, is unwrapped. Anything else that is not an object becomes `{}`
 * with `invalid_input`. From a truncated answer only a complete object is accepted. Never throws.
 */
export function parseToolInput(text: string, options: ParseToolInputOptions = {}): ParsedToolInput {
  const truncated = options.truncated === true;
  if (!truncated && text.trim() === "") return { input: {} };
  const first = safeParse(text);
  if (first.ok && isRecord(first.value)) return { input: first.value };
  if (first.ok && typeof first.value === "string") {
    const second = safeParse(first.value);
    if (second.ok && isRecord(second.value)) return { input: second.value };
  }
  return { input: {}, invalid_input: { reason: truncated ? "truncated" : "malformed", raw: text } };
}

export type Fields = { readonly [key: string]: unknown };

/** A field as an object; `{}` if it is not one. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** True for what JSON calls an object: no array, not null. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object's own value at a key; never an inherited one such as `constructor`. */
export function ownValue<V>(object: { readonly [key: string]: V }, key: unknown): V | undefined {
  return typeof key === "string" && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The same text for equal JSON values, whatever their key order; `undefined` fields are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const parts = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${parts.join(",")}}`;
}

/**
 * True if two JSON values are equal, whatever their key order; `undefined` fields are ignored. Dates, maps,
 * sets and regular expressions are compared by content, class instances by fields; anything else equals only
 * itself.
 */
export function equalJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => equalJson(item, other[at]));
  }
  if (!isRecord(one) || !isRecord(other) || kindOf(one) !== kindOf(other)) return false;
  if (kindOf(one) === "[object Object]") return areFieldsEqual(one, other);
  const [content, otherContent] = [contentOf(one), contentOf(other)];
  return content !== undefined && equalJson(content, otherContent);
}

function kindOf(object: object): string {
  return Object.prototype.toString.call(object);
}

function contentOf(object: object): unknown {
  if (object instanceof Date) return object.getTime();
  if (object instanceof Map || object instanceof Set) return [...object];
  return object instanceof RegExp ? `${object}` : undefined;
}

function areFieldsEqual(one: Fields, other: Fields): boolean {
  for (const key in one) if (!equalJson(one[key], ownValue(other, key))) return false;
  for (const key in other) if (other[key] !== undefined && !Object.hasOwn(one, key)) return false;
  return true;
}

/**
 * The value after a round trip through the journal: dates, and numbers JSON lacks, become text. `undefined`
 * if JSON cannot hold it.
 */
export function toStoredJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? `${each}` : each));
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for a plain object of any realm: no date, map or class instance. */
export function isPlainObject(value: unknown): value is Fields {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** True if arrays and objects are nested deeper than this. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const child of children) if (isDeeperThan(child, levels - 1)) return true;
  return false;
}

/** Drops `undefined` fields, as optional fields require. */
export function omitUndefined<T extends object>(given: T): DefinedFields<T> {
  const present: { [name: string]: unknown } = {};
  for (const name in given) if (given[name] !== undefined) present[name] = given[name];
  return present as DefinedFields<T>;
}

type DefinedFields<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Where two values first differ, and the short text of each there. */
export interface Difference {
  /** Such as `messages[2].content[0].text`; `the top` for the values themselves. */
  readonly path: string;
  readonly left: string;
  readonly right: string;
}

/**
 * The first difference between two JSON values: lists in order, fields by name. Undefined if there is none.
 */
export function firstDifference(left: unknown, right: unknown): Difference | undefined {
  return differenceAt("", left, right);
}

function differenceAt(path: string, left: unknown, right: unknown): Difference | undefined {
  if (Object.is(left, right)) return undefined;
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
      const difference = differenceAt(`${path}[${at}]`, left[at], right[at]);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  if (isRecord(left) && isRecord(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const difference = differenceAt(
        path === "" ? key : `${path}.${key}`,
        ownValue(left, key),
        ownValue(right, key),
      );
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  const start = typeof left === "string" && typeof right === "string" ? commonPrefixLength(left, right) : 0;
  return {
    path: path === "" ? "the top" : path,
    left: excerptAt(left, start),
    right: excerptAt(right, start),
  };
}

/** How many characters of a value are shown, and how many of them before the difference. */
const MAX_EXCERPT_CHARS = 80;
const CHARS_BEFORE = 20;

/** A value as text; a long one is truncated around the difference. */
function excerptAt(value: unknown, difference: number): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string") return truncateEnd(JSON.stringify(value), MAX_EXCERPT_CHARS);
  const start = difference > CHARS_BEFORE * 2 ? difference - CHARS_BEFORE : 0;
  const end = start + MAX_EXCERPT_CHARS;
  const quoted = JSON.stringify(value.slice(start, end).toWellFormed());
  return `${start > 0 ? "…" : ""}${quoted}${end < value.length ? "…" : ""}`;
}
