import { errorMessage } from "./errors.ts";

/** Levels of arrays and objects a value may have. Deeper ones are refused: `JSON.stringify` could not write them again. */
export const MAX_JSON_DEPTH = 500;

/** What {@link safeParse} makes of a text. `error` says what is wrong with it in one line. */
export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: string };

/** `JSON.parse` that never throws. Values deeper than {@link MAX_JSON_DEPTH} are refused. */
export function safeParse(text: string): ParsedJson {
  try {
    const value: unknown = JSON.parse(text);
    if (isDeeperThan(value, MAX_JSON_DEPTH))
      return { ok: false, error: `nested deeper than ${MAX_JSON_DEPTH} levels` };
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error: errorMessage(error) };
  }
}

/** Arguments of a tool call: always an object. Where the model wrote none, `invalid_input` holds what it did write. */
export interface ParsedToolInput {
  readonly input: { readonly [key: string]: unknown };
  readonly invalid_input?: { readonly reason: "malformed" | "truncated"; readonly raw: string };
}

/** What is known about the text beside its characters. */
export interface ParseToolInputOptions {
  /** True when the provider cut the answer inside this call (output limit). Default false. */
  readonly truncated?: boolean;
}

/**
 * The arguments of a tool call from the JSON text a model wrote. No text at all means no arguments; an object inside a JSON string
 * (some models encode twice) is unwrapped. Anything else but an object is `{}` with `invalid_input`. Of a truncated answer only
 * a whole object is believed. Never throws.
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

/**
 * What can be told from the beginning of a JSON text. `complete`: the text is a whole JSON value · `partial`: it is the beginning
 * of one · `malformed`: it cannot become one (or is deeper than {@link MAX_JSON_DEPTH}); `value` is what stood before the fault.
 */
export interface PartialJson {
  /** `undefined` while nothing is certain yet. */
  readonly value: unknown;
  readonly state: "complete" | "partial" | "malformed";
}

/**
 * Reads JSON that is still being written, for previews. Only what can no longer change is shown: cut keys, numbers and literals
 * are left out, a cut string is shown as far as it goes, without half an escape or half a surrogate pair. Time is linear in the
 * text, the stack is not used for nesting, nothing is thrown.
 */
export function parsePartialJson(text: string): PartialJson {
  return new PartialParser(text).run();
}

/** Whether `value` is an object that is no array: what JSON calls an object. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text that is equal for equal JSON values, whatever the order of their keys; fields that are `undefined` are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const parts = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${parts.join(",")}}`;
}

/** Whether two JSON values are equal, whatever the order of their keys; fields that are `undefined` are left out. */
export function equalJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => equalJson(item, other[at]));
  }
  if (!isRecord(one) || !isRecord(other)) return false;
  for (const key in one)
    if (!equalJson(one[key], Object.hasOwn(other, key) ? other[key] : undefined)) return false;
  for (const key in other) if (other[key] !== undefined && !Object.hasOwn(one, key)) return false;
  return true;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const child of children) if (isDeeperThan(child, levels - 1)) return true;
  return false;
}

