import { errorMessage } from "./errors.ts";
import { clipped, commonStart } from "./text.ts";

/** Levels of arrays and objects in a value. `JSON.stringify` could not write deeper ones again. */
export const MAX_JSON_DEPTH = 500;

/** The result of {@link safeParse}. `error` says what is wrong with it in one line. */
type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string };

/**
 * `JSON.parse` that never throws and reads past a byte order mark. Values deeper than {@link MAX_JSON_DEPTH}
 * are refused.
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

/** Arguments of a tool call. Where the model wrote no object, `invalid_input` holds what it wrote. */
export interface ParsedToolInput {
  readonly input: { readonly [key: string]: unknown };
  readonly invalid_input?: { readonly reason: "malformed" | "truncated"; readonly raw: string };
}

interface ParseToolInputOptions {
  /** True when the provider cut the answer inside this call (output limit). Default false. */
  readonly truncated?: boolean;
}

/**
 * The arguments of a tool call from the JSON text a model wrote. No text at all means no arguments; an object
 * inside a JSON string (some models encode twice) is unwrapped. Anything else but an object is `{}` with
 * `invalid_input`. Of a truncated answer only a whole object is believed. Never throws.
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

/** A field as an object; an empty one where it is none. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** True when `value` is an object that is no array: what JSON calls an object. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The own value at a key of an object: never what every object inherits, such as `constructor`. */
export function ownValue<V>(object: { readonly [key: string]: V }, key: unknown): V | undefined {
  return typeof key === "string" && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The same text for equal JSON values, whatever the order of keys; `undefined` fields are left out. */
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
 * True when two JSON values are equal, whatever the order of keys; `undefined` fields are left out. Of
 * objects that no JSON can hold, dates, maps, sets and patterns are compared by what they hold, those of a
 * class by their fields; all others equal themselves alone.
 */
export function equalJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => equalJson(item, other[at]));
  }
  if (!isRecord(one) || !isRecord(other) || kindOf(one) !== kindOf(other)) return false;
  if (kindOf(one) === "[object Object]") return areFieldsEqual(one, other);
  const [held, otherHeld] = [contentOf(one), contentOf(other)];
  return held !== undefined && equalJson(held, otherHeld);
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
 * A value as a journal has it: a date, or a number that JSON does not have, is a text there. `undefined` for
 * one that JSON cannot hold.
 */
export function asStored(value: unknown): unknown {
  try {
    const text = JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? `${each}` : each));
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for an object as a literal makes it, of whatever realm: no date, map or instance of a class. */
export function isPlain(value: unknown): value is Fields {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** True when arrays and objects lie in more levels than these in a value. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const child of children) if (isDeeperThan(child, levels - 1)) return true;
  return false;
}

/** The fields that are there: what is `undefined` is left out, as optional fields want it. */
export function defined<T extends object>(given: T): DefinedFields<T> {
  const there: { [name: string]: unknown } = {};
  for (const name in given) if (given[name] !== undefined) there[name] = given[name];
  return there as DefinedFields<T>;
}

type DefinedFields<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

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
