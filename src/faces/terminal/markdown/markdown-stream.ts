import { graphemes } from "../../text/columns.ts";
import { type Line, line, lineColumns, sliceSpans, span, textLines, wrapSpans } from "../paint/line.ts";
import type { Marks } from "../paint/theme.ts";
import { CodeHighlighter } from "./highlight.ts";
import { parseInline } from "./inline.ts";
import { type Block, type Lead, layOutBlock } from "./lay-out.ts";

/** Deeper lists and quotes look like this level. */
const MAX_LEVELS = 6;
/** Emphasis open for longer than this is plain text. */
const MAX_OPEN = 4_000;
/** Longer lines and paragraphs are laid out in pieces; a row ends with each piece. */
const MAX_PIECE = 32_000;

type Leaf =
  | { readonly type: "paragraph"; text: string; skip: number; lead: Lead; readonly heading: boolean }
  | { readonly type: "table"; readonly lines: string[]; readonly lead: Lead }
  | {
      readonly type: "fence";
      readonly mark: string;
      readonly indent: number;
      readonly lead: Lead;
      readonly code: CodeHighlighter;
    };

/**
 * Lays out streamed Markdown. Rows that can no longer change are returned once; the rest is laid out again
 * for each frame. Work and memory depend on the open block alone.
 */
export class MarkdownStream {
  readonly #marks: Marks;
  #ready: Block[] = [];
  #leaf: Leaf | undefined;
  /** The start of the current line while its kind is unknown. */
  #start = "";
  /** True while the current line continues the open paragraph. */
  #inText = false;
  #levels: { readonly column: number; readonly quotes: number }[] = [];
  #gap = false;
  #hasOutput = false;
  #ended = false;

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  push(text: string): void {
    let rest = text.replaceAll("\r", "");
    while (rest !== "") {
      const end = rest.indexOf("\n");
      const part = end < 0 ? rest : rest.slice(0, end);
      for (let at = 0; at < part.length; at += MAX_PIECE) this.#take(part.slice(at, at + MAX_PIECE));
      if (end >= 0) this.#endLine();
      rest = end < 0 ? "" : rest.slice(end + 1);
    }
  }

