const OPEN = "<think>";
const CLOSE = "</think>";

/** The reasoning and the answer in a piece of text. */
export interface TextParts {
  readonly thought: string;
  readonly text: string;
}

/**
 * Parts reasoning in tags from the text of an answer that begins with it, as servers without a parser for
 * reasoning hand it on. After {@link ThinkTag.isOver} the rest is text.
 */
export class ThinkTag {
  #place: "before" | "inside" | "behind" | "over" = "before";
  /** Characters that may be a part of a tag, or blanks around one. */
  #held = "";
  #hasThought = false;

  /** True when nothing that follows can be reasoning. */
  get isOver(): boolean {
    return this.#place === "over";
  }

  /** Takes the next piece of the text. */
  take(piece: string): TextParts {
    this.#held += piece;
    const before = this.#place === "before" ? this.#before() : undefined;
    if (before !== undefined) return before;
    const thought = this.#place === "inside" ? this.#inside() : "";
    return { thought, text: this.#place === "behind" ? this.#behind() : "" };
  }

  /** The rest of an answer that ended here. */
  end(): TextParts {
    const rest = this.#held;
    this.#held = "";
    if (this.#place === "inside") return { thought: this.#begun(rest.trimEnd()), text: "" };
    return { thought: "", text: this.#place === "before" ? rest : "" };
  }

  #before(): TextParts | undefined {
    const begun = this.#held.trimStart();
    if (begun.length < OPEN.length && OPEN.startsWith(begun)) return { thought: "", text: "" };
    this.#place = begun.startsWith(OPEN) ? "inside" : "over";
    if (this.#place === "over") return { thought: "", text: this.#release() };
    this.#held = begun.slice(OPEN.length);
    return undefined;
  }

  #inside(): string {
    const at = this.#held.indexOf(CLOSE);
    const end = at === -1 ? this.#held.length - beginningOfClose(this.#held) : at;
    // Blanks at its ends are no part of it: those of a piece wait for what follows.
    const thought = this.#held.slice(0, end).trimEnd();
    this.#held = this.#held.slice(at === -1 ? thought.length : at + CLOSE.length);
    if (at !== -1) this.#place = "behind";
    return this.#begun(thought);
  }

  #begun(thought: string): string {
    const shown = this.#hasThought ? thought : thought.trimStart();
    this.#hasThought ||= shown !== "";
    return shown;
  }

  /** The blanks between reasoning and answer belong to neither. */
  #behind(): string {
    this.#held = this.#held.trimStart();
    if (this.#held === "") return "";
    this.#place = "over";
    return this.#release();
  }

  #release(): string {
    const text = this.#held;
    this.#held = "";
    return text;
  }
}

/** How many characters at the end of a text may be the beginning of the closing tag. */
function beginningOfClose(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
