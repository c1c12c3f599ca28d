import type { Json } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { ThinkingBlock } from "../../core/message/message.ts";
import type { ChatDelta, ReasoningDetail, ReasoningField } from "./chat-json.ts";

export class ReasoningCollector {
  #text = "";
  #field: ReasoningField | undefined;
  readonly #details: Record<string, Json | undefined>[] = [];

  /** True if the answer has any reasoning, visible or not. */
  get hasReasoning(): boolean {
    return this.#text !== "" || this.#details.length > 0;
  }

  /** Takes a delta's reasoning and returns its readable text, which may be empty. */
  addDelta(delta: ChatDelta): string {
    const plain = this.#plainText(delta);
    let detailed = "";
    for (const detail of delta.reasoning_details ?? []) detailed += this.#addDetail(detail);
    // Vendors that send details repeat their text in a plain field, for clients that only know that.
    const text = plain === "" ? detailed : plain;
    this.#text += text;
    return text;
  }

  /** Takes reasoning text from elsewhere: parts of the content. */
  addText(text: string): void {
    this.#text += text;
  }

  /** The finished block, with the data to send back. */
  block(): ThinkingBlock {
    return {
      type: "thinking",
      thinking: this.#text,
      provider_data: {
        openai_chat: {
          ...omitUndefined({ field: this.#field }),
          ...(this.#details.length === 0 ? {} : { details: this.#details }),
        },
      },
    };
  }

  #plainText(delta: ChatDelta): string {
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
  #addDetail(piece: ReasoningDetail): string {
    const last = this.#details.at(-1);
    if (last === undefined || !isContinuation(last, piece)) {
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

function isContinuation(last: ReasoningDetail, piece: ReasoningDetail): boolean {
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

export interface TextParts {
  readonly reasoning: string;
  readonly text: string;
}

/**
 * Separates tagged reasoning from the text of an answer that begins with it, as passed on by servers without
 * a reasoning parser. After {@link ThinkTagParser.isDone} the rest is text.
 */
export class ThinkTagParser {
  #state: "before" | "inside" | "behind" | "over" = "before";
  /** Characters that may be part of a tag, or whitespace around one. */
  #buffer = "";
  #hasReasoning = false;

  get isDone(): boolean {
    return this.#state === "over";
  }

  push(piece: string): TextParts {
    this.#buffer += piece;
    const before = this.#state === "before" ? this.#readStart() : undefined;
    if (before !== undefined) return before;
    const reasoning = this.#state === "inside" ? this.#inside() : "";
    return { reasoning, text: this.#state === "behind" ? this.#after() : "" };
  }

  /** The rest of an answer that ended here. */
  end(): TextParts {
    const rest = this.#buffer;
    this.#buffer = "";
    if (this.#state === "inside") return { reasoning: this.#trimFirst(rest.trimEnd()), text: "" };
    return { reasoning: "", text: this.#state === "before" ? rest : "" };
  }

  #readStart(): TextParts | undefined {
    const begun = this.#buffer.trimStart();
    if (begun.length < OPEN.length && OPEN.startsWith(begun)) return { reasoning: "", text: "" };
    this.#state = begun.startsWith(OPEN) ? "inside" : "over";
    if (this.#state === "over") return { reasoning: "", text: this.#release() };
    this.#buffer = begun.slice(OPEN.length);
    return undefined;
  }

  #inside(): string {
    const at = this.#buffer.indexOf(CLOSE);
    const end = at === -1 ? this.#buffer.length - partialCloseLength(this.#buffer) : at;
    // Whitespace at its ends is not part of it: that of a piece waits for the next one.
    const thought = this.#buffer.slice(0, end).trimEnd();
    this.#buffer = this.#buffer.slice(at === -1 ? thought.length : at + CLOSE.length);
    if (at !== -1) this.#state = "behind";
    return this.#trimFirst(thought);
  }

  #trimFirst(thought: string): string {
    const visible = this.#hasReasoning ? thought : thought.trimStart();
    this.#hasReasoning ||= visible !== "";
    return visible;
  }

  /** Whitespace between reasoning and answer belongs to neither. */
  #after(): string {
    this.#buffer = this.#buffer.trimStart();
    if (this.#buffer === "") return "";
    this.#state = "over";
    return this.#release();
  }

  #release(): string {
    const text = this.#buffer;
    this.#buffer = "";
    return text;
  }
}

/** How many characters at the end of the text may begin the closing tag. */
function partialCloseLength(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