  end(): void {
    if (this.#start !== "" || this.#inText) this.#endLine();
    this.#closeLeaf();
    this.#ended = true;
  }

  /** Rows that can no longer change; each is returned once. */
  takeFinalRows(width: number): readonly Line[] {
    const rows = this.#ready.flatMap((block) => layOutBlock(block, width, this.#marks));
    this.#ready = [];
    if (!this.#ended && this.#leaf?.type === "paragraph" && !this.#leaf.heading)
      rows.push(...this.#takeOpen(this.#leaf, width));
    return rows;
  }

  openRows(width: number): readonly Line[] {
    const rows = [...this.#openBlocks()].flatMap((block) => layOutBlock(block, width, this.#marks));
    return this.#start.trim() === "" || this.#inText ? rows : [...rows, ...this.#openStart(width)];
  }

  #openStart(width: number): readonly Line[] {
    // Hides markup that is still ambiguous, to avoid flicker.
    if (/^[\s>*+_#=`~-]*$/.test(this.#start) && this.#leaf?.type !== "fence") return [];
    if (this.#leaf?.type === "fence" || this.#leaf?.type === "table") return [];
    const lead: Lead = { first: [], rest: [] };
    return layOutBlock(
      { type: "paragraph", text: this.#start, lead, heading: false, skip: 0 },
      width,
      this.#marks,
    );
  }

  *#openBlocks(): Generator<Block> {
    const leaf = this.#leaf;
    if (leaf === undefined) return;
    if (leaf.type === "paragraph") yield { ...leaf };
    else if (leaf.type === "table")
      yield {
        type: "table",
        lines: /^\s*\|/.test(this.#start) ? [...leaf.lines, this.#start] : leaf.lines,
        lead: leaf.lead,
      };
    else if (this.#start !== "" && !isFenceEnd(this.#start, leaf.mark))
      yield { type: "code", spans: leaf.code.peek(unindent(this.#start, leaf.indent)), lead: leaf.lead };
  }

  #takeOpen(leaf: Extract<Leaf, { type: "paragraph" }>, width: number): readonly Line[] {
    const indent = Math.max(lineColumns(leaf.lead.first), lineColumns(leaf.lead.rest));
    const { parts, stableTo } = parseInline(leaf.text);
    const isForced = leaf.text.length > MAX_OPEN;
    const spans = parts.flatMap((part) => part.spans);
    let stable = 0;
    for (const part of parts) {
      if (!isForced && part.end > stableTo && !part.isPlain) break;
      const chars = part.spans.reduce((sum, each) => sum + each.text.length, 0);
      stable += isForced || part.end <= stableTo ? chars : Math.max(0, chars - (part.end - stableTo));
      if (!isForced && part.end > stableTo) break;
    }
    // Where a row ends depends on the next word: only certain text is wrapped.
    const certain = sliceSpans(spans, leaf.skip, stable - lastGrapheme(spans));
    const rows = wrapSpans(certain, Math.max(2, width - indent));
    const taken: Line[] = [];
    let chars = leaf.skip;
    for (const row of rows.slice(0, -1)) {
      taken.push([...(taken.length === 0 ? leaf.lead.first : leaf.lead.rest), ...row.spans]);
      chars = leaf.skip + row.end;
    }
    if (taken.length === 0) return [];
    leaf.lead = { first: leaf.lead.rest, rest: leaf.lead.rest };
    // Drops returned text, unless that would cut a link or emphasis.
    let source = 0;
    for (const part of parts) {
      const size = part.spans.reduce((sum, each) => sum + each.text.length, 0);
      if (size <= chars) {
        chars -= size;
        source = part.end;
        continue;
      }
      if (part.isPlain) {
        source += chars;
        chars = 0;
      }
      break;
    }
    leaf.text = leaf.text.slice(source);
    leaf.skip = chars;
    return taken;
  }

  #take(part: string): void {
    if (part === "") return;
    if (this.#inText && this.#leaf?.type === "paragraph") {
      this.#leaf.text += part;
      this.#splitLong(this.#leaf);
      return;
    }
    this.#start += part;
    if (this.#leaf?.type === "fence" && this.#start.length > MAX_PIECE) {
      const end = this.#start.length - lastGrapheme([{ text: this.#start, style: {} }]);
      this.#codeLine(this.#leaf, this.#start.slice(0, end));
      this.#start = this.#start.slice(end);
    }
    if (this.#leaf?.type !== "fence" && isDefinite(this.#start)) this.#startLine(this.#start, false);
  }

  #splitLong(leaf: Extract<Leaf, { type: "paragraph" }>): void {
    if (leaf.text.length <= MAX_PIECE) return;
    const blank = leaf.text.lastIndexOf(" ");
    const isNear = blank > MAX_PIECE / 2;
    const end = isNear ? blank : leaf.text.length - lastGrapheme([{ text: leaf.text, style: {} }]);
    this.#ready.push({ ...leaf, text: leaf.text.slice(0, end) });
    leaf.text = leaf.text.slice(isNear ? end + 1 : end);
    leaf.skip = 0;
    leaf.lead = { first: leaf.lead.rest, rest: leaf.lead.rest };
  }

  #endLine(): void {
    if (this.#inText) {
      this.#inText = false;
      if (this.#leaf?.type === "paragraph" && this.#leaf.heading) this.#closeLeaf();
    } else this.#startLine(this.#start, true);
    this.#start = "";
  }

  /** `isWhole` false: the line continues, as text of its paragraph. */
  #startLine(source: string, isWhole: boolean): void {
    const leaf = this.#leaf;
    if (leaf?.type === "fence") {
      this.#codeLine(leaf, source);
      return;
    }
    const { text, quotes, column } = unquote(source);
    const line = lineKind(text, isWhole);
    if (line.kind === "blank") {
      this.#closeLeaf();
      this.#gap = true;
    } else if (line.kind === "table" && leaf?.type === "table") leaf.lines.push(line.text);
    else if (line.kind === "text" && leaf?.type === "paragraph" && !leaf.heading) {
      leaf.text += `${/\S( {2,}|\\)$/.test(leaf.text) ? "\n" : " "}${text}`;
      this.#splitLong(leaf);
      this.#continueText(isWhole);
    } else {
      this.#closeLeaf();
      this.#enterLevels(column, quotes, line.kind === "item");
      const lead = this.#lead(quotes, line.kind === "item" ? itemMark(line, this.#marks) : undefined);
      if (line.kind !== "item" && line.kind !== "text") this.#gap = true;
      this.#emitGap();
      this.#openLeaf(line, { lead, column, isWhole });
    }
  }

  #openLeaf(
    line: Exclude<LineKind, { kind: "blank" }>,
    { lead, column, isWhole }: { readonly lead: Lead; readonly column: number; readonly isWhole: boolean },
  ): void {
    switch (line.kind) {
      case "rule":
        this.#ready.push({ type: "rule", lead });
        this.#gap = true;
        return;
      case "fence": {
        const code = new CodeHighlighter(line.language.split(/[\s{,]/, 1)[0]?.toLowerCase() ?? "");
        this.#leaf = { type: "fence", mark: line.mark, indent: column, lead: indented(lead), code };
        return;
      }
      case "table":
        this.#leaf = { type: "table", lines: [line.text], lead };
        return;
      default:
        this.#leaf = { type: "paragraph", text: line.text, skip: 0, lead, heading: line.kind === "heading" };
        this.#continueText(isWhole);
        if (isWhole && line.kind === "heading") this.#closeLeaf();
    }
  }

  #continueText(whole: boolean): void {
    this.#inText = !whole;
    this.#start = "";
  }

  #codeLine(leaf: Extract<Leaf, { type: "fence" }>, source: string): void {
    if (isFenceEnd(source, leaf.mark)) {
      this.#leaf = undefined;
      this.#gap = true;
      return;
    }
    const isQuoted = leaf.lead.first.some((each) => each.style.role === "muted");
    const text = isQuoted ? source.replace(/^\s*(?:> ?)+/, "") : source;
    this.#ready.push({ type: "code", spans: leaf.code.next(unindent(text, leaf.indent)), lead: leaf.lead });
  }

  #closeLeaf(): void {
    const leaf = this.#leaf;
    this.#leaf = undefined;
    if (leaf === undefined) return;
    if (leaf.type === "paragraph") {
      if (leaf.text.trim() !== "") this.#ready.push({ ...leaf });
      if (leaf.heading) this.#gap = true;
    } else if (leaf.type === "table") {
      this.#ready.push(leaf);
      this.#gap = true;
    }
  }

  #emitGap(): void {
    if (this.#gap && this.#hasOutput) this.#ready.push({ type: "blank" });
    this.#gap = false;
    this.#hasOutput = true;
  }

  #enterLevels(column: number, quotes: number, isItem: boolean): void {
    const levels = this.#levels.filter((level) => level.quotes === quotes && column >= level.column + 2);
    const kept = isItem || column > 0 ? levels : [];
    this.#levels = isItem ? [...kept, { column, quotes }] : kept;
  }

  #lead(quotes: number, mark: string | undefined): Lead {
    const bars = Array.from({ length: Math.min(quotes, MAX_LEVELS) }, () => `${this.#marks.column} `).join(
      "",
    );
    const quote: Line = bars === "" ? [] : [span(bars, { role: "muted" })];
    const depth = Math.min(this.#levels.length, MAX_LEVELS);
    const indent = "  ".repeat(mark === undefined ? depth : Math.max(0, depth - 1));
    const rest = indent + " ".repeat(mark?.length ?? 0);
    return {
      first: [
        ...quote,
        ...(indent === "" ? [] : line(indent)),
        ...(mark === undefined ? [] : [span(mark, { role: "accent" })]),
      ],
      rest: [...quote, ...(rest === "" ? [] : line(rest))],
    };
  }
}

export function markdownRows(text: string, width: number, marks: Marks): readonly Line[] {
  const stream = new MarkdownStream(marks);
  stream.push(textLines(text).join("\n"));
  stream.end();
  return stream.takeFinalRows(width);
}

function itemMark({ mark, box }: Extract<LineKind, { kind: "item" }>, marks: Marks): string {
  const number = /^\d/.test(mark) ? `${mark} ` : "";
  if (box !== undefined) return `${number}${box === "[ ]" ? marks.todo : marks.ok} `;
  return number === "" ? `${marks.bullet} ` : number;
}

function indented({ rest }: Lead): Lead {
  const lead = [...rest, span("  ")];
  return { first: lead, rest: lead };
}

function unindent(text: string, columns: number): string {
  let at = 0;
  while (at < columns && text[at] === " ") at++;
  return text.slice(at);
}

/** Length of the last grapheme, which more text could extend. */
function lastGrapheme(spans: Line): number {
  const end = spans
    .map(({ text }) => text)
    .join("")
    .slice(-MAX_GRAPHEME);
  return graphemes(end).at(-1)?.length ?? 0;
}

const MAX_GRAPHEME = 64;

type LineKind =
  | { readonly kind: "blank" }
  | { readonly kind: "fence"; readonly mark: string; readonly language: string }
  | { readonly kind: "item"; readonly mark: string; readonly box: string | undefined; readonly text: string }
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "rule" }
  | { readonly kind: "table"; readonly text: string }
  | { readonly kind: "text"; readonly text: string };

/** `isWhole` false: the line continues, so it is no fence, rule or table row. */
function lineKind(text: string, isWhole: boolean): LineKind {
  if (text === "") return { kind: "blank" };
  if (isWhole) {
    const fence = /^(`{3,}|~{3,})\s*([^`]*)$/.exec(text);
    if (fence !== null) return { kind: "fence", mark: fence[1] ?? "", language: (fence[2] ?? "").trim() };
    if (/^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/.test(text)) return { kind: "rule" };
    if (text.startsWith("|")) return { kind: "table", text };
  }
  const item = /^([-*+]|\d{1,9}[.)])\s+(\[[ xX]\]\s+)?(?=\S)/.exec(text);
  if (item !== null)
    return { kind: "item", mark: item[1] ?? "-", box: item[2]?.trim(), text: text.slice(item[0].length) };
  const heading = /^#{1,6}\s+/.exec(text);
  if (heading !== null) return { kind: "heading", text: text.slice(heading[0].length) };
  return { kind: "text", text };
}

/** A longer line is neither a table row nor a rule. */
const MAX_LINE = 16_000;

/** True once later text cannot change the kind of a line. */
function isDefinite(start: string): boolean {
  if (start.length > MAX_LINE) return true;
  const { text } = unquote(start);
  const [first] = text;
  if (first === undefined) return false;
  if (/[-*+_]/.test(first)) return /[^-*+_\s]/.test(text) && !/^[-*+]\s+\[.{0,2}$/.test(text);
  if (/\d/.test(first)) return /^\d+(?:[^\d.)]|[.)](?:\S|\s+\S)|\d{9})/.test(text);
  if (first === "#") return /^#{1,6}(?:\s+\S|[^#\s])|^#{7}/.test(text);
  if (first === "`" || first === "~") return /^(?:`{1,2}[^`]|~{1,2}[^~])/.test(text);
  return first !== "|";
}

function unquote(source: string): {
  readonly text: string;
  readonly quotes: number;
  readonly column: number;
} {
  let rest = source;
  let quotes = 0;
  for (let found = /^\s{0,3}> ?/.exec(rest); found !== null; found = /^\s{0,3}> ?/.exec(rest)) {
    rest = rest.slice(found[0].length);
    quotes++;
  }
  const text = rest.trimStart();
  const column = rest.slice(0, rest.length - text.length).replaceAll("\t", "    ").length;
  return { text, quotes, column };
}

function isFenceEnd(text: string, mark: string): boolean {
  const found = /^\s*(?:>\s?)*\s*(`{3,}|~{3,})\s*$/.exec(text)?.[1];
  return found?.startsWith(mark) === true;
}
