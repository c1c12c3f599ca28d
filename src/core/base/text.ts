/**
 * Text that every provider and every journal takes: lone surrogates, NUL and the other C0 control characters except tab, line feed
 * and carriage return become U+FFFD, one for one, so positions stay. Escape sequences of terminals lose their effect that way.
 */
export function toCleanText(text: string): string {
  return text.toWellFormed().replaceAll(CONTROLS, "\ufffd");
}

/** Bytes of the text in UTF-8; a lone surrogate counts as the U+FFFD it is sent as. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const width = utf8Width(text, at);
    bytes += width;
    if (width === 4) at += 1;
  }
  return bytes;
}

/** The most a text may have: characters (UTF-16 code units, as `length` counts) or bytes in UTF-8. */
export type TextLimit = number | { readonly maxBytes: number };

/**
 * The text, or its beginning and end around a line that says how much is missing. The result is never longer than `limit`
 * (a number: characters) and never holds half a surrogate pair, nor, as far as that is cheap to see, half a grapheme. Where there
 * is no room for the line, only the beginning is kept.
 */
export function truncateMiddle(text: string, limit: TextLimit): string {
  const inBytes = typeof limit !== "number";
  const max = Math.max(0, Math.floor(inBytes ? limit.maxBytes : limit));
  const size = (part: string): number => (inBytes ? utf8Length(part) : part.length);
  // A code unit takes at most three bytes: most texts need not be measured.
  if (text.length * (inBytes ? 3 : 1) <= max) return text;
  const total = size(text);
  if (total <= max) return text;
  const unit = inBytes ? "bytes" : "characters";
  const room = max - size(gapLine(total, unit));
  if (room <= 0) return text.slice(0, boundaryBefore(text, inBytes ? indexOfByte(text, max) : max));
  const headSize = Math.ceil(room / 2);
  const headEnd = boundaryBefore(text, inBytes ? indexOfByte(text, headSize) : headSize);
  const tailSize = room - headSize;
  const tailStart = boundaryAfter(
    text,
    inBytes ? indexOfByteFromEnd(text, tailSize) : text.length - tailSize,
  );
  const head = text.slice(0, headEnd);
  const tail = text.slice(tailStart);
  return head + gapLine(total - size(head) - size(tail), unit) + tail;
}

/**
 * The candidate that `word` was probably meant to be, for "did you mean": equal but for case, blanks, dashes and underscores, or a
 * few slips of the keyboard away, or one holding the other. `undefined` when none is close. Work is bounded: words longer than 64
 * characters have no neighbours, and at most 1,000 candidates are looked at.
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

const MAX_WORD = 64;
const MAX_CANDIDATES = 1000;

/** Steps a cut may move to spare a grapheme. */
const MAX_STEPS = 32;

const CONTROLS: RegExp = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

/** Code points that never begin a grapheme: marks, joiners, emoji modifiers and tags. */
const CONTINUES = /^[\p{M}\u200c\u200d\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]/u;

function gapLine(missing: number, unit: string): string {
  return `\n… ${missing} ${unit} left out …\n`;
}

function utf8Width(text: string, at: number): 1 | 2 | 3 | 4 {
  const code = text.charCodeAt(at);
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return isHigh(code) && isLow(text.charCodeAt(at + 1)) ? 4 : 3;
}

/** The furthest index whose text before it has at most `bytes` bytes. */
function indexOfByte(text: string, bytes: number): number {
  let at = 0;
  let used = 0;
  while (at < text.length) {
    const width = utf8Width(text, at);
    used += width;
    if (used > bytes) return at;
    at += width === 4 ? 2 : 1;
  }
  return at;
}

/** The first index whose text from it to the end has at most `bytes` bytes. */
function indexOfByteFromEnd(text: string, bytes: number): number {
  let at = text.length;
  let used = 0;
  while (at > 0) {
    const start = splitsPair(text, at - 1) ? at - 2 : at - 1;
    used += utf8Width(text, start);
    if (used > bytes) return at;
    at = start;
  }
  return at;
}

function boundaryBefore(text: string, index: number): number {
  let at = index;
  for (let steps = 0; at > 0 && steps < MAX_STEPS && insideGrapheme(text, at); steps += 1) at -= 1;
  return splitsPair(text, at) ? at - 1 : at;
}

function boundaryAfter(text: string, index: number): number {
  let at = index;
  for (let steps = 0; at < text.length && steps < MAX_STEPS && insideGrapheme(text, at); steps += 1) at += 1;
  return splitsPair(text, at) ? at + 1 : at;
}

function insideGrapheme(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const before = text.charCodeAt(at - 1);
  if (splitsPair(text, at) || before === 0x200d) return true;
  const code = text.codePointAt(at) ?? 0;
  if (code === 0x0a) return before === 0x0d;
  return code >= 0x300 && CONTINUES.test(String.fromCodePoint(code));
}

function splitsPair(text: string, at: number): boolean {
  return isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1));
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_-]/g, "");
}

/** Insertions, deletions, changes and swaps between two words; infinite where that says nothing about what was meant. */
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

function editDistance(a: string, b: string): number {
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

/** A number with its noun as people read it: `1 run`, `2 runs`; `plural` where an s does not make it. */
export function counted(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
