import type { ContentBlock, Message } from "../message/message.ts";
import type { ModelRequest, ToolSpec } from "./model.ts";

/** The text of a message or tool as the model sees it, in pieces, for token counts. */
export interface PromptText {
  readonly texts: readonly string[];
  readonly images: number;
  /** Parts that cost a few tokens each on top of their text. */
  readonly parts: number;
}

/** Overhead of a message, a block or a tool, in tokens. */
export const PART_TOKENS = 4;

export function promptText({ content }: Message): PromptText {
  const texts: string[] = [];
  let images = 0;
  let parts = 1;
  const add = (blocks: readonly ContentBlock[]): void => {
    for (const block of blocks) {
      parts += 1;
      switch (block.type) {
        case "text":
          // An empty one stands for provider data, such as search results.
          texts.push(block.text === "" ? (JSON.stringify(block.provider_data) ?? "") : block.text);
          break;
        case "thinking":
          texts.push(block.thinking, block.signature ?? "", block.redacted ?? "");
          break;
        case "image":
          images += 1;
          break;
        case "tool_use":
          texts.push(block.name, block.invalid_input?.raw ?? JSON.stringify(block.input) ?? "");
          break;
        case "tool_result":
          if (typeof block.content === "string") texts.push(block.content);
          else add(block.content);
          break;
      }
    }
  };
  add(content);
  return { texts, images, parts };
}

export function toolPromptText({ name, description, parameters }: ToolSpec): PromptText {
  return { texts: [name, description, JSON.stringify(parameters)], images: 0, parts: 1 };
}

/** Characters of ASCII text per token: four and more for words, two to three for digits, code and base64. */
const ASCII_PER_TOKEN = 3;
/** Tokens for a punctuation mark after another one: a few of them make one token. */
const TOKENS_PER_PUNCTUATION = 0.7;
/** Tokens per UTF-16 unit of any other script. */
const TOKENS_PER_OTHER = 1.5;
/** The most any provider charges for a large image. */
const IMAGE_TOKENS = 5_000;

/**
 * Estimated tokens of a text, on the high side: more than any common tokenizer yields for prose, code,
 * punctuation or CJK text, but less than its bytes. For limits, where too high stops early and too low
 * overspends.
 */
export function estimateTokens(text: string): number {
  let others = 0;
  let punctuation = 0;
  let before = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) others++;
    else if (unit !== before && isPunctuation(unit) && isPunctuation(before)) punctuation++;
    before = unit;
  }
  const plain = text.length - others - punctuation;
  return Math.ceil(
    plain / ASCII_PER_TOKEN + punctuation * TOKENS_PER_PUNCTUATION + others * TOKENS_PER_OTHER,
  );
}

/** ASCII punctuation: no letter, digit or blank. */
function isPunctuation(unit: number): boolean {
  if (unit <= 0x20 || unit >= 0x7f) return false;
  const isDigit = unit >= 0x30 && unit <= 0x39;
  const letter = unit | 0x20;
  return !isDigit && (letter < 0x61 || letter > 0x7a);
}

/** The provider's token count for the first `messages` of a conversation and everything sent with them. */
export interface MeasuredContext {
  readonly tokens: number;
  readonly messages: number;
}

/** Estimates the input of requests, each message only once. */
export class InputEstimates {
  readonly #known = new WeakMap<object, number>();

  /** Estimated input tokens of a request, on the high side; what `measured` covers is taken from there. */
  ofRequest({ system, tools = [], messages }: ModelRequest, measured?: MeasuredContext): number {
    if (measured !== undefined && measured.messages <= messages.length)
      return measured.tokens + this.#ofMessages(messages.slice(measured.messages));
    const specs = tools.reduce((sum, tool) => sum + this.#cached(tool, () => toolPromptText(tool)), 0);
    return estimateTokens(system ?? "") + specs + this.#ofMessages(messages);
  }

  #ofMessages(messages: readonly Message[]): number {
    return messages.reduce((sum, message) => sum + this.#cached(message, () => promptText(message)), 0);
  }

  #cached(key: object, textOf: () => PromptText): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const tokens = tokensOf(textOf());
    this.#known.set(key, tokens);
    return tokens;
  }
}

function tokensOf({ texts, images, parts }: PromptText): number {
  return (
    texts.reduce((sum, text) => sum + estimateTokens(text), 0) + images * IMAGE_TOKENS + parts * PART_TOKENS
  );
}

export function estimateOutput(message: Message): number {
  return tokensOf(promptText(message));
}
