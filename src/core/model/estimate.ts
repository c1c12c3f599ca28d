import type { ContentBlock, Message } from "../message/message.ts";
import type { ModelRequest } from "./model.ts";

/** Overhead of a message, a block or a tool, in tokens. */
const PART_TOKENS = 4;

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
  readonly #imageTokens: number;

  constructor(imageTokens: number = IMAGE_TOKENS) {
    this.#imageTokens = imageTokens;
  }

  /** Estimated input tokens of a request, on the high side; what `measured` covers is taken from there. */
  ofRequest({ system, tools = [], messages }: ModelRequest, measured?: MeasuredContext): number {
    if (measured !== undefined && measured.messages <= messages.length)
      return measured.tokens + this.#ofMessages(messages.slice(measured.messages));
    const specs = tools.reduce(
      (sum, tool) =>
        sum +
        this.#cached(tool, () => estimateTexts(tool.name, tool.description, JSON.stringify(tool.parameters))),
      0,
    );
    return estimateTokens(system ?? "") + specs + this.#ofMessages(messages);
  }

  #ofMessages(messages: readonly Message[]): number {
    return messages.reduce(
      (sum, message) => sum + this.#cached(message, () => estimateOutput(message, this.#imageTokens)),
      0,
    );
  }

  #cached(key: object, estimate: () => number): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const tokens = estimate();
    this.#known.set(key, tokens);
    return tokens;
  }
}

/** Estimated tokens of a message, on the high side. */
export function estimateOutput({ content }: Message, imageTokens: number = IMAGE_TOKENS): number {
  return (content as readonly ContentBlock[]).reduce(
    (sum, block) => sum + estimateBlock(block, imageTokens),
    PART_TOKENS,
  );
}

export function estimateBlock(block: ContentBlock, imageTokens: number): number {
  switch (block.type) {
    case "text":
      // An empty one represents provider data, such as search results.
      return estimateTexts(block.text === "" ? JSON.stringify(block.provider_data) : block.text);
    case "thinking":
      return estimateTexts(block.thinking, block.signature, block.redacted);
    case "image":
      return PART_TOKENS + imageTokens;
    case "tool_use":
      return estimateTexts(block.name, block.invalid_input?.raw ?? JSON.stringify(block.input));
    case "tool_result":
      if (typeof block.content === "string") return estimateTexts(block.content);
      return block.content.reduce((sum, part) => sum + estimateBlock(part, imageTokens), PART_TOKENS);
  }
}

/** Estimated tokens of one part of a request with these texts. */
function estimateTexts(...texts: readonly (string | undefined)[]): number {
  return texts.reduce((sum, text = "") => sum + estimateTokens(text), PART_TOKENS);
}
