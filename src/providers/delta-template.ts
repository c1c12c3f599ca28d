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
  /** The text in an event of the learned pattern, else `undefined`. Texts with escapes are never recognised. */
  readonly match: (data: string) => string | undefined;
}

/** Options of {@link createDeltaTemplate}. */
export interface DeltaTemplateOptions {
  /** Keys whose values (numbers, or strings without escapes) may change from event to event without meaning anything. */
  readonly ignore: readonly string[];
}

/** Makes a template that has learned nothing yet. */
export function createDeltaTemplate(options: DeltaTemplateOptions): DeltaTemplate {
  return new Template(options.ignore);
}

/** A value that may change. `text` is its literal as learned, without quotes. */
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
    literals.push(data.slice(at));
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
      if (!data.startsWith(literal, at)) return undefined;
      at += literal.length;
      const end = hole.isString ? data.indexOf('"', at) : endOfNumber(data, at);
      if (end === -1) return undefined;
      if (hole.isString && !isPlain(data, at, end)) return undefined;
      if (hole.isTarget) found = data.slice(at, end);
      at = end;
    }
    const last = literals[holes.length] as string;
    if (data.length !== at + last.length || !data.endsWith(last)) return undefined;
    this.#misses = 0;
    return found;
  };
}

const MAX_MISSES = 100;
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
  let to = from;
  while (to < data.length && data.charCodeAt(to) !== QUOTE) to += data.charCodeAt(to) === BACKSLASH ? 2 : 1;
  return to >= data.length ? undefined : { from, to, isString: true, isTarget };
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

/** Whether the characters stand for themselves: no escape, and no control character, which JSON would refuse. */
function isPlain(data: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = data.charCodeAt(at);
    if (code === BACKSLASH || code < 0x20) return false;
  }
  return true;
}
