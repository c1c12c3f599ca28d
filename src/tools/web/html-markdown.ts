import { type Token, Tokenizer, TokenizerMode } from "parse5";

export interface MarkdownPage {
  readonly title: string | undefined;
  readonly markdown: string;
}

const SKIPPED: ReadonlySet<string> = new Set(
  "script style noscript template svg math iframe object canvas select dialog".split(" "),
);
const VOID: ReadonlySet<string> = new Set(
  "area base br col embed hr img input link meta source track wbr".split(" "),
);

/** How the text of these elements is read. Source: HTML Standard, 13.2.6.4. */
const MODES: ReadonlyMap<string, (typeof TokenizerMode)[keyof typeof TokenizerMode]> = new Map([
  ["title", TokenizerMode.RCDATA],
  ["textarea", TokenizerMode.RCDATA],
  ["style", TokenizerMode.RAWTEXT],
  ["xmp", TokenizerMode.RAWTEXT],
  ["iframe", TokenizerMode.RAWTEXT],
  ["noembed", TokenizerMode.RAWTEXT],
  ["noframes", TokenizerMode.RAWTEXT],
  ["script", TokenizerMode.SCRIPT_DATA],
  ["plaintext", TokenizerMode.PLAINTEXT],
]);

/** Elements that stand on their own lines. */
const BLOCKS: ReadonlySet<string> = new Set(
  "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend main nav ol p pre section summary table ul".split(
    " ",
  ),
);
const TABLE_PARTS: ReadonlySet<string> = new Set("table thead tbody tfoot tr td th".split(" "));
const CELLS: ReadonlySet<string> = new Set(["td", "th"]);
const ITEMS: ReadonlySet<string> = new Set(["dd", "dt"]);

/** The open elements that a start tag ends, and those that keep them open. */
const ENDED_BY: ReadonlyMap<string, readonly [ends: ReadonlySet<string>, unlessIn: ReadonlySet<string>]> =
  new Map([
    ["a", [new Set(["a"]), CELLS]],
    ["li", [new Set(["li"]), new Set(["ul", "ol"])]],
    ["dd", [ITEMS, new Set(["dl"])]],
    ["dt", [ITEMS, new Set(["dl"])]],
    ["tr", [new Set(["tr"]), new Set(["table"])]],
    ["td", [CELLS, new Set(["tr"])]],
    ["th", [CELLS, new Set(["tr"])]],
  ]);
const PARAGRAPH: ReadonlySet<string> = new Set(["p"]);
const HOLDERS: ReadonlySet<string> = new Set([...BLOCKS, ...TABLE_PARTS, "li"]);
/** An end tag in a cell ends nothing outside its table. */
const CELL: ReadonlySet<string> = new Set([...CELLS, "caption", "table"]);
const TABLE: ReadonlySet<string> = new Set(["table"]);

/** Elements below this depth only count as text: nesting costs neither time nor stack. */
const MAX_DEPTH = 100;

interface PageElement {
  readonly name: string;
  readonly attributes: Token.Attribute[];
  readonly children: (PageElement | string)[];
}

/** Takes time linear in the length of the page, and closes what is left open. */
export function htmlToMarkdown(html: string, base: string): MarkdownPage {
  const reader = new PageReader();
  const tokenizer = new Tokenizer({}, reader);
  reader.onMode = (mode, name) => {
    tokenizer.state = mode;
    tokenizer.lastStartTagName = name;
  };
  tokenizer.write(html, true);
  const writer = new MarkdownWriter(base);
  writer.addAll(reader.root, []);
  return { title: writer.title, markdown: writer.end() };
}

/** Builds a tree from tokens, simpler than the standard's algorithm, whose time can be quadratic. */
class PageReader {
  onMode: (mode: (typeof TokenizerMode)[keyof typeof TokenizerMode], name: string) => void = () => undefined;
  readonly root: PageElement = { name: "", attributes: [], children: [] };
  readonly #open: PageElement[] = [];

