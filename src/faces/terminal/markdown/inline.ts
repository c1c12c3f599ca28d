import { type Line, type Span, span } from "../paint/line.ts";
import type { Style } from "../paint/theme.ts";

export interface InlinePart {
  readonly spans: Line;
  /** End in the source. */
  readonly end: number;
  /** True: each character of the source is one of the spans. */
  readonly isPlain: boolean;
}

export interface InlineText {
  readonly parts: readonly InlinePart[];
  /** Position in the source from which more text could change the parts. */
  readonly stableTo: number;
}

const MAX_DEPTH = 6;
const MAX_LABEL = 1_000;
const MAX_ADDRESS = 2_000;

/** Parses one paragraph. Incomplete markup stays plain text. */
export function parseInline(text: string, base: Style = {}): InlineText {
  return new InlineParser(text, base, 0).parse();
}

export function inlineSpans(text: string, base: Style = {}): Line {
  return inlineOf(text, base, 0);
}

class InlineParser {
  readonly #text: string;
  readonly #base: Style;
  readonly #depth: number;
  readonly #parts: InlinePart[] = [];
  /** Markup without a closing counterpart in the rest. */
  readonly #unclosed = new Set<string>();
  #stableTo: number;
  #plainFrom = 0;

  constructor(text: string, base: Style, depth: number) {
    this.#text = text;
    this.#base = base;
    this.#depth = depth;
    this.#stableTo = text.length;
  }

  parse(): InlineText {
    const text = this.#text;
    let at = 0;
    const special = /[\\`*_~[!<]|https?:\/\//g;
    for (;;) {
      special.lastIndex = at;
      const found = this.#depth > MAX_DEPTH ? null : special.exec(text);
      if (found === null) break;
      const end = this.#take(found.index);
      at = end ?? found.index + (found[0].length > 1 ? found[0].length : runLength(text, found.index));
    }
    this.#plain(text.length);
    return { parts: this.#parts, stableTo: this.#stableTo };
  }

  #take(at: number): number | undefined {
    const text = this.#text;
    switch (text[at]) {
      case "\\":
        return this.#escape(at);
      case "`":
        return this.#code(at);
      case "*":
      case "_":
      case "~":
        return this.#emphasis(at);
      case "!":
        return text[at + 1] === "[" ? this.#link(at + 1, at) : this.#markUnstable(at);
      case "[":
        return this.#link(at, at);
      case "<": {
        const found = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/.exec(text.slice(at, at + MAX_ADDRESS));
        return found === null ? undefined : this.#address(at, at + found[0].length, found[1] ?? "");
      }
      default:
        return this.#bareAddress(at);
    }
  }

