import type { Json } from "../base/errors.ts";

/** Name of a wire format, as in `provider_data` and `providerOptions`. */
export type WireName = "anthropic" | "openai_chat" | "openai_responses" | "google";

/**
 * Opaque data that a provider wants back unchanged with this block (a thought signature, an item id), keyed
 * by {@link WireName}. Only that wire reads it.
 */
export type ProviderData = { readonly [wire: string]: { readonly [key: string]: Json | undefined } };

/**
 * Plain text. An empty one with `provider_data` stands for something only the provider understands (a search
 * it made, its summary of the conversation), and only the same wire sends it back. The sources of a text are
 * in `provider_data`, too.
 */
export interface TextBlock {
  readonly type: "text";
  readonly text: string;
  readonly provider_data?: ProviderData;
}

/**
 * The model's reasoning. `signature` authenticates it to the provider that made it; `redacted` holds
 * reasoning the provider hides (`thinking` is empty then). Both go back unchanged to the same wire only.
 */
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature?: string;
  readonly redacted?: string;
  readonly provider_data?: ProviderData;
}

/** An image: inline (`data` is base64 without a `data:` prefix) or by URL. */
export interface ImageBlock {
  readonly type: "image";
  readonly source:
    | { readonly type: "base64"; readonly media_type: string; readonly data: string }
    | { readonly type: "url"; readonly url: string };
}

/** Why the arguments of a call are unusable. The call gets an error result and never runs. */
export interface InvalidInput {
  readonly reason: "malformed" | "truncated";
  /** The raw text the model wrote, as far as it was received. */
  readonly raw: string;
}

/**
 * A tool call. If the model did not write an object, `input` is `{}` and `invalid_input` has what it wrote.
 */
export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: ToolInput;
  readonly invalid_input?: InvalidInput;
  readonly provider_data?: ProviderData;
}

/** Arguments of a tool call, parsed from the model's JSON. */
export type ToolInput = { readonly [key: string]: unknown };

/** The result of one tool call. */
export interface ToolResultBlock {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content: string | readonly (TextBlock | ImageBlock)[];
  readonly is_error?: boolean;
}

/** Any content block. */
export type ContentBlock = TextBlock | ThinkingBlock | ImageBlock | ToolUseBlock | ToolResultBlock;
/** A block of a user message. */
export type UserBlock = TextBlock | ImageBlock | ToolResultBlock;
/** A block of an assistant message. */
export type AssistantBlock = TextBlock | ThinkingBlock | ToolUseBlock;

/**
 * Tokens of one or more model requests. `inputTokens` counts everything the model read, including cache reads
 * and writes; `outputTokens` everything it wrote, including reasoning. A figure the provider did not report
 * is absent, except that both totals are estimated, and `estimated` is set, if a limit or a bill depends on
 * them.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens` read from the provider's prompt cache. */
  readonly cacheReadTokens?: number;
  /** Part of `inputTokens` written to the provider's prompt cache. */
  readonly cacheWriteTokens?: number;
  /** Part of `cacheWriteTokens` cached for one hour, if the provider distinguishes them. */
  readonly cacheWrite1hTokens?: number;
  /** Part of `outputTokens` spent on reasoning. */
  readonly reasoningTokens?: number;
  /** True if figures are estimates: the provider reported none, or the answer was cut. */
  readonly estimated?: true;
  /** The provider's own usage object, unchanged. Absent on sums. */
  readonly raw?: unknown;
}

/** No tokens at all. */
export const NO_USAGE: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

const USAGE_DETAILS = [
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWrite1hTokens",
  "reasoningTokens",
] as const;

/** The sum of two usages; a figure is present if either has it. */
export function addUsage(left: Usage, right: Usage): Usage {
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
  for (const part of USAGE_DETAILS) {
    const a = left[part];
    const b = right[part];
    if (a !== undefined || b !== undefined) sum[part] = (a ?? 0) + (b ?? 0);
  }
  if (left.estimated === true || right.estimated === true) sum.estimated = true;
  return sum;
}

/** A usage with whole, non-negative figures; any other figure a provider sends counts as not reported. */
export function cleanUsage(usage: Usage): Usage {
  const clean: { -readonly [K in keyof Usage]: Usage[K] } = {
    ...usage,
    inputTokens: tokenCount(usage.inputTokens),
    outputTokens: tokenCount(usage.outputTokens),
  };
  for (const part of USAGE_DETAILS) if (usage[part] !== undefined) clean[part] = tokenCount(usage[part]);
  return clean;
}

/** A reported token count; negative, fractional, missing or absurd ones become whole and non-negative. */
export function tokenCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

/** The figures of a usage that the provider reported as numbers. */
export function usageParts(
  reported: { readonly [K in (typeof USAGE_DETAILS)[number]]?: unknown },
): Partial<Usage> {
  const parts: { -readonly [K in keyof Usage]?: Usage[K] } = {};
  for (const part of USAGE_DETAILS)
    if (typeof reported[part] === "number") parts[part] = tokenCount(reported[part]);
  return parts;
}

/** Input from a person, or the results of the tool calls in the assistant message before it. */
export interface UserMessage {
  readonly role: "user";
  readonly content: readonly UserBlock[];
  /** Who wrote it, if several take part. Not sent to providers without a field for it. */
  readonly name?: string;
}

/** One answer of a model. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantBlock[];
  readonly name?: string;
}

/**
 * One message of a transcript, in the shape of the Anthropic Messages API, from which every wire converts.
 * The system prompt is not a message but a field of the request.
 */
export type Message = UserMessage | AssistantMessage;

/**
 * Name of the user message that holds what was recalled from long-term memory, and of the tag and the mark it
 * carries.
 */
export const LONG_TERM_MEMORY = "long_term_memory";

/** A user message from text or blocks. */
export function userMessage(content: string | readonly UserBlock[]): UserMessage {
  return { role: "user", content: typeof content === "string" ? [{ type: "text", text: content }] : content };
}

/** An assistant message from text or blocks. */
export function assistantMessage(content: string | readonly AssistantBlock[]): AssistantMessage {
  return {
    role: "assistant",
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  };
}

/** All text blocks of a message, joined by `separator` (default: nothing between them). */
export function messageText(message: Message, separator = ""): string {
  return textOf(message.content, separator);
}

/** All text blocks among `blocks`, joined by `separator` (default: nothing between them). */
export function textOf(blocks: string | readonly ContentBlock[], separator = ""): string {
  if (typeof blocks === "string") return blocks;
  const texts: string[] = [];
  for (const block of blocks) if (block.type === "text") texts.push(block.text);
  return texts.join(separator);
}

/** Content with its texts mapped; other blocks stay as they are. */
export function mapTexts<Content extends string | readonly ContentBlock[]>(
  content: Content,
  change: (text: string) => string,
): Content {
  const changed =
    typeof content === "string"
      ? change(content)
      : content.map((block) => (block.type === "text" ? { ...block, text: change(block.text) } : block));
  return changed as Content;
}

/** The tool calls of a message, in order. */
export function toolCallsOf(message: Message): readonly ToolUseBlock[] {
  return (message.content as readonly ContentBlock[]).filter((block) => block.type === "tool_use");
}