  onStartTag({ tagName: name, attrs: attributes, selfClosing }: Token.TagToken): void {
    const mode = MODES.get(name);
    if (mode !== undefined) this.onMode(mode, name);
    if (BLOCKS.has(name)) this.#end(PARAGRAPH, HOLDERS);
    const [ends, unlessIn] = ENDED_BY.get(name) ?? [];
    if (ends !== undefined && unlessIn !== undefined) this.#end(ends, unlessIn);
    if (this.#open.length === MAX_DEPTH && mode === undefined) return;
    const element = { name, attributes, children: [] };
    this.#add(element);
    if (!VOID.has(name) && (!selfClosing || mode !== undefined)) this.#open.push(element);
  }

  onEndTag({ tagName }: Token.TagToken): void {
    this.#end(new Set([tagName]), TABLE_PARTS.has(tagName) ? TABLE : CELL);
  }

  onCharacter({ chars }: Token.CharacterToken): void {
    this.#add(chars);
  }

  onWhitespaceCharacter({ chars }: Token.CharacterToken): void {
    this.#add(chars);
  }

  // None of these matters for the text.
  readonly onNullCharacter = nothing;
  readonly onComment = nothing;
  readonly onDoctype = nothing;
  readonly onEof = nothing;

  #add(node: PageElement | string): void {
    (this.#open.at(-1) ?? this.root).children.push(node);
  }

  /** Ends the innermost open element with one of these names and all in it, unless it is outside another. */
  #end(names: ReadonlySet<string>, unlessIn: ReadonlySet<string>): void {
    const at = this.#open.findLastIndex(({ name }) => names.has(name) || unlessIn.has(name));
    if (names.has(this.#open[at]?.name ?? "")) this.#open.length = at;
  }
}

function nothing(): void {
  return undefined;
}

const EMPHASIS: ReadonlyMap<string, string> = new Map([
  ["b", "**"],
  ["strong", "**"],
  ["i", "*"],
  ["em", "*"],
  ["del", "~~"],
  ["s", "~~"],
  ["code", "`"],
  ["kbd", "`"],
  ["samp", "`"],
]);

/** The markers around the text of an element: emphasis, or a link. */
interface Mark {
  readonly before: string;
  readonly after: string;
}

/** A piece of a line and its marks, outermost first. */
interface Run {
  readonly text: string;
  readonly marks: readonly Mark[];
}

class MarkdownWriter {
  title: string | undefined;
  readonly #base: string;
  readonly #lines: string[] = [];
  /** The current line, without the marks of lists and quotes. */
  #runs: Run[] = [];
  #wantsBlank = false;
  #quotes = 0;
  /** The open lists: the number of the next item, undefined for bullet lists. */
  readonly #lists: (number | undefined)[] = [];
  #bullet = "";
  #heading = "";

  constructor(base: string) {
    this.#base = base;
  }

  end(): string {
    this.#endLine();
    return this.#lines.join("\n").trim();
  }

  addAll({ children }: PageElement, marks: readonly Mark[]): void {
    for (const child of children)
      if (typeof child === "string") this.#runs.push({ text: child, marks });
      else if (!SKIPPED.has(child.name)) this.#add(child, marks);
  }

  #add(element: PageElement, marks: readonly Mark[]): void {
    const { name } = element;
    switch (name) {
      case "title":
        this.title ??= rawText(element).replace(/\s+/g, " ").trim() || undefined;
        return;
      case "br":
        return this.#endLine();
      case "img":
        return this.#image(element, marks);
      case "pre":
        return this.#code(element);
      case "ul":
      case "ol":
        return this.#list(element, marks);
      case "li":
        return this.#item(element, marks);
      case "tr":
        return this.#row(element);
      default:
        if (BLOCKS.has(name)) this.#block(element, marks);
        else this.addAll(element, this.#marksOf(element, marks));
    }
  }

  #marksOf(element: PageElement, marks: readonly Mark[]): readonly Mark[] {
    const sign = EMPHASIS.get(element.name);
    if (sign !== undefined)
      return marks.some(({ before }) => before === sign) ? marks : [...marks, { before: sign, after: sign }];
    const url = element.name === "a" ? this.#absolute(attribute(element, "href")) : undefined;
    return url === undefined ? marks : [...marks, { before: "[", after: `](${url})` }];
  }

  #block(element: PageElement, marks: readonly Mark[]): void {
    // The first paragraph in a list item stays on its line.
    if (this.#bullet === "" || this.#hasText()) this.#endBlock();
    const { name } = element;
    const isQuote = name === "blockquote";
    if (name === "hr") this.#push("---");
    if (/^h[1-6]$/.test(name)) this.#heading = `${"#".repeat(Number(name[1]))} `;
    if (isQuote) {
      this.#blank();
      this.#quotes++;
    }
    this.addAll(element, marks);
    this.#endBlock();
    if (isQuote) this.#quotes--;
    this.#heading = "";
  }

  #image(element: PageElement, marks: readonly Mark[]): void {
    const alt = attribute(element, "alt").replace(/\s+/g, " ").trim();
    const url = this.#absolute(attribute(element, "src"));
    if (alt !== "" && url !== undefined) this.#runs.push({ text: `![${alt}](${url})`, marks });
  }

  /** Undefined for a link that leads nowhere: a place in the same page, a script, inline data. */
  #absolute(href: string): string | undefined {
    if (href === "" || href.startsWith("#")) return undefined;
    const url = URL.parse(href, this.#base);
    return url === null || !/^(?:https?|mailto):$/.test(url.protocol) ? undefined : url.href;
  }

