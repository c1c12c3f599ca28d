import { safeParse } from "../core/base/json.ts";

/**
 * Recognises events that differ from one seen before only in one text (and in numbers that count events), so that the many small
 * events of a stream need no `JSON.parse`. Pure speed: whatever it does not recognise has to be parsed.
 */
export interface DeltaTemplate {
  /**
   * Takes an event that was parsed, and in which the value of `key` was all that mattered, as the pattern from now on. Ignored when
   * the position of the value is not certain.
   */
  readonly learn: (data: string, key: string) => void;
  /** The text in an event of the learned pattern, else `undefined`. */
  readonly match: (data: string) => string | undefined;
}

/** Options of {@link createDeltaTemplate}. */
export interface DeltaTemplateOptions {
  /** Keys whose values (whole numbers or strings) may change from event to event without meaning anything. */
  readonly ignore: readonly string[];
}

/** Makes a template that has learned nothing yet. */
export function createDeltaTemplate(options: DeltaTemplateOptions): DeltaTemplate {
  return new Template(options.ignore);
}

/** A value that may change: from and to what position of the learned event it went, without quotes. */
interface Hole {
  readonly from: number;
  readonly to: number;
  readonly isString: boolean;
  readonly isTarget: boolean;
}

class Template implements DeltaTemplate {
  readonly #ignore: readonly string[];
  #literals: readonly string[] = [];
  #holes: readonly Hole[] = [];
  /** The last literal without blanks, where it closes the text and brackets and no more; else undefined. */
  #tail: string | undefined;
  /** Events learned since one was recognised. */
  #misses = 0;

  constructor(ignore: readonly string[]) {
    this.#ignore = ignore;
  }

  readonly learn = (data: string, key: string): void => {
    if (this.#misses === MAX_MISSES) return;
    this.#misses++;
    const target = holeOf(data, key, true);
    // This stream has no pattern: trying on would only cost time.
    if (this.#misses === MAX_MISSES || target?.isString !== true) {
      this.#holes = [];
      return;
    }
    const holes = [target];
    for (const ignored of this.#ignore) {
      const hole = holeOf(data, ignored, false);
      if (hole !== undefined) holes.push(hole);
    }
    holes.sort((left, right) => left.from - right.from);
    const literals: string[] = [];
    let at = 0;
    for (const hole of holes) {
      literals.push(data.slice(at, hole.from));
      at = hole.to;
    }
    const last = data.slice(at);
    literals.push(last);
    this.#tail = /^"[\]} ]*$/.test(last) ? last.replaceAll(" ", "") : undefined;
    this.#literals = literals;
    this.#holes = holes;
  };

  readonly match = (data: string): string | undefined => {
    const literals = this.#literals;
    const holes = this.#holes;
    if (holes.length === 0) return undefined;
    let at = 0;
    let found: string | undefined;
    for (let i = 0; i < holes.length; i++) {
      const literal = literals[i] as string;
      const hole = holes[i] as Hole;
      // Comparing slices is a plain comparison of memory, unlike `startsWith`.
      if (data.slice(at, at + literal.length) !== literal) return undefined;
      at += literal.length;
      const end = hole.isString ? endOfString(data, at) : endOfNumber(data, at);
      if (end === -1) return undefined;
      if (hole.isTarget) found = textOf(data, at, end);
      at = end;
    }
    const last = literals[holes.length] as string;
    // Some pad their events with blanks, each by another number of them.
    const isEnd = this.#tail === undefined ? data.slice(at) === last : closesWith(data, at, this.#tail);
    if (!isEnd) return undefined;
    this.#misses = 0;
    return found;
  };
}

const MAX_MISSES = 100;
const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function holeOf(data: string, key: string, isTarget: boolean): Hole | undefined {
  const needle = `"${key}":`;
  const found = data.indexOf(needle);
  // A second place would leave open which of the two was read.
  if (found === -1 || data.indexOf(needle, found + 1) !== -1) return undefined;
  let from = found + needle.length;
  while (data.charCodeAt(from) === 0x20) from++;
  if (data.charCodeAt(from) !== QUOTE) {
    const to = endOfNumber(data, from);
    return to === -1 ? undefined : { from, to, isString: false, isTarget };
  }
  from++;
  const to = endOfString(data, from);
  return to === -1 ? undefined : { from, to, isString: true, isTarget };
}

/** Whether `tail` is all that stands in `data` from `at` on, blanks aside. */
function closesWith(data: string, at: number, tail: string): boolean {
  let matched = 0;
  for (let from = at; from < data.length; from++) {
    const code = data.charCodeAt(from);
    if (code === BLANK) continue;
    if (code !== tail.charCodeAt(matched)) return false;
    matched++;
  }
  return matched === tail.length;
}

/** Position of the quote that ends the string whose characters begin at `at`, or -1. */
function endOfString(data: string, at: number): number {
  let end = at;
  while (end < data.length) {
    const code = data.charCodeAt(end);
    if (code === QUOTE) return end;
    end += code === BACKSLASH ? 2 : 1;
  }
  return -1;
}

/** What a literal without its quotes stands for; `undefined` where that is not valid. */
function textOf(data: string, from: number, to: number): string | undefined {
  const literal = data.slice(from, to);
  if (isPlain(literal)) return literal;
  const parsed = safeParse(`"${literal}"`);
  return parsed.ok && typeof parsed.value === "string" ? parsed.value : undefined;
}

/** End of the digits from `at`, or -1 when there are none. */
function endOfNumber(data: string, at: number): number {
  let end = at;
  for (;;) {
    const code = data.charCodeAt(end);
    if (!(code >= 0x30 && code <= 0x39)) return end === at ? -1 : end;
    end++;
  }
}

/** True when the characters stand for themselves: no escape, and no control character, which JSON would refuse. */
function isPlain(literal: string): boolean {
  for (let at = 0; at < literal.length; at++) {
    const code = literal.charCodeAt(at);
    if (code === BACKSLASH || code < 0x20) return false;
  }
  return true;
}
