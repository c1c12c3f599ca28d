import { Lexer, type Token, type Tokens } from "marked";
import { graphemes } from "../../text/columns.ts";
import { cutLine, type Line, line, span, textLines, wrapLine } from "../paint/line.ts";
import type { Marks } from "../paint/theme.ts";
import { CodeHighlighter } from "./highlight.ts";
import { inlineLines, tableRows } from "./lay-out.ts";

/** List and quote levels that are shown; deeper ones look like the deepest. */
const MAX_LEVELS = 6;
/** A longer line or block is shown as written, piece by piece; each piece ends its row. */
const MAX_PIECE = 8_000;
/** Characters examined at once. */
const MAX_WINDOW = 64_000;
/** Width left for text, however deeply nested. */
const LEAST_WIDTH = 4;

/**
 * Markdown that arrives in pieces. A block's rows are handed out once the block has certainly ended, and
 * lines of code blocks one by one; the rest is laid out again each time it is requested.
 */
export class MarkdownStream {
  readonly #marks: Marks;
  /** The text not handed out yet. It begins at a block, or inside a code block. */
  #source = "";
  #fence: Fence | undefined;
  /** True if the previous line was split: the rest of it is plain text, whatever it looks like. */
  #isCut = false;
  #hasOutput = false;
  #isEnded = false;

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  push(text: string): void {
    this.#source += text.replaceAll("\r", "");
  }

  end(): void {
    this.#isEnded = true;
  }

