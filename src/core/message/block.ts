import type { Json } from "../base/errors.ts";

/** Name of a wire format, as in `provider_data` and `providerOptions`. */
export type WireName = "anthropic" | "openai_chat" | "openai_responses" | "google";

/**
 * Opaque facts a provider wants back unchanged with this block (a thought signature, an item id), keyed by
 * {@link WireName}. Only that wire reads its entry.
 */
export type ProviderData = { readonly [wire: string]: { readonly [key: string]: Json | undefined } };

/**
 * Plain text. An empty one with `provider_data` stands for something of the provider's own (a search it made,
 * its summary of the conversation so far), which only the same wire sends back. Sources of a text are in
 * `provider_data`, too.
 */
export interface TextBlock {
  readonly type: "text";
  readonly text: string;
  readonly provider_data?: ProviderData;
}

/**
 * The model's reasoning. `signature` authenticates it towards the provider that made it; `redacted` holds
 * reasoning that the provider hides (then `thinking` is empty). Both go back unchanged to the same wire and
 * to no other.
 */
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature?: string;
  readonly redacted?: string;
  readonly provider_data?: ProviderData;
}

/** An image, inline (`data` is base64 without a `data:` prefix) or by address. */
export interface ImageBlock {
  readonly type: "image";
  readonly source:
    | { readonly type: "base64"; readonly media_type: string; readonly data: string }
    | { readonly type: "url"; readonly url: string };
}

/** Why the arguments of a call cannot be used. It is answered with an error result and never run. */
export interface InvalidInput {
  readonly reason: "malformed" | "truncated";
  /** The text of the model, as far as it arrived. */
  readonly raw: string;
}

/** A tool call. Where the model wrote no object, `input` is `{}` and `invalid_input` has what it wrote. */
export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: ToolInput;
  readonly invalid_input?: InvalidInput;
  readonly provider_data?: ProviderData;
}

/** Arguments of a tool call as parsed from the model's JSON. */
export type ToolInput = { readonly [key: string]: unknown };

/** The answer to one tool call. */
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
