import type { Json, NanoAgentError } from "../base/errors.ts";
import type { JsonSchema } from "../base/schema.ts";
import type { AssistantBlock, Message, Usage } from "../message/message.ts";

/**
 * The port to a language model. Implementations: the four wires in `providers/`, any Vercel AI SDK model
 * through `fromAiSdk`, scripted and recorded models in `testing/`, and {@link
 * import("../../providers/fallback.ts").fallbackModel}.
 */
export interface Model {
  /** Provider name, such as `anthropic`. */
  readonly provider: string;
  /** The provider's id for it, such as `claude-sonnet-4-5`. */
  readonly id: string;
  /** The known facts about the model. Unknown figures are absent. */
  readonly info?: ModelInfo | undefined;
  /** Other models that may answer instead, if this one combines several. */
  readonly alternatives?: readonly Model[];
  /** The same combination with each of its models passed through `wrap`. Absent for a single model. */
  withEach?(wrap: (model: Model) => Model): Model;
  /**
   * Streams one request. The stream yields parts in order and ends after exactly one `finish` part. It throws
   * a {@link NanoAgentError} when the request has failed for good; retries happen inside and show as `retry`
   * parts. Aborting `options.signal`, or leaving the iteration early, cancels the request.
   */
  stream(request: ModelRequest, options?: ModelCallOptions): AsyncIterable<StreamPart>;
}

/** Facts about a model. Token counts are per request. */
export interface ModelInfo {
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  /** False if it is known not to accept images. */
  readonly images?: boolean;
  /** False if it is known not to support tool calls, so that they must be written in its text. */
  readonly tools?: boolean;
  /** USD per million tokens. Absent if unknown; unknown never counts as free. */
  readonly price?: ModelPrice;
}

/** Prices in USD per million tokens. A missing cache price means plain input. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
}

/** Prices, possibly higher for long requests. */
export interface ModelPrice extends TokenPrices {
  /** Prices for all of a request whose input exceeds `above` tokens, in any order. */
  readonly tiers?: readonly PriceTier[];
}

/** Prices for requests with more than `above` input tokens. */
export interface PriceTier extends TokenPrices {
  readonly above: number;
}

/** Options of one call. */
export interface ModelCallOptions {
  readonly signal?: AbortSignal;
}

/** The tool the model must call, if any. */
export type ToolChoice = "auto" | "none" | "required" | { readonly type: "tool"; readonly name: string };

/** How much to reason. Mapped to the wire's own setting; ignored by models without one. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** All efforts, lowest first. */
export const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/** A tool as shown to the model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; always of an object. */
  readonly parameters: JsonSchema;
}

/** One request. Its messages and tools are immutable, so a wire may serialize each once and keep the text. */
export interface ModelRequest {
  readonly system?: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  /** False asks for at most one tool call per answer, if the provider can guarantee that. */
  readonly parallelToolCalls?: boolean;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stopSequences?: readonly string[];
  readonly effort?: Effort;
  /** Identifies the conversation, for providers that use such a key to route cached prompts. */
  readonly sessionId?: string;
  /** Extra fields merged into the body of the named wire, such as `{ openai_chat: { seed: 1 } }`. */
  readonly providerOptions?: { readonly [wire: string]: { readonly [key: string]: Json | undefined } };
}

/** The request fields that stay the same throughout a run. */
export type RequestDefaults = Omit<ModelRequest, "messages" | "tools" | "toolChoice">;

/**
 * Why the model stopped: `unified` is one of our codes, `raw` the provider's word. `stop`: it was done ·
 * `tool_use`: it calls tools · `length`: output limit · `refusal`: refused or filtered · `pause`: the
 * provider paused a long turn, send the transcript again · `error`: it could not continue · `other`: an
 * undocumented word.
 */
export interface FinishReason {
  readonly unified: "stop" | "tool_use" | "length" | "refusal" | "pause" | "error" | "other";
  readonly raw: string;
  /** The provider's explanation, for people. */
  readonly detail?: string;
}

/** A piece of text. `index`: position of its block in the answer; ascending, gaps allowed. */
export interface TextDelta {
  readonly type: "text_delta";
  readonly index: number;
  readonly text: string;
}

/** A piece of reasoning. */
export interface ThinkingDelta {
  readonly type: "thinking_delta";
  readonly index: number;
  readonly text: string;
}

/** A tool call starts; its arguments follow as deltas and, complete, in its `block`. */
export interface ToolCallStart {
  readonly type: "tool_call_start";
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** A piece of the JSON text of a call's arguments. For display only: the `block` is authoritative. */
export interface ToolCallDelta {
  readonly type: "tool_call_delta";
  readonly index: number;
  readonly json: string;
}

/**
 * A finished block that replaces its deltas. Required for tool calls; for text and thinking only if there is
 * more than the deltas carried (a signature, provider data).
 */
export interface BlockPart {
  readonly type: "block";
  readonly index: number;
  readonly block: AssistantBlock;
}

/** The attempt failed; another follows after `delayMs`. Discard what this call has streamed so far. */
export interface RetryPart {
  readonly type: "retry";
  /** Number of the attempt that follows, from 2. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: NanoAgentError;
}

/** The end of the answer. */
export interface FinishPart {
  readonly type: "finish";
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The model that answered, as named by the provider. */
  readonly model?: string;
  /** The model that answered, if it is one of the `alternatives`: its prices apply. */
  readonly answeredBy?: Pick<Model, "provider" | "id" | "info">;
  /** The provider's id for this answer. */
  readonly responseId?: string;
  /** US dollars the provider says it charged; overrides the cost computed from prices. */
  readonly costUsd?: number;
}

/** A part of a model's stream. */
export type StreamPart =
  | TextDelta
  | ThinkingDelta
  | ToolCallStart
  | ToolCallDelta
  | BlockPart
  | RetryPart
  | FinishPart;
