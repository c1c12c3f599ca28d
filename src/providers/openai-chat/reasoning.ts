import type { Json } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import type { ThinkingBlock } from "../../core/message/message.ts";
import type { ChatDelta, ReasoningDetail, ReasoningField } from "./chat-json.ts";

/** Collects the reasoning of one answer. */
export class ReasoningCollector {
  #text = "";
  #field: ReasoningField | undefined;
  readonly #details: Record<string, Json | undefined>[] = [];

  /** True if the answer has any reasoning, visible or not. */
  get seen(): boolean {
    return this.#text !== "" || this.#details.length > 0;
  }

  /** Takes a delta's reasoning and returns its readable text, which may be empty. */
  take(delta: ChatDelta): string {
    const plain = this.#plain(delta);
    let detailed = "";
    for (const detail of delta.reasoning_details ?? []) detailed += this.#detail(detail);
    // Vendors that send details repeat their text in a plain field, for clients that only know that.
    const text = plain === "" ? detailed : plain;
    this.#text += text;
    return text;
  }

  /** Takes reasoning text from elsewhere: parts of the content. */
  add(text: string): void {
    this.#text += text;
  }

  /** The finished block, with the data to send back. */
  block(): ThinkingBlock {
    return {
      type: "thinking",
      thinking: this.#text,
      provider_data: {
        openai_chat: {
          ...defined({ field: this.#field }),
          ...(this.#details.length === 0 ? {} : { details: this.#details }),
        },
      },
    };
  }

  #plain(delta: ChatDelta): string {
    for (const field of FIELDS) {
      const value = delta[field];
      if (typeof value === "string" && value !== "") {
        this.#field ??= field;
        return value;
      }
    }
    return "";
  }

  /** Pieces of one detail are consecutive and share type, index and id, if present. */
  #detail(piece: ReasoningDetail): string {
    const last = this.#details.at(-1);
    if (last === undefined || !continues(last, piece)) {
      this.#details.push({ ...piece });
      return readable(piece);
    }
    for (const [key, value] of Object.entries(piece)) {
      const before = last[key];
      if (GROWING.has(key) && typeof before === "string" && typeof value === "string")
        last[key] = before + value;
      else if (value !== null && value !== undefined) last[key] = value;
    }
    return readable(piece);
  }
}

const FIELDS: readonly ReasoningField[] = ["reasoning_content", "reasoning", "reasoning_text"];
const GROWING: ReadonlySet<string> = new Set(["text", "summary"]);

function continues(last: ReasoningDetail, piece: ReasoningDetail): boolean {
  if (piece["type"] === "reasoning.encrypted" || piece["type"] !== last["type"]) return false;
  return ["index", "id"].every((key) => {
    const left = last[key];
    const right = piece[key];
    return left === undefined || left === null || right === undefined || right === null || left === right;
  });
}

function readable(piece: ReasoningDetail): string {
  const text = piece["type"] === "reasoning.summary" ? piece["summary"] : piece["text"];
  return typeof text === "string" ? text : "";
}

const OPEN = "<think>";
const CLOSE = "</think>";

/** Reasoning and answer in a piece of text. */
export interface TextParts {
  readonly thought: string;
  readonly text: string;
}

/**
 * Separates tagged reasoning from the text of an answer that begins with it, as passed on by servers without
 * a reasoning parser. After {@link ThinkTag.isOver} the rest is text.
 */
export class ThinkTag {
  #place: "before" | "inside" | "behind" | "over" = "before";
  /** Characters that may be part of a tag, or whitespace around one. */
  #held = "";
  #hasThought = false;

  /** True if no more reasoning can follow. */
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
    // Whitespace at its ends is not part of it: that of a piece waits for the next one.
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

  /** Whitespace between reasoning and answer belongs to neither. */
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

/** How many characters at the end of the text may begin the closing tag. */
function beginningOfClose(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
