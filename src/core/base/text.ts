/**
 * Makes text safe for every provider and journal: lone surrogates, NUL and other C0 control characters except
 * tab, LF and CR become U+FFFD, one for one, so positions stay the same. This also disarms terminal escape
 * sequences.
 */
export function toCleanText(text: string): string {
  return text.toWellFormed().replaceAll(CONTROLS, "\ufffd");
}

/** Length in UTF-8 bytes; a lone surrogate counts as the U+FFFD it is sent as. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A maximum length: in characters (UTF-16 code units, as `length` counts) or in UTF-8 bytes. */
type TextLimit = number | { readonly maxBytes: number };

/**
 * The text, or its beginning and end around a line that says how much is missing. The result never exceeds
 * `limit` (a number: characters) or splits a surrogate pair. If there is no room for the line, only the
 * beginning is kept.
 */
export function truncateMiddle(text: string, limit: TextLimit): string {
  const inBytes = typeof limit !== "number";
  const max = Math.max(0, Math.floor(inBytes ? limit.maxBytes : limit));
  // A code unit takes at most three bytes, so most texts need no measuring.
  if (text.length * (inBytes ? 3 : 1) <= max) return text;
  const sizeOf = inBytes ? utf8Length : (part: string): number => part.length;
  const size = sizeOf(text);
  if (size <= max) return text;
  const unit = inBytes ? "bytes" : "characters";
  const room = max - sizeOf(omissionLine(size, unit));
  if (room <= 0) return text.slice(0, unitsWithin(text, max, inBytes));
  const head = text.slice(0, unitsWithin(text, Math.ceil(room / 2), inBytes));
  const tailRoom = Math.floor(room / 2);
  let from = unitsWithin(text, size - tailRoom, inBytes);
  // Drop what does not fit completely.
  if (sizeOf(text.slice(from)) > tailRoom) from += (text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1;
  const tail = text.slice(from);
  return head + omissionLine(size - sizeOf(head) - sizeOf(tail), unit) + tail;
}

/** Length of the longest beginning within so many bytes or characters. */
function unitsWithin(text: string, limit: number, inBytes: boolean): number {
  if (inBytes) return new TextEncoder().encodeInto(text, new Uint8Array(limit)).read;
  return limit > 0 && (text.codePointAt(limit - 1) ?? 0) > 0xffff ? limit - 1 : limit;
}

function omissionLine(missing: number, unit: string): string {
  return `\n… ${missing} ${unit} left out …\n`;
}

/**
 * The candidate `word` was probably meant to be, for "did you mean": equal apart from case, blanks, dashes
 * and underscores, a few typos away, or containing it or contained in it. `undefined` if none is close. Work
 * is bounded: words longer than 64 characters match nothing, and at most 1,000 candidates are considered.
 */
export function closestMatch(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = foldWord(word);
  if (wanted === "" || wanted.length > MAX_WORD) return undefined;
  let best: string | undefined;
  let bestCost = Number.POSITIVE_INFINITY;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > MAX_CANDIDATES) break;
    const cost = distance(wanted, foldWord(candidate));
    if (cost < bestCost) {
      best = candidate;
      bestCost = cost;
    }
  }
  return best;
}

/** The same as a sentence to append, ` Did you mean …?`; empty if none is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const guess = closestMatch(word, candidates);
  return guess === undefined ? "" : ` Did you mean ${guess}?`;
}

/** The number a text spells; `NaN` if it is none, or a whole number that would lose digits. */
export function numberOf(text: string): number {
  const value = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) return Number.NaN;
  const whole = /^\s*\+?(-?\d+)(?:\.0*)?\s*$/.exec(text)?.[1];
  return whole === undefined || BigInt(whole) === BigInt(value) ? value : Number.NaN;
}

const MAX_WORD = 64;
const MAX_CANDIDATES = 1000;

const CONTROLS: RegExp = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

function foldWord(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_-]/g, "");
}