  #list(element: PageElement, marks: readonly Mark[]): void {
    this.#endLine();
    if (this.#lists.length === 0) this.#wantsBlank = this.#lines.length > 0;
    const start = Number(attribute(element, "start") || 1);
    this.#lists.push(element.name === "ul" ? undefined : Number.isSafeInteger(start) ? start : 1);
    this.addAll(element, marks);
    this.#endLine();
    this.#lists.pop();
    this.#wantsBlank = this.#lists.length === 0;
  }

  #item(element: PageElement, marks: readonly Mark[]): void {
    this.#endLine();
    const number = this.#lists.at(-1);
    if (number !== undefined) this.#lists[this.#lists.length - 1] = number + 1;
    this.#bullet = number === undefined ? "- " : `${number}. `;
    this.addAll(element, marks);
    this.#endLine();
    this.#bullet = "";
  }

  /** Keeps everything in a cell on the line of its row. */
  #row({ children }: PageElement): void {
    this.#endLine();
    const isCell = (child: PageElement | string): boolean =>
      typeof child !== "string" && CELLS.has(child.name);
    const cells = children.flatMap((child) => {
      const writer = new MarkdownWriter(this.#base);
      writer.addAll({ name: "", attributes: [], children: [child] }, []);
      const text = writer.end().replace(/\s+/g, " ");
      return text === "" && !isCell(child) ? [] : [text];
    });
    if (cells.length === 0) return;
    this.#push(`| ${cells.join(" | ")} |`);
    const isHeader = children.every(
      (child) =>
        (typeof child === "string" && child.trim() === "") || (isCell(child) && nameOf(child) === "th"),
    );
    if (isHeader) this.#push(`|${" --- |".repeat(cells.length)}`);
  }

  #code(element: PageElement): void {
    this.#endBlock();
    const code = rawText(element).replace(/^\n/, "").trimEnd();
    const inner = element.children.find((child) => nameOf(child) === "code");
    const classes = typeof inner === "object" ? attribute(inner, "class") : "";
    const [, language = ""] = /(?:^|\s)(?:language|lang)-([\w+#-]{1,30})/.exec(classes) ?? [];
    const fence = "`".repeat(Math.max(3, ...Array.from(code.matchAll(/`+/g), ([run]) => run.length + 1)));
    for (const line of [`${fence}${language}`, ...code.split("\n"), fence]) this.#push(line);
    this.#wantsBlank = true;
  }

  #hasText(): boolean {
    return this.#runs.some(({ text }) => text.trim() !== "");
  }

  /** No blank line separates the items of a list. */
  #endBlock(): void {
    this.#endLine();
    this.#wantsBlank = this.#lines.length > 0 && this.#lists.length === 0;
  }

  #endLine(): void {
    const text = markedText(this.#runs, 0).replace(/\s+/g, " ").trim();
    this.#runs = [];
    if (text !== "") this.#push(text);
  }

  #blank(): void {
    const isParted = /^[> ]*$/.test(this.#lines.at(-1) ?? "");
    if (this.#wantsBlank && !isParted) this.#lines.push("> ".repeat(this.#quotes).trimEnd());
    this.#wantsBlank = false;
  }

  #push(text: string): void {
    this.#blank();
    const depth = this.#lists.length;
    const indent = depth === 0 ? "" : "  ".repeat(this.#bullet === "" ? depth : depth - 1);
    const lead = `${"> ".repeat(this.#quotes)}${indent}${this.#bullet}${this.#heading}`;
    this.#lines.push(`${lead}${text}`.trimEnd());
    this.#bullet = "";
    this.#heading = "";
  }
}

/** The text of some runs; the caller writes the outer `depth` marks around all of them. */
function markedText(runs: readonly Run[], depth: number): string {
  const parts: string[] = [];
  for (let from = 0; from < runs.length; ) {
    const mark = runs[from]?.marks[depth];
    if (mark === undefined) {
      parts.push(runs[from++]?.text ?? "");
      continue;
    }
    let to = from + 1;
    while (to < runs.length && runs[to]?.marks[depth] === mark) to++;
    const inner = markedText(runs.slice(from, to), depth + 1);
    // Blanks stay outside, and nothing is put around nothing.
    const start = inner.length - inner.trimStart().length;
    const text = inner.trim();
    const rest = inner.slice(start + text.length);
    parts.push(text === "" ? inner : `${inner.slice(0, start)}${mark.before}${text}${mark.after}${rest}`);
    from = to;
  }
  return parts.join("");
}

function nameOf(node: PageElement | string): string | undefined {
  return typeof node === "string" ? undefined : node.name;
}

function attribute({ attributes }: PageElement, wanted: string): string {
  return attributes.find(({ name }) => name === wanted)?.value ?? "";
}

function rawText({ children }: PageElement): string {
  return children
    .map((child) => {
      if (typeof child === "string") return child;
      if (child.name === "br") return "\n";
      return SKIPPED.has(child.name) ? "" : rawText(child);
    })
    .join("");
}
