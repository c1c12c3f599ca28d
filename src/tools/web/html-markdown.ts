import { type Token, Tokenizer, TokenizerMode } from "parse5";

export interface MarkdownPage {
  readonly title: string | undefined;
  readonly markdown: string;
}

const SKIPPED: ReadonlySet<string> = new Set(
  "script style noscript template svg math iframe object canvas select dialog".split(" "),
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

/** Works on tokens without a tree: time is linear, and unclosed elements are closed at the end. */
export function htmlToMarkdown(html: string, base: string): MarkdownPage {
  const reader = new PageReader(base);
  const tokenizer = new Tokenizer({}, reader);
  reader.onMode = (mode, name) => {
    tokenizer.state = mode;
    tokenizer.lastStartTagName = name;
  };
  tokenizer.write(html, true);
  return reader.page();
}

class PageReader {
  onMode: (mode: (typeof TokenizerMode)[keyof typeof TokenizerMode], name: string) => void = () => undefined;
  readonly #writer: MarkdownWriter;
  /** The skipped element, and how many of its name are open in it. */
  #skipping: { readonly name: string; depth: number } | undefined;
  #title: string | undefined;
  #inTitle = false;

  constructor(base: string) {
    this.#writer = new MarkdownWriter(base);
  }

  page(): MarkdownPage {
    return { title: this.#title?.replace(/\s+/g, " ").trim() || undefined, markdown: this.#writer.end() };
  }

  onStartTag({ tagName, attrs, selfClosing }: Token.TagToken): void {
    const mode = MODES.get(tagName);
    if (mode !== undefined) this.onMode(mode, tagName);
    if (this.#skipping !== undefined) {
      if (tagName === this.#skipping.name && !selfClosing) this.#skipping.depth++;
      return;
    }
    if (SKIPPED.has(tagName)) {
      if (!selfClosing || mode !== undefined) this.#skipping = { name: tagName, depth: 1 };
      return;
    }
    if (tagName === "title") {
      this.#inTitle = this.#title === undefined;
      this.#skipping = this.#inTitle ? undefined : { name: tagName, depth: 1 };
      return;
    }
    this.#writer.open(tagName, (name) => attrs.find((attribute) => attribute.name === name)?.value);
  }

  onEndTag({ tagName }: Token.TagToken): void {
    if (this.#skipping !== undefined) {
      if (tagName === this.#skipping.name && --this.#skipping.depth === 0) this.#skipping = undefined;
      return;
    }
    if (tagName === "title") this.#inTitle = false;
    else this.#writer.close(tagName);
  }

  onCharacter({ chars }: Token.CharacterToken): void {
    if (this.#skipping !== undefined) return;
    if (this.#inTitle) this.#title = (this.#title ?? "") + chars;
    else this.#writer.text(chars);
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  // These do not affect the text.
  readonly onNullCharacter = ignore;
  readonly onComment = ignore;
  readonly onDoctype = ignore;
  readonly onEof = ignore;
}

function ignore(): void {
  return undefined;
}

class TextLine {
  readonly #pieces: string[] = [];

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  get end(): number {
    return this.#pieces.length;
  }

  get endsInSpace(): boolean {
    return /\s$/.test(this.#pieces.at(-1) ?? "");
  }

  add(text: string): void {
    if (text !== "") this.#pieces.push(text);
  }

  /** Removes trailing blanks, no further back than `from`; true if there were any. */
  trimEnd(from = 0): boolean {
    let trimmed = false;
    while (this.#pieces.length > from) {
      const last = this.#pieces.pop() ?? "";
      const trimmedText = last.trimEnd();
      trimmed ||= trimmedText !== last;
      if (trimmedText === "") continue;
      this.#pieces.push(trimmedText);
      break;
    }
    return trimmed;
  }

  removeFrom(from: number): string {
    return this.#pieces.splice(from).join("");
  }
}

const HEADING = /^h[1-6]$/;
const BLOCKS: ReadonlySet<string> = new Set(
  "address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form header html legend main nav p section summary table".split(
    " ",
  ),
);
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
const MAX_DEPTH = 20;

export type Attribute = (name: string) => string | undefined;

interface List {
  readonly ordered: boolean;
  next: number;
}

/** Writes Markdown from elements and text. Elements may be closed in any order, or never. */
export class MarkdownWriter {
  readonly #base: string;
  readonly #lines: string[] = [];
  /** The current line, without markers of lists and quotes. */
  readonly #line = new TextLine();
  #pendingSpace = false;
  #pendingBlankLine = false;
  #quotes = 0;
  readonly #lists: List[] = [];
  #bullet = "";
  #code: string[] | undefined;
  #codeLanguage = "";
  readonly #links: { readonly href: string; readonly at: number }[] = [];
  /** Emphasis opened on the current line, and where its text begins. */
  readonly #openEmphasis: { readonly mark: string; readonly after: number }[] = [];
  #cells: number | undefined;
  #headerCells = 0;

  constructor(base: string) {
    this.#base = base;
  }

  end(): string {
    while (this.#links.length > 0) this.close("a");
    if (this.#cells !== undefined) this.#endRow();
    if (this.#code !== undefined) this.close("pre");
    this.#endLine();
    return this.#lines.join("\n").trim();
  }

  text(chars: string): void {
    if (this.#code !== undefined) {
      this.#code.push(chars);
      return;
    }
    const plain = chars.replace(/[\s\u00a0]+/g, " ");
    if (plain === " ") {
      this.#pendingSpace = true;
      return;
    }
    this.#write(plain);
  }

  open(name: string, attribute: Attribute): void {
    if (this.#code !== undefined) return this.#openInCode(name, attribute);
    if (HEADING.test(name)) return this.#startHeading(Number(name[1]));
    const mark = EMPHASIS.get(name);
    if (mark !== undefined) return this.#toggleEmphasis(mark, true);
    switch (name) {
      case "br":
        if (this.#cells === undefined) this.#endLine();
        else this.#pendingSpace = true;
        return;
      case "hr":
        this.#endBlock();
        this.#write("---");
        return this.#endBlock();
      case "pre":
        this.#endBlock();
        this.#code = [];
        this.#codeLanguage = "";
        return;
      case "a":
        return this.#openLink(attribute("href"));
      case "img":
        return this.#image(attribute);
      default:
        return this.#openPart(name, attribute);
    }
  }

  close(name: string): void {
    if (this.#code !== undefined) {
      if (name === "pre") this.#closeCode();
      return;
    }
    if (HEADING.test(name)) return this.#endBlock();
    const mark = EMPHASIS.get(name);
    if (mark !== undefined) return this.#toggleEmphasis(mark, false);
    switch (name) {
      case "a":
        return this.#closeLink();
      case "ul":
      case "ol":
        this.#endLine();
        this.#lists.pop();
        this.#pendingBlankLine = this.#lists.length === 0;
        return;
      case "li":
        return this.#endLine();
      case "tr":
        return this.#endRow();
      default:
        if (BLOCKS.has(name)) this.#endBlock();
        if (name === "blockquote" && this.#cells === undefined) this.#quotes = Math.max(0, this.#quotes - 1);
    }
  }

  #openPart(name: string, attribute: Attribute): void {
    switch (name) {
      case "ul":
      case "ol":
        return this.#openList(name === "ol", Number(attribute("start") ?? 1));
      case "li":
        return this.#startItem();
      case "tr":
        return this.#startRow();
      case "td":
      case "th":
        return this.#startCell(name === "th");
      default:
        return this.#openBlock(name);
    }
  }

  #openBlock(name: string): void {
    if (!BLOCKS.has(name)) return;
    // The first paragraph in an item of a list stays on its line.
    if (this.#bullet === "" || !this.#line.isEmpty) this.#endBlock();
    if (name !== "blockquote" || this.#cells !== undefined) return;
    this.#writePendingBlankLine();
    this.#quotes = Math.min(MAX_DEPTH, this.#quotes + 1);
  }

  #startHeading(level: number): void {
    this.#endBlock();
    this.#write(`${"#".repeat(level)} `);
    this.#pendingSpace = false;
  }

  #write(text: string): void {
    if (this.#line.isEmpty || this.#openEmphasis.at(-1)?.after === this.#line.end)
      this.#line.add(text.trimStart());
    else if (this.#pendingSpace && !this.#line.endsInSpace) this.#line.add(` ${text.trimStart()}`);
    else this.#line.add(text);
    this.#pendingSpace = false;
  }

  /** A blank before a closing marker moves behind it. Empty emphasis is dropped. */
  #toggleEmphasis(mark: string, opens: boolean): void {
    if (opens) {
      if (this.#openEmphasis.length >= MAX_DEPTH) return;
      this.#writePendingSpace();
      this.#line.add(mark);
      this.#openEmphasis.push({ mark, after: this.#line.end });
      return;
    }
    const at = this.#openEmphasis.findLastIndex((open) => open.mark === mark);
    const open = this.#openEmphasis[at];
    if (open === undefined) return;
    this.#openEmphasis.splice(at);
    if (this.#line.trimEnd(open.after)) this.#pendingSpace = true;
    if (this.#line.end > open.after) this.#line.add(mark);
    else this.#line.removeFrom(open.after - 1);
  }

  #writePendingSpace(): void {
    if (this.#pendingSpace && !this.#line.isEmpty && !this.#line.endsInSpace) this.#line.add(" ");
    this.#pendingSpace = false;
  }

  #openLink(href: string | undefined): void {
    if (this.#links.length >= MAX_DEPTH) return;
    this.#writePendingSpace();
    this.#links.push({ href: href ?? "", at: this.#line.end });
  }

  #closeLink(): void {
    const link = this.#links.pop();
    if (link === undefined) return;
    // Emphasis opened in a link ends with it, as its position is removed with the link's text.
    for (
      let open = this.#openEmphasis.at(-1);
      open !== undefined && open.after > link.at;
      open = this.#openEmphasis.at(-1)
    )
      this.#toggleEmphasis(open.mark, false);
    // A link around whole blocks has its text on earlier lines.
    const text = this.#line.removeFrom(link.at);
    const url = this.#absolute(link.href);
    if (url === undefined || text.trim() === "") this.#line.add(text);
    else this.#line.add(`[${text.trim()}](${url})`);
  }

  #image(attribute: Attribute): void {
    const alt = attribute("alt")?.replace(/\s+/g, " ").trim() ?? "";
    const url = this.#absolute(attribute("src") ?? "");
    if (alt !== "" && url !== undefined) this.#write(`![${alt}](${url})`);
  }

  /** `undefined` for fragments, scripts and inline data. */
  #absolute(href: string): string | undefined {
    if (href === "" || href.startsWith("#")) return undefined;
    const url = URL.parse(href, this.#base);
    return url === null || !/^(?:https?|mailto):$/.test(url.protocol) ? undefined : url.href;
  }

  #openList(ordered: boolean, start: number): void {
    this.#endLine();
    if (this.#lists.length === 0) this.#pendingBlankLine = this.#lines.length > 0;
    this.#lists.push({ ordered, next: Number.isSafeInteger(start) ? start : 1 });
  }

  #startItem(): void {
    this.#endLine();
    const list = this.#lists.at(-1);
    this.#bullet = list?.ordered === true ? `${list.next++}. ` : "- ";
  }

  #startRow(): void {
    this.#endLine();
    this.#cells = 0;
    this.#headerCells = 0;
  }

  #startCell(isHeader: boolean): void {
    if (this.#cells === undefined) return;
    this.#pendingSpace = false;
    this.#line.trimEnd();
    this.#line.add(this.#cells === 0 ? "| " : " | ");
    this.#cells++;
    if (isHeader) this.#headerCells++;
  }

  #endRow(): void {
    const cells = this.#cells ?? 0;
    const isHeader = cells > 0 && this.#headerCells === cells;
    this.#line.trimEnd();
    if (cells > 0) this.#line.add(" |");
    this.#cells = undefined;
    this.#endLine();
    if (isHeader) this.#pushLine(`|${" --- |".repeat(cells)}`);
  }

  #openInCode(name: string, attribute: Attribute): void {
    if (name === "br") this.#code?.push("\n");
    if (name === "code" && this.#codeLanguage === "")
      this.#codeLanguage =
        /(?:^|\s)(?:language|lang)-([\w+#-]{1,30})/.exec(attribute("class") ?? "")?.[1] ?? "";
  }

  #closeCode(): void {
    const code = (this.#code ?? []).join("").replace(/^\n/, "").trimEnd();
    this.#code = undefined;
    const fence = "`".repeat(Math.max(3, ...Array.from(code.matchAll(/`+/g), ([run]) => run.length + 1)));
    this.#pushLine(`${fence}${this.#codeLanguage}`);
    for (const line of code.split("\n")) this.#pushLine(line);
    this.#pushLine(fence);
    this.#pendingBlankLine = true;
  }

  /** A cell stays on the line of its row; items of a list are not separated by blank lines. */
  #endBlock(): void {
    if (this.#cells !== undefined) {
      this.#pendingSpace = true;
      return;
    }
    this.#endLine();
    this.#pendingBlankLine = this.#lines.length > 0 && this.#lists.length === 0;
  }

  #writePendingBlankLine(): void {
    const isBlank = /^[> ]*$/.test(this.#lines.at(-1) ?? "");
    if (this.#pendingBlankLine && !isBlank) this.#lines.push("> ".repeat(this.#quotes).trimEnd());
    this.#pendingBlankLine = false;
  }

  #endLine(): void {
    // Emphasis cannot span lines.
    for (let open = this.#openEmphasis.at(-1); open !== undefined; open = this.#openEmphasis.at(-1))
      this.#toggleEmphasis(open.mark, false);
    for (const [at, link] of this.#links.entries()) this.#links[at] = { ...link, at: 0 };
    this.#line.trimEnd();
    const text = this.#line.removeFrom(0);
    this.#pendingSpace = false;
    if (text !== "") this.#pushLine(text);
  }

  #pushLine(text: string): void {
    const quote = "> ".repeat(this.#quotes);
    this.#writePendingBlankLine();
    const depth = Math.min(MAX_DEPTH, this.#lists.length);
    const indent = depth === 0 ? "" : "  ".repeat(this.#bullet === "" ? depth : depth - 1);
    this.#lines.push(`${quote}${indent}${this.#bullet}${text}`.trimEnd());
    this.#bullet = "";
  }
}
