/**
 * Text that every provider and every journal takes: lone surrogates, NUL and the other C0 control characters
 * except tab, line feed and carriage return become U+FFFD, one for one, so positions stay. Escape sequences
 * of terminals lose their effect that way.
 */
export function toCleanText(text: string): string {
  return text.toWellFormed().replaceAll(CONTROLS, "\ufffd");
}

/** Bytes of the text in UTF-8; a lone surrogate counts as the U+FFFD it is sent as. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The most a text may have: characters (UTF-16 code units, as `length` counts) or bytes in UTF-8. */
type TextLimit = number | { readonly maxBytes: number };

/**
 * The text, or its beginning and end around a line that says how much is missing. The result is never longer
 * than `limit` (a number: characters) and never holds half a surrogate pair. Where there is no room for the
 * line, only the beginning is kept.
 */
export function truncateMiddle(text: string, limit: TextLimit): string {
  const inBytes = typeof limit !== "number";
  const max = Math.max(0, Math.floor(inBytes ? limit.maxBytes : limit));
  // A code unit takes at most three bytes: most texts need not be measured.
  if (text.length * (inBytes ? 3 : 1) <= max) return text;
  const sizeOf = inBytes ? utf8Length : (part: string): number => part.length;
  const size = sizeOf(text);
  if (size <= max) return text;
  const unit = inBytes ? "bytes" : "characters";
  const room = max - sizeOf(gapLine(size, unit));
  if (room <= 0) return text.slice(0, unitsWithin(text, max, inBytes));
  const head = text.slice(0, unitsWithin(text, Math.ceil(room / 2), inBytes));
  const most = Math.floor(room / 2);
  let from = unitsWithin(text, size - most, inBytes);
  // What does not fit in whole is left out.
  if (sizeOf(text.slice(from)) > most) from += (text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1;
  const tail = text.slice(from);
  return head + gapLine(size - sizeOf(head) - sizeOf(tail), unit) + tail;
}

/** The length of the longest beginning that takes at most so many bytes or characters. */
function unitsWithin(text: string, most: number, inBytes: boolean): number {
  if (inBytes) return new TextEncoder().encodeInto(text, new Uint8Array(most)).read;
  return most > 0 && (text.codePointAt(most - 1) ?? 0) > 0xffff ? most - 1 : most;
}

function gapLine(missing: number, unit: string): string {
  return `\n… ${missing} ${unit} left out …\n`;
}

/**
 * The candidate that `word` was probably meant to be, for "did you mean": equal but for case, blanks, dashes
 * and underscores, or a few slips of the keyboard away, or one holding the other. `undefined` when none is
 * close. Work is bounded: words longer than 64 characters have no neighbours, and at most 1,000 candidates
 * are looked at.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = fold(word);
  if (wanted === "" || wanted.length > MAX_WORD) return undefined;
  let best: string | undefined;
  let bestCost = Number.POSITIVE_INFINITY;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > MAX_CANDIDATES) break;
    const cost = distance(wanted, fold(candidate));
    if (cost < bestCost) {
      best = candidate;
      bestCost = cost;
    }
  }
  return best;
}

/** The same as the sentence ` Did you mean …?` behind a message; empty when none is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const guess = nearest(word, candidates);
  return guess === undefined ? "" : ` Did you mean ${guess}?`;
}

/** The number that a text spells; `NaN` for none, and for a whole one that would lose digits. */
export function numberOf(text: string): number {
  const value = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) return Number.NaN;
  const whole = /^\s*\+?(-?\d+)(?:\.0*)?\s*$/.exec(text)?.[1];
  return whole === undefined || BigInt(whole) === BigInt(value) ? value : Number.NaN;
}

const MAX_WORD = 64;
const MAX_CANDIDATES = 1000;

const CONTROLS: RegExp = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_-]/g, "");
}

/** Edits between two words; infinite where that says nothing about what was meant. */
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

/** Insertions, deletions, changes and swaps that make one word the other; quadratic in their length. */
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

/** A text, of a longer one the first `most` characters with a sign that there is more. */
export function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/** How many characters two texts have in common at their beginning. */
export function commonStart(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  return at;
}

/** A number with its noun as people read it: `1 run`, `2 runs`; `plural` where an s does not make it. */
export function counted(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** A text in single quotes, which every POSIX shell reads as just that. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text as one word of a command that a person may paste into a shell: quoted where it has to be. */
export function shellArgument(text: string): string {
  // A word that begins with = is the path of a program for zsh.
  return /^(?!=)[\w./:@%+,=-]+$/.test(text) ? text : singleQuoted(text);
}

/** A text as a block of code in Markdown, which shows it as it is: with a fence longer than any inside. */
export function fenced(text: string, language = ""): string {
  let fence = "```";
  for (const [run] of text.matchAll(/`+/g)) if (run.length >= fence.length) fence = `${run}\``;
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca77;

/**
 * A number of 53 bits for a text, equal for equal texts and almost never for others: to compare what need not
 * be kept. No protection against texts that are made to collide.
 */
export function hashText(text: string): number {
  let low = 0x2545f491;
  let high = 0x6c62272e;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, FIRST);
    high = Math.imul(high ^ code, SECOND);
    low ^= low >>> 15;
    high ^= high >>> 13;
  }
  low = Math.imul(low ^ (high >>> 16) ^ text.length, SECOND);
  high = Math.imul(high ^ (low >>> 15), FIRST);
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}

/** Pieces after which they are put together. */
const MAX_PIECES = 512;

/**
 * A text that comes in many small pieces. A string that is only ever added to keeps all its pieces, each
 * larger than the few characters it holds, for as long as nobody reads it: a long answer would take ten times
 * its length.
 */
export class GrowingText {
  #text = "";
  #pieces: string[] = [];
  /** The pieces as one text, where somebody reads along. */
  #open = "";

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length === MAX_PIECES) this.#join();
  }

  /** Adds a piece and returns the text so far: for who reads along, in place of {@link add}. */
  grow(piece: string): string {
    this.#open += piece;
    this.add(piece);
    return this.#text + this.#open;
  }

  toString(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    if (this.#pieces.length === 0) return;
    this.#text += this.#pieces.join("");
    this.#pieces = [];
    this.#open = "";
  }
}

/** Takes secrets out of texts, and leaves marks such as `«redacted:key»` in their places. Never throws. */
export interface Redaction {
  /** The text without secrets; the same text where it holds none. */
  text(text: string): string;
  /** For one text that comes in pieces. */
  stream(): RedactionStream;
  /**
   * The text without those secrets whose values are known, for a person who decides on it: what only looks
   * like a secret may be code that would run. Absent: such a text is shown as it is.
   */
  known?(text: string): string;
}

/** One text in pieces. What could be the beginning of a secret is held back until it is certain. */
export interface RedactionStream {
  /** The text that is certain by now: of this piece, and of those held back before. */
  push(piece: string): string;
  /** The text that was held back, for somebody who looks now or because nothing more comes. */
  flush(): string;
}

/** Stands where a secret was: `«redacted:github-token»`. `kind` keeps letters, digits, `_`, `.` and `-`. */
export function redactionMark(kind: string): string {
  return `«redacted:${kind.replaceAll(/[^A-Za-z0-9_.-]/g, "").slice(0, 80) || "secret"}»`;
}

/** The first mark in a text, if any. A text with a mark is not the text it stands for. */
export function findRedactionMark(text: string): string | undefined {
  return MARK.exec(text)?.[0];
}

const MARK = /«redacted:[A-Za-z0-9_.-]{1,80}»/;
