import type { Json, NanoAgentError } from "../base/errors.ts";
import type { JsonSchema } from "../base/schema.ts";
import type { AssistantBlock, Message, Usage } from "../message/message.ts";

/**
 * The port to a language model. Implementations: the four wires in `providers/`, any Vercel AI SDK model
 * through `fromAiSdk`, scripted and recorded models in `testing/`, and
 * {@link import("../../providers/fallback.ts").fallbackModel}.
 */
export interface Model {
  /** Provider name, e.g. `anthropic`. */
  readonly provider: string;
  /** Model id as the provider knows it, e.g. `claude-sonnet-4-5`. */
  readonly id: string;
  /** The known facts about the model. Unknown figures are absent. */
  readonly info?: ModelInfo | undefined;
  /** Other models that may answer in its place, as far as it is made of several. */
  readonly alternatives?: readonly Model[];
  /** The same, made of what `wrap` gives for each of its models. Absent: it is one. */
  withEach?(wrap: (model: Model) => Model): Model;
  /**
   * One request, streamed. The stream yields parts in order and ends after exactly one `finish` part; it
   * throws a {@link NanoAgentError} when the request failed for good (retries are the implementation's
   * business and show as `retry` parts). Aborting `options.signal`, or leaving the iteration early, cancels
   * the request.
   */
  stream(request: ModelRequest, options?: ModelCallOptions): AsyncIterable<StreamPart>;
}

/** Facts about a model. All token counts are for one request. */
export interface ModelInfo {
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  /** False: it is known to take no images. */
  readonly images?: boolean;
  /** False: it is known to have no way to call tools, so that calls must stand in its text. */
  readonly tools?: boolean;
  /** USD per million tokens. Absent when unknown; unknown is never treated as free. */
  readonly price?: ModelPrice;
}

/** Prices in USD per million tokens. A missing cache price means: charged as plain input. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
}

/** The prices of requests, which may be higher for long ones. */
export interface ModelPrice extends TokenPrices {
  /** Prices of a whole request whose input is longer than `above` tokens, in any order. */
  readonly tiers?: readonly PriceTier[];
}

/** Prices of requests with more than `above` tokens of input. */
export interface PriceTier extends TokenPrices {
  readonly above: number;
}

/** How one call is made. */
export interface ModelCallOptions {
  readonly signal?: AbortSignal;
}

/** The tool that the model must call, if any. */
export type ToolChoice = "auto" | "none" | "required" | { readonly type: "tool"; readonly name: string };

/** How much reasoning to ask for. Mapped to each wire's own words; ignored by models that have none. */
export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** Every {@link Effort}, from the least. */
export const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/** A tool as the model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; always an object schema. */
  readonly parameters: JsonSchema;
}

/**
 * One request. Message and tool objects are never changed after they were passed in, so a wire may serialise
 * each of them once and keep the text.
 */
export interface ModelRequest {
  readonly system?: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice;
  /** False asks the model for at most one tool call per answer, where the provider can promise that. */
  readonly parallelToolCalls?: boolean;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stopSequences?: readonly string[];
  readonly effort?: Effort;
  /** Names the conversation, for providers that route cached prompts by such a key. */
  readonly sessionId?: string;
  /** Extra fields merged into the body as the named wire sends it, e.g. `{ openai_chat: { seed: 1 } }`. */
  readonly providerOptions?: { readonly [wire: string]: { readonly [key: string]: Json | undefined } };
}

/** The request fields that stay the same over a whole run. */
export type RequestDefaults = Omit<ModelRequest, "messages" | "tools" | "toolChoice">;

/**
 * Why the model stopped. `unified` is one of nano-agent's words; `raw` is the provider's own, unchanged.
 * `stop`: it was done · `tool_use`: it wants tools run · `length`: output limit · `refusal`: refused or
 * filtered · `pause`: the provider paused a long turn, send the transcript again · `error`: it could not go
 * on · `other`: a word nobody documented.
 */
export interface FinishReason {
  readonly unified: "stop" | "tool_use" | "length" | "refusal" | "pause" | "error" | "other";
  readonly raw: string;
  /** The provider's words about it, for people. */
  readonly detail?: string;
}

/** A piece of text. `index`: position of its block in the answer, counting up, gaps allowed. */
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

/** A tool call began; its arguments follow as deltas and, complete, in its `block`. */
export interface ToolCallStart {
  readonly type: "tool_call_start";
  readonly index: number;
  readonly id: string;
  readonly name: string;
}

/** A piece of the JSON text of a tool call's arguments. For display only: the `block` is authoritative. */
export interface ToolCallDelta {
  readonly type: "tool_call_delta";
  readonly index: number;
  readonly json: string;
}

/**
 * A finished block, replacing whatever its deltas said. Required for tool calls; for text and thinking only
 * where there is more than the deltas carried (a signature, provider data).
 */
export interface BlockPart {
  readonly type: "block";
  readonly index: number;
  readonly block: AssistantBlock;
}

/** The attempt failed; another follows after `delayMs`. What was streamed in this call so far is void. */
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
  /** The model that answered, where the provider names it. */
  readonly model?: string;
  /** The model that answered, where it is one of the `alternatives`: its prices hold. */
  readonly answeredBy?: Pick<Model, "provider" | "id" | "info">;
  /** The provider's id of this answer. */
  readonly responseId?: string;
  /** US dollars the provider says it charged: that wins over what its prices come to. */
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