type Expect = "value" | "first_item" | "first_key" | "key" | "colon" | "next" | "end";
type Halt = PartialJson["state"] | undefined;
type Container = { readonly items: unknown[] } | { readonly fields: Record<string, unknown>; key: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LITERALS: readonly (readonly [string, boolean | null])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

class PartialParser {
  readonly #text: string;
  readonly #open: Container[] = [];
  #at = 0;
  #root: unknown = undefined;
  #expect: Expect = "value";

  constructor(text: string) {
    this.#text = text;
  }

  run(): PartialJson {
    for (;;) {
      this.#skipBlanks();
      const char = this.#text[this.#at];
      const state = char === undefined ? (this.#expect === "end" ? "complete" : "partial") : this.#step(char);
      if (state !== undefined) return { value: this.#root, state };
    }
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #step(char: string): Halt {
    switch (this.#expect) {
      case "value":
        return this.#value(char);
      case "first_item":
        return char === "]" ? this.#close() : this.#value(char);
      case "first_key":
        return char === "}" ? this.#close() : this.#key(char);
      case "key":
        return this.#key(char);
      case "colon":
        if (char !== ":") return "malformed";
        this.#at += 1;
        this.#expect = "value";
        return undefined;
      case "next":
        return this.#next(char);
      case "end":
        return "malformed";
    }
  }

  #next(char: string): Halt {
    const top = this.#open.at(-1);
    if (top === undefined) return "malformed";
    const isArray = "items" in top;
    if (char === (isArray ? "]" : "}")) return this.#close();
    if (char !== ",") return "malformed";
    this.#at += 1;
    this.#expect = isArray ? "value" : "key";
    return undefined;
  }

  #value(char: string): Halt {
    if (char === "{") {
      const fields: Record<string, unknown> = {};
      return this.#push(fields, { fields, key: "" }, "first_key");
    }
    if (char === "[") {
      const items: unknown[] = [];
      return this.#push(items, { items }, "first_item");
    }
    if (char === '"') {
      const string = this.#string();
      if (string === undefined) return "malformed";
      this.#add(string.value);
      return string.closed ? undefined : "partial";
    }
    return char === "-" || (char >= "0" && char <= "9") ? this.#number() : this.#literal();
  }

  #key(char: string): Halt {
    if (char !== '"') return "malformed";
    const string = this.#string();
    if (string === undefined) return "malformed";
    if (!string.closed) return "partial";
    const top = this.#open.at(-1);
    if (top === undefined || "items" in top) return "malformed";
    top.key = string.value;
    this.#expect = "colon";
    return undefined;
  }

  #push(value: unknown, container: Container, expect: Expect): Halt {
    if (this.#open.length >= MAX_JSON_DEPTH) return "malformed";
    this.#add(value);
    this.#open.push(container);
    this.#at += 1;
    this.#expect = expect;
    return undefined;
  }

  #close(): Halt {
    this.#open.pop();
    this.#at += 1;
    this.#expect = this.#open.length === 0 ? "end" : "next";
    return undefined;
  }

  #add(value: unknown): void {
    const top = this.#open.at(-1);
    this.#expect = top === undefined ? "end" : "next";
    if (top === undefined) this.#root = value;
    else if ("items" in top) top.items.push(value);
    else if (top.key !== "__proto__") top.fields[top.key] = value;
    else
      Object.defineProperty(top.fields, top.key, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      });
  }

  #string(): { readonly value: string; readonly closed: boolean } | undefined {
    const start = this.#at + 1;
    let at = start;
    for (;;) {
      const code = this.#text.charCodeAt(at);
      if (Number.isNaN(code)) return this.#cutString(start, this.#text.length);
      if (code === QUOTE) break;
      const width = code !== BACKSLASH ? 1 : this.#text[at + 1] === "u" ? 6 : 2;
      if (at + width > this.#text.length) return this.#cutString(start, at);
      at += width;
    }
    this.#at = at + 1;
    const parsed = safeParse(this.#text.slice(start - 1, at + 1));
    return parsed.ok && typeof parsed.value === "string" ? { value: parsed.value, closed: true } : undefined;
  }

  #cutString(start: number, end: number): { readonly value: string; readonly closed: false } | undefined {
    const parsed = safeParse(`"${this.#text.slice(start, end)}"`);
    if (!parsed.ok || typeof parsed.value !== "string") return undefined;
    const last = parsed.value.charCodeAt(parsed.value.length - 1);
    return {
      value: last >= 0xd800 && last <= 0xdbff ? parsed.value.slice(0, -1) : parsed.value,
      closed: false,
    };
  }

  #number(): Halt {
    let end = this.#at + 1;
    while (end < this.#text.length && "0123456789+-.eE".includes(this.#text.charAt(end))) end += 1;
    const run = this.#text.slice(this.#at, end);
    const whole = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(run);
    if (end === this.#text.length && (this.#open.length > 0 || !whole)) {
      return /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?$/.test(run) ? "partial" : "malformed";
    }
    if (!whole) return "malformed";
    this.#at = end;
    this.#add(Number(run));
    return undefined;
  }

  #literal(): Halt {
    for (const [word, value] of LITERALS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        this.#add(value);
        return undefined;
      }
      if (this.#text.length - this.#at < word.length && word.startsWith(this.#text.slice(this.#at)))
        return "partial";
    }
    return "malformed";
  }
}