  #escape(at: number): number | undefined {
    const next = this.#text[at + 1];
    if (next === undefined) return this.#markUnstable(at);
    if (!/[!-/:-@[-`{-~]/.test(next)) return undefined;
    return this.#part(at, at + 2, [span(next, this.#base)]);
  }

  #code(at: number): number | undefined {
    const text = this.#text;
    const length = runLength(text, at);
    const mark = "`".repeat(length);
    const from = at + length;
    let end = this.#unclosed.has(mark) ? -1 : text.indexOf(mark, from);
    while (end >= 0 && runLength(text, end) !== length) end = text.indexOf(mark, end + runLength(text, end));
    if (end < 0) return this.#markUnclosed(mark, at);
    const code = text.slice(from, end);
    const trimmed = /^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code;
    return this.#part(at, end + length, [span(trimmed, { ...this.#base, role: "code" })]);
  }

  #emphasis(at: number): number | undefined {
    const text = this.#text;
    const char = text[at] ?? "";
    const run = runLength(text, at);
    const length = Math.min(run, char === "~" ? 2 : 3);
    const next = text[at + run];
    if (next === undefined) return this.#markUnstable(at);
    if ((char === "~" && run !== 2) || /\s/.test(next)) return undefined;
    if (char === "_" && /[\p{L}\p{N}]/u.test(text[at - 1] ?? " ")) return undefined;
    const mark = char.repeat(length);
    const end = this.#closing(mark, at + length);
    if (end === undefined) return this.#markUnclosed(mark, at);
    const style = withEmphasis(this.#base, mark);
    return this.#part(at, end + length, inlineOf(text.slice(at + length, end), style, this.#depth + 1));
  }

  #closing(mark: string, from: number): number | undefined {
    const text = this.#text;
    if (this.#unclosed.has(mark)) return undefined;
    let at = text.indexOf(mark, from + 1);
    while (at >= 0) {
      const run = runLength(text, at);
      const isRight = !/\s/.test(text[at - 1] ?? " ");
      const isWordEnd = mark[0] !== "_" || !/[\p{L}\p{N}]/u.test(text[at + run] ?? " ");
      if (isRight && isWordEnd && (run === mark.length || run > 2)) return at;
      at = text.indexOf(mark, at + run);
    }
    return undefined;
  }

  #link(at: number, from: number): number | undefined {
    const text = this.#text;
    if (this.#unclosed.has("]")) return undefined;
    const close = closingBracket(text, at);
    if (close === undefined) return text.length - at > MAX_LABEL ? undefined : this.#markUnclosed("]", from);
    if (close + 1 >= text.length) return this.#markUnstable(from);
    if (text[close + 1] !== "(") return undefined;
    const rest = text.slice(close + 2, close + 2 + MAX_ADDRESS);
    const found = TARGET.exec(rest);
    if (found === null)
      return rest.includes(")") || rest.length === MAX_ADDRESS ? undefined : this.#markUnstable(from);
    const label = text.slice(at + 1, close);
    if (from === at && HAS_LINK.test(label)) return undefined;
    const end = close + 2 + found[0].length;
    return this.#part(from, end, this.#linkSpans(label, found[1] ?? found[2] ?? ""));
  }

  #linkSpans(label: string, target: string): Line {
    const style: Style = { ...this.#base, role: "link", link: target };
    const inner = label === "" ? [span(target, style)] : inlineOf(label, style, this.#depth + 1);
    // Shows the address, because links may not be clickable or may be misleading.
    const shows = /^(?:https?|mailto):/.test(target) && !target.includes(label.trim());
    return shows ? [...inner, span(` (${target})`, { ...this.#base, role: "muted" })] : inner;
  }

  #bareAddress(at: number): number | undefined {
    const found = /^https?:\/\/[^\s<>"'`|\\\u3000-\u303f\uff00-\uffef]+/.exec(
      this.#text.slice(at, at + MAX_ADDRESS),
    )?.[0];
    if (found === undefined) return undefined;
    const trimmed = found.replace(/[.,;:!?*_~)\]}]+$/, (tail) =>
      tail.startsWith(")") && found.includes("(") ? ")" : "",
    );
    if (at + found.length >= this.#text.length) this.#stableTo = Math.min(this.#stableTo, at);
    return this.#address(at, at + trimmed.length, trimmed);
  }

  #address(at: number, end: number, target: string): number {
    return this.#part(at, end, [span(target, { ...this.#base, role: "link", link: target })]);
  }

  #part(from: number, end: number, spans: Line): number {
    this.#plain(from);
    this.#parts.push({ spans, end, isPlain: false });
    this.#plainFrom = end;
    return end;
  }

  #plain(end: number): void {
    if (end <= this.#plainFrom) return;
    const text = this.#text.slice(this.#plainFrom, end);
    const plain: Span = span(text, this.#base);
    this.#parts.push({ spans: [plain], end, isPlain: plain.text.length === text.length });
    this.#plainFrom = end;
  }

  /** More text could turn this into markup. */
  #markUnstable(at: number): undefined {
    this.#stableTo = Math.min(this.#stableTo, at);
    return undefined;
  }

  #markUnclosed(mark: string, at: number): undefined {
    this.#unclosed.add(mark);
    return this.#markUnstable(at);
  }
}

/** Of nested links only the inner one counts. */
const HAS_LINK = /(?<!!)\[[^[\]]*\]\(/;

/** A link's address, in angle brackets or without, and its title, which is not shown. */
const TARGET =
  /^\s*(?:<((?:[^\\<>\n]|\\.)*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))(?:\s+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)/;

function withEmphasis(base: Style, mark: string): Style {
  if (mark.startsWith("~")) return { ...base, strike: true };
  return {
    ...base,
    ...(mark.length >= 2 ? { bold: true } : {}),
    ...(mark.length === 2 ? {} : { italic: true }),
  };
}

function inlineOf(text: string, style: Style, depth: number): Line {
  return new InlineParser(text, style, depth).parse().parts.flatMap(({ spans }) => spans);
}

function runLength(text: string, at: number): number {
  const char = text[at];
  let end = at + 1;
  while (text[end] === char) end++;
  return end - at;
}

/** The closing bracket, ignoring code and addresses in angle brackets. */
function closingBracket(text: string, at: number): number | undefined {
  let depth = 0;
  const window = text.slice(at, at + MAX_LABEL);
  for (const found of window.matchAll(/\\.|(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|<[a-z]+:[^\s<>]*>|[[\]]/gs)) {
    if (found[0] === "[") depth++;
    else if (found[0] === "]" && --depth === 0) return at + found.index;
  }
  return undefined;
}