  /** Rows that will not change any more; each is returned once. */
  take(width: number): readonly Line[] {
    const rows: Line[] = [];
    for (let left = -1; left !== this.#source.length; ) {
      left = this.#source.length;
      rows.push(...(this.#fence === undefined ? this.#blockRows(width) : this.#codeRows(this.#fence, width)));
    }
    return rows;
  }

  /** The rows of the unfinished rest. */
  open(width: number): readonly Line[] {
    // Marks whose meaning is still open are hidden to avoid flicker.
    const text = this.#source.slice(0, MAX_WINDOW).replace(/(?<=^|\n)[\s>*+_#=`~|-]*$/, "");
    if (text.trim() === "") return [];
    if (this.#fence !== undefined) return codeRows([this.#fence.code.peek(text)], width);
    const isPlain = this.#isCut || ODD_LINE.test(text);
    const rows = isPlain ? plainRows(text, width) : layOut(blocksOf(text), width, this.#marks);
    return [...this.#gap(), ...rows];
  }

  #blockRows(width: number): readonly Line[] {
    const odd = this.#isCut ? 0 : (ODD_LINE.exec(this.#source.slice(0, MAX_WINDOW))?.index ?? -1);
    if (odd === 0) return this.#pieceRows(width);
    const text = odd > 0 ? this.#source.slice(0, odd) : this.#certain();
    const fence = FENCE.exec(text);
    if (fence !== null) return this.#openFence(fence);
    const blocks = blocksOf(text);
    const isAll = odd > 0 || (this.#isEnded && text.length === this.#source.length);
    const end = endOfCertain(blocks, isAll, text.length);
    this.#source = this.#source.slice(blocks[end]?.start ?? text.length);
    const rows = layOut(blocks.slice(0, end), width, this.#marks);
    return rows.length === 0 ? [] : [...this.#gapOnce(), ...rows];
  }

  #openFence([head, mark = "", language = ""]: RegExpExecArray): readonly Line[] {
    this.#source = this.#source.slice(head.length);
    this.#fence = { mark, code: new CodeHighlighter(language.split(/[\s{,]/, 1)[0] ?? "") };
    return this.#gapOnce();
  }

  /** The complete lines; once the stream has ended, everything. */
  #certain(): string {
    const text = this.#source.slice(0, MAX_WINDOW);
    const isAll = this.#isEnded && text.length === this.#source.length;
    return isAll ? text : text.slice(0, text.lastIndexOf("\n") + 1);
  }

  /** Rows of text too long to be anything but plain. */
  #pieceRows(width: number): readonly Line[] {
    const end = this.#source.indexOf("\n") + 1;
    const isWhole = end > 0 || this.#isEnded;
    const length = end > 0 ? end : this.#source.length;
    if (!isWhole && length <= MAX_PIECE) return [];
    const text = this.#source.slice(0, length <= MAX_PIECE ? length : cutAt(this.#source));
    const gap = this.#isCut ? [] : this.#gapOnce();
    this.#isCut = text.length < length;
    this.#source = this.#source.slice(text.length);
    return text === "" ? [] : [...gap, ...plainRows(text.replace(/\n$/, ""), width)];
  }

  /** The complete lines of an open block of code. */
  #codeRows({ mark, code }: Fence, width: number): readonly Line[] {
    const lines: Line[] = [];
    for (;;) {
      const end = this.#source.indexOf("\n");
      const isCut = end < 0 && this.#source.length > MAX_PIECE;
      if (this.#source === "" || (end < 0 && !isCut && !this.#isEnded)) break;
      const text = this.#source.slice(0, isCut ? cutAt(this.#source) : end < 0 ? undefined : end);
      this.#source = this.#source.slice(text.length + (end < 0 ? 0 : 1));
      if (/^ {0,3}(`{3,}|~{3,})\s*$/.exec(text)?.[1]?.startsWith(mark) === true) {
        this.#fence = undefined;
        break;
      }
      lines.push(code.next(text));
    }
    return codeRows(lines, width);
  }

  #gap(): readonly Line[] {
    return this.#hasOutput && !this.#isCut ? [[]] : [];
  }

  #gapOnce(): readonly Line[] {
    const gap = this.#gap();
    this.#hasOutput = true;
    return gap;
  }
}

interface Fence {
  readonly mark: string;
  readonly code: CodeHighlighter;
}

const FENCE = /^ {0,3}(`{3,}(?=[^`\n]*\n)|~{3,})([^\n]*)\n/;

export function markdownRows(text: string, width: number, marks: Marks): readonly Line[] {
  const stream = new MarkdownStream(marks);
  stream.push(textLines(text).join("\n"));
  stream.end();
  return stream.take(width);
}

/** Number of blocks that can be handed out: those before code, whose lines come one by one. */
function endOfCertain(blocks: readonly PlacedBlock[], isAll: boolean, chars: number): number {
  // The last block may continue, unless it is long enough already.
  const last = blocks.findLastIndex(({ token }) => token.type !== "space");
  const isOver = isAll || (last <= 0 && chars > MAX_PIECE);
  const end = isOver ? blocks.length : Math.max(0, last);
  const fence = blocks.findIndex(({ token }) => FENCE.test(token.raw));
  return fence < 0 ? end : Math.min(end, fence);
}

/** A line that is too long, or nested in too many quotes and lists to be readable text. */
const ODD_LINE = /^(?:[^\n]{8001}|(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){40})/m;

/** The position to split overlong text: at a blank, else between characters. */
function cutAt(text: string): number {
  const start = text.slice(0, MAX_PIECE);
  const blank = start.lastIndexOf(" ") + 1;
  // More text could join the last character.
  return blank > MAX_PIECE / 2 ? blank : MAX_PIECE - (graphemes(start.slice(-64)).at(-1)?.length ?? 0);
}

interface PlacedBlock {
  readonly token: Token;
  /** Where it begins in the text. */
  readonly start: number;
}

/** The blocks of a text. Anything not recognized as a block stays as written. */
function blocksOf(text: string): readonly PlacedBlock[] {
  const blocks: PlacedBlock[] = [];
  let at = 0;
  const plain = (end: number): void => {
    const raw = text.slice(at, end);
    if (raw.trim() !== "") blocks.push({ token: { type: "html", raw }, start: at });
  };
  for (const token of new Lexer().blockTokens(text, [])) {
    // Trailing blanks of a token may differ from those of the text.
    const raw = token.raw.trimEnd();
    const start = text.indexOf(raw, at);
    if (start < 0) break;
    plain(start);
    blocks.push({ token, start });
    at = start + raw.length;
  }
  plain(text.length);
  return blocks;
}

function layOut(blocks: readonly PlacedBlock[], width: number, marks: Marks): readonly Line[] {
  const tokens = blocks.map(({ token }) => token);
  return inBlocks(tokens, width, marks, 0);
}

function inBlocks(tokens: readonly Token[], width: number, marks: Marks, level: number): readonly Line[] {
  const drawn = tokens.map((token) => blockRows(token, width, marks, level));
  return drawn
    .filter((rows) => rows.length > 0)
    .flatMap((rows, index) => (index === 0 ? rows : [[], ...rows]));
}

function blockRows(given: Token, width: number, marks: Marks, level: number): readonly Line[] {
  const token = given as Block;
  switch (token.type) {
    case "space":
    case "checkbox":
      return [];
    case "code":
      return codeRows(coloured(token), width);
    case "heading":
      return wrapped(inlineLines(token.text, { role: "heading", bold: true }), width);
    case "paragraph":
    case "text":
      // Rows of a would-be table whose second line does not fit.
      return token.text.split(/\n(?=\s*\|)/).flatMap((each) => wrapped(inlineLines(each), width));
    case "hr":
      return [line(marks.rule.repeat(Math.max(3, Math.min(40, width - 4))), { role: "muted" })];
    case "blockquote": {
      const bar = span(`${marks.column} `, { role: "muted" });
      const isDeep = level >= MAX_LEVELS;
      const rows = inBlocks(token.tokens, isDeep ? width : inner(width, 2), marks, level + 1);
      return isDeep ? rows : rows.map((row) => [bar, ...row]);
    }
    case "list":
      return listRows(token, width, marks, level);
    case "table": {
      const lines = token.raw.trimEnd().split("\n");
      return tableRows(lines, width, marks) ?? lines.flatMap((each) => wrapped(inlineLines(each), width));
    }
    default:
      return plainRows(token.raw.trimEnd(), width);
  }
}

type Block =
  | Tokens.Space
  | Tokens.Code
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.Hr
  | Tokens.Blockquote
  | Tokens.List
  | Tokens.Table
  | Tokens.HTML
  | { readonly type: "checkbox"; readonly raw: string };

function listRows(list: Tokens.List, width: number, marks: Marks, level: number): readonly Line[] {
  const first = Number(list.start);
  return list.items.flatMap((item, index) => {
    const number = list.ordered ? `${first + index}. ` : "";
    const box = item.task ? `${item.checked === true ? marks.ok : marks.todo} ` : "";
    const mark = number + box || `${marks.bullet} `;
    const size = level >= MAX_LEVELS ? 0 : mark.length;
    const parts = item.tokens.map((token) => blockRows(token, inner(width, size), marks, level + 1));
    const rows = parts.some((each) => each.length > 0) ? parts.flat() : [[]];
    const rest = span(" ".repeat(size));
    const isApart = /\n[ \t]*\n\s*$/.test(item.raw) && index < list.items.length - 1;
    const drawn = rows.map((row, at) => [at === 0 ? span(mark, { role: "accent" }) : rest, ...row]);
    return isApart ? [...drawn, []] : drawn;
  });
}

function inner(width: number, used: number): number {
  return Math.max(LEAST_WIDTH, width - used);
}

function coloured({ text, lang = "" }: Tokens.Code): readonly Line[] {
  const code = new CodeHighlighter(lang.split(/[\s{,]/, 1)[0] ?? "");
  return text.split("\n").map((each) => code.next(each));
}

function codeRows(lines: readonly Line[], width: number): readonly Line[] {
  const rows = lines.flatMap((each) => cutLine(each, inner(width, 2)));
  return rows.map((row) => [span("  "), ...row]);
}

function wrapped(lines: readonly Line[], width: number): readonly Line[] {
  return lines.flatMap((each) => wrapLine(each, { width }));
}

function plainRows(text: string, width: number): readonly Line[] {
  return text.split("\n").flatMap((each) => wrapLine(line(each), { width }));
}
