import { type Token, Tokenizer, TokenizerMode } from "parse5";
import { MarkdownWriter } from "./markdown-writer.ts";

/** A page as text for a model. */
export interface MarkdownPage {
  /** Of the first `title`; undefined when there is none. */
  readonly title: string | undefined;
  readonly markdown: string;
}

/** Elements whose text is no part of what a person reads. */
const SKIPPED: ReadonlySet<string> = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "canvas",
  "select",
  "dialog",
]);

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

/**
 * HTML as Markdown: headings, paragraphs, lists, quotes, code, tables, links and images, links made absolute
 * against `base`. Works on tokens, without a tree, so time grows with the length of the page alone, however
 * it is nested; what was left open is closed.
 */
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
  /** The element whose content is skipped, and how many of its name are open in it. */
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

  onNullCharacter(): void {
    // Browsers leave them out of text.
  }

  onComment(): void {
    // Comments are not read.
  }

  onDoctype(): void {
    // Says nothing about the text.
  }

  onEof(): void {
    // The writer is ended when the page is asked for.
  }
}
