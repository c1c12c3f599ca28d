import type { Json } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import type { ThinkingBlock } from "../../core/message/message.ts";
import type { ChatDelta, ReasoningDetail, ReasoningField } from "./chat-json.ts";

/** Collects the reasoning of one answer. */
export class ReasoningCollector {
  #text = "";
  #field: ReasoningField | undefined;
  readonly #details: Record<string, Json | undefined>[] = [];

  /** True when the answer has any reasoning, visible or not. */
  get seen(): boolean {
    return this.#text !== "" || this.#details.length > 0;
  }

  /** Takes the reasoning of a delta and returns its readable text, which may be empty. */
  take(delta: ChatDelta): string {
    const plain = this.#plain(delta);
    let detailed = "";
    for (const detail of delta.reasoning_details ?? []) detailed += this.#detail(detail);
    // Vendors that send details repeat their text in a plain field, for clients that know only that.
    const text = plain === "" ? detailed : plain;
    this.#text += text;
    return text;
  }

  /** Takes text that came in another place: parts of the content. */
  add(text: string): void {
    this.#text += text;
  }

  /** The finished block, with what has to go back. */
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

  /** Pieces of one detail follow each other and share type, index and id, as far as they name them. */
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
