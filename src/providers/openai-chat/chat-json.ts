import type { Json } from "../../core/base/errors.ts";

/**
 * The fields in use of a streamed Chat Completions event. Follows
 * https://platform.openai.com/docs/api-reference/chat-streaming and what compatible vendors add; any field
 * may be missing or `null`, since vendors differ in what they omit.
 */
export interface ChatChunk {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly object?: string | null;
  readonly choices?: readonly ChatChoice[] | null;
  readonly usage?: ChatUsage | null;
  readonly x_groq?: { readonly usage?: ChatUsage | null } | null;
  readonly error?: unknown;
}

export interface ChatChoice {
  readonly index?: number | null;
  readonly delta?: ChatDelta | null;
  /** Replaces `delta` if a server answers a streamed request in one piece. */
  readonly message?: ChatDelta | null;
  readonly finish_reason?: string | null;
  readonly usage?: ChatUsage | null;
}

export interface ChatDelta {
  readonly content?: string | readonly ChatContentPart[] | null;
  readonly refusal?: string | null;
  readonly annotations?: readonly Json[] | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_text?: string | null;
  readonly reasoning_details?: readonly ReasoningDetail[] | null;
  readonly tool_calls?: readonly ToolCallFragment[] | ToolCallFragment | null;
  /** The only call of answers in the style before `tool_calls`. */
  readonly function_call?: ToolCallFragment["function"];
}

/** Content in parts, as streamed by Mistral. */
export interface ChatContentPart {
  readonly type?: string;
  readonly text?: string | null;
  readonly thinking?: string | readonly { readonly type?: string; readonly text?: string | null }[] | null;
}

export interface ToolCallFragment {
  readonly index?: number | string | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
  /** Replaces `function` in a call of a tool that takes plain text (`type: "custom"`). */
  readonly custom?: { readonly name?: string | null; readonly input?: unknown } | null;
  /** Google's field for thought signatures in its compatible API; returned unchanged. */
  readonly extra_content?: Json;
}

/** Structured reasoning (OpenRouter): `reasoning.text`, `reasoning.summary`, `reasoning.encrypted`. */
export interface ReasoningDetail {
  readonly [key: string]: Json | undefined;
}

export interface ChatUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly total_tokens?: number | null;
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cached_tokens?: number | null;
  readonly prompt_cache_hit_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly reasoning_tokens?: number | null;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
    readonly cache_creation_input_tokens?: number | null;
  } | null;
  /** OpenRouter's charge in US dollars, and related fields. */
  readonly cost?: number | null;
  readonly is_byok?: boolean | null;
  readonly cost_details?: { readonly upstream_inference_cost?: number | null } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}

/** Fields in which an assistant message may carry its reasoning. */
export type ReasoningField = "reasoning_content" | "reasoning" | "reasoning_text";