/** Edits between two words; infinite if the words are too different to suggest a typo. */
function distance(a: string, b: string): number {
  if (a === b) return 0;
  if (b === "" || b.length > MAX_WORD) return Number.POSITIVE_INFINITY;
  const edits = editDistance(a, b);
  if (edits <= Math.floor(Math.max(a.length, b.length) / 3)) return edits;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 3 && long.includes(short)
    ? MAX_WORD + long.length - short.length
    : Number.POSITIVE_INFINITY;
}

/** Insertions, deletions, substitutions and swaps between two words; takes quadratic time. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/** The text, or its first `most` characters and an ellipsis. */
export function truncateEnd(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit).toWellFormed()}…`;
}

export function commonPrefixLength(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  return at;
}

/** A number with its noun: `1 run`, `2 runs`; pass `plural` for irregular ones. */
export function pluralize(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** A text in single quotes, taken literally by every POSIX shell. */
export function singleQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text as one word of a command line to paste into a shell, quoted if necessary. */
export function quoteShellArgument(text: string): string {
  // zsh expands a word that starts with = to the path of a program.
  return /^(?!=)[\w./:@%+,=-]+$/.test(text) ? text : singleQuote(text);
}

/** A text as a Markdown code block, with a fence longer than any inside it. */
export function toCodeBlock(text: string, language = ""): string {
  let fence = "```";
  for (const [run] of text.matchAll(/`+/g)) if (run.length >= fence.length) fence = `${run}\``;
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const FIRST_FACTOR = 0x9e3779b1;
const SECOND_FACTOR = 0x85ebca77;

/** A 53-bit hash, for comparing texts that need not be kept. Not safe against deliberate collisions. */
export function hashText(text: string): number {
  let low = 0x2545f491;
  let high = 0x6c62272e;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, FIRST_FACTOR);
    high = Math.imul(high ^ code, SECOND_FACTOR);
    low ^= low >>> 15;
    high ^= high >>> 13;
  }
  low = Math.imul(low ^ (high >>> 16) ^ text.length, SECOND_FACTOR);
  high = Math.imul(high ^ (low >>> 15), FIRST_FACTOR);
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}

/** Number of pieces after which they are joined. */
const MAX_PIECES = 512;

/**
 * A text that arrives in many small pieces. A string built only by appending keeps every piece alive until it
 * is read, each larger than its few characters: a long answer would take ten times its length.
 */
export class TextBuffer {
  #text = "";
  #pieces: string[] = [];
  /** Text returned by {@link appendAndRead} but not joined yet. */
  #unjoined = "";

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length === MAX_PIECES) this.#join();
  }

  /** Adds a piece and returns the whole text so far. */
  appendAndRead(piece: string): string {
    this.#unjoined += piece;
    this.add(piece);
    return this.#text + this.#unjoined;
  }

  toString(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    if (this.#pieces.length === 0) return;
    this.#text += this.#pieces.join("");
    this.#pieces = [];
    this.#unjoined = "";
  }
}

/** Removes secrets from texts and leaves marks such as `«redacted:key»` in their place. Never throws. */
export interface Redaction {
  /** The text without secrets; the same string if it has none. */
  text(text: string): string;
  /** For a text that arrives in pieces. */
  stream(): RedactionStream;
  /**
   * The text without secrets of known value, for a person who has to decide about it: what merely looks like
   * a secret may be code that would run. If absent, such a text is shown unchanged.
   */
  known?(text: string): string;
}

/** One text in pieces. What may be the start of a secret is held back until it is certain. */
export interface RedactionStream {
  /** The text that is certain so far, including earlier pieces that were held back. */
  push(piece: string): string;
  /** The text held back, because it must be shown now or nothing more comes. */
  flush(): string;
}

/**
 * The marker that replaces a secret: `«redacted:github-token»`. Only letters, digits, `_`, `.` and `-` of
 * `kind` stay.
 */
export function redactionMarker(kind: string): string {
  return `«redacted:${kind.replaceAll(/[^A-Za-z0-9_.-]/g, "").slice(0, 80) || "secret"}»`;
}

/** The first marker in a text, if any. A text with a marker is not the original. */
export function findRedactionMarker(text: string): string | undefined {
  return MARK.exec(text)?.[0];
}

const MARK = /«redacted:[A-Za-z0-9_.-]{1,80}»/;
