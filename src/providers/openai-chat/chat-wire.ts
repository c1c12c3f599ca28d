import type { Json } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import { NO_USAGE, tokenCount, type Usage, usageParts } from "../../core/message/message.ts";
import type { FinishReason, StreamPart } from "../../core/model/model.ts";
import { answerError, incompleteAnswer, parseErrorObject, reportedError } from "../provider-errors.ts";
import { createDeltaTemplate, type DeltaTemplate, parseEvent } from "../server-events.ts";
import {
  finishPart,
  learnField,
  refusalText,
  textOrEmpty,
  type Wire,
  type WireDecoder,
  type WireTarget,
} from "../wire.ts";
import type {
  ChatChoice,
  ChatChunk,
  ChatContentPart,
  ChatDelta,
  ChatUsage,
  ToolCallFragment,
} from "./chat-json.ts";
import { createChatEncoder } from "./encode-chat.ts";
import { quirksOf } from "./quirks.ts";
import { ReasoningCollector, type TextParts, ThinkTagParser } from "./reasoning.ts";
import { ToolCallCollector } from "./tool-calls.ts";

/** OpenAI Chat Completions, as spoken by OpenAI and many compatible vendors and local servers. */
export const openAiChat: Wire = {
  name: "openai_chat",
  createEncoder: createChatEncoder,
  createDecoder: (emit, target) => new ChatDecoder(emit, target),
  toError: (answer) => answerError(answer),
  eventsIn: (document) =>
    isRecord(document) && Array.isArray(document["choices"]) && document["choices"].length > 0
      ? [JSON.stringify(document)]
      : undefined,
  learn: (error, target) => {
    const words = refusalText(error);
    const { system_role, cache_marks, max_tokens_field } = quirksOf(target);
    if (REASONING_REQUIRED.test(words))
      return { reasoning_replay: "reasoning_content", require_reasoning: true };
    if (ROLE_REFUSED.test(words)) return { system_role: system_role === "system" ? "developer" : "system" };
    // Usually marks in tool results are refused.
    if (words.includes("cache_control")) return { cache_marks: cache_marks === "all" ? "user" : "none" };
    const other = max_tokens_field === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    const tokens = { max_tokens_field: other };
    const learned = { ...LEARNED_QUIRKS, max_tokens: tokens, max_completion_tokens: tokens };
    return learnField(words, target, FIELDS, learned);
  },
};

/** From DeepSeek, Moonshot, and gateways and servers that run their models. */
const REASONING_REQUIRED =
  /reasoning(?:_content|_text|_details)?\b[^.]{0,80}(?:missing|must be|required)|missing\b[^.]{0,20}reasoning/i;

const ROLE_REFUSED =
  /\brole\b[^.]{0,80}(?:developer|system)|(?:developer|system)\b[^.]{0,20} role|'(?:developer|system)' does not match/i;

/** Quirks that omit certain refused fields. */
const LEARNED_QUIRKS = {
  stream_options: { stream_usage: false },
  prompt_cache_key: { prompt_cache_key: false },
  reasoning_content: { reasoning_replay: "none", require_reasoning: false },
  reasoning_details: { reasoning_replay: "none", require_reasoning: false },
};

/** Optional request fields. `max_tokens` first: its refusal also names `max_completion_tokens`. */
const FIELDS = [
  "stream_options parallel_tool_calls max_tokens max_completion_tokens prompt_cache_key reasoning_content",
  "reasoning_details reasoning_effort reasoning enable_thinking thinking tool_choice temperature top_p stop",
].join(" ");

/** Fields that may differ in every event without affecting the answer. */
const CHANGING: readonly string[] = ["obfuscation", "created"];

/**
 * Decodes a streamed Chat Completions answer of any vendor. All text is one block, all reasoning another: the
 * format defines no order among them. The answer is complete with `[DONE]`, or with a finish reason if the
 * body ends without it.
 */
class ChatDecoder implements WireDecoder {
  readonly #emit: (part: StreamPart) => void;
  readonly #target: WireTarget;
  readonly #template: DeltaTemplate = createDeltaTemplate(CHANGING);
  readonly #thinkingTemplate: DeltaTemplate = createDeltaTemplate(CHANGING);
  readonly #reasoning = new ReasoningCollector();
  readonly #calls: ToolCallCollector;
  /** Undefined once the text can no longer begin with reasoning. */
  #tag: ThinkTagParser | undefined = new ThinkTagParser();
  #blocks = 0;
  #textIndex = -1;
  #thinkingIndex = -1;
  #isThinking = false;
  #isRefused = false;
  readonly #annotations: Json[] = [];
  #finish: string | undefined;
  #usage: ChatUsage | undefined;
  #model: string | undefined;
  #responseId: string | undefined;
  #isDone = false;

  constructor(emit: (part: StreamPart) => void, target: WireTarget) {
    this.#emit = emit;
    this.#target = target;
    this.#calls = new ToolCallCollector(emit, () => this.#blocks++);
  }

  readonly event = (name: string, data: string): void => {
    const text = this.#template.match(data);
    if (text !== undefined) {
      this.#text(text);
      return;
    }
    const thought = this.#isThinking ? this.#thinkingTemplate.match(data) : undefined;
    if (thought !== undefined) this.#addThought(thought);
    else if (data.trim() === "[DONE]") this.#isDone = true;
    else this.#chunk(parseEvent(data), name, data);
  };

  readonly done = (): boolean => this.#isDone;

  readonly end = (): void => {
    if (this.#tag !== undefined) this.#taggedText(this.#tag, this.#tag.end());
    this.#requireComplete();
    const raw = this.#finish ?? "";
    const reason = finishReason(raw, this.#calls.count > 0, this.#isRefused);
    if (reason.unified === "error")
      throw reportedError({ message: "the answer broke off", code: raw }, { target: this.#target });
    if (this.#reasoning.hasReasoning) {
      this.#emit({ type: "block", index: this.#thinkingPosition(), block: this.#reasoning.block() });
    }
    this.#calls.finish(reason.unified !== "stop" && reason.unified !== "tool_use");
    if (this.#annotations.length > 0) {
      const provider_data = { openai_chat: { annotations: this.#annotations } };
      this.#emit({ type: "block", index: this.#blocks++, block: { type: "text", text: "", provider_data } });
    }
    const costUsd = quirksOf(this.#target).reports_cost ? reportedCost(this.#usage) : undefined;
    const named = { model: this.#model, id: this.#responseId, costUsd };
    this.#emit(finishPart(reason, chatUsage(this.#usage), named));
  };

  #chunk(chunk: ChatChunk, name: string, data: string): void {
    if (isFailure(chunk, name)) throw reportedError(parseErrorObject({ ...chunk }), { target: this.#target });
    const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    this.#model ??= nonEmpty(chunk.model);
    this.#responseId ??= nonEmpty(chunk.id);
    const usage = usageOf(chunk, choice);
    if (usage !== undefined) this.#usage = usage;
    if (choice === undefined) return;
    const finish = nonEmpty(choice.finish_reason);
    this.#finish = finish ?? this.#finish;
    const delta = choice.delta ?? choice.message;
    if (!isRecord(delta)) return;
    this.#delta(delta);
    if (finish === undefined && usage === undefined) this.#learn(choice, delta, data);
  }

  #delta(delta: ChatDelta): void {
    const thought = this.#reasoning.addDelta(delta);
    if (this.#reasoning.hasReasoning) this.#thinkingPosition();
    this.#thinking(thought);
    const { content, refusal, annotations } = delta;
    if (Array.isArray(annotations)) this.#annotations.push(...(annotations as readonly Json[]));
    if (typeof content === "string") this.#text(content);
    else if (Array.isArray(content))
      for (const part of content as readonly ChatContentPart[]) this.#part(part);
    if (typeof refusal === "string" && refusal !== "") {
      this.#isRefused = true;
      this.#text(refusal);
    }
    const fragments = fragmentsOf(delta);
    if (fragments.length > 0) this.#calls.addFragments(fragments);
  }

  #part(part: ChatContentPart): void {
    if (typeof part.text === "string") this.#text(part.text);
    if (typeof part.thinking === "string") this.#addThought(part.thinking);
    else for (const piece of part.thinking ?? []) this.#addThought(textOrEmpty(piece.text));
  }

  #addThought(text: string): void {
    this.#reasoning.addText(text);
    this.#thinking(text);
  }

  #text(text: string): void {
    if (this.#tag !== undefined) this.#taggedText(this.#tag, this.#tag.push(text));
    else this.#plainText(text);
  }

  #taggedText(tag: ThinkTagParser, { reasoning, text }: TextParts): void {
    if (tag.isDone) this.#tag = undefined;
    if (reasoning !== "") this.#addThought(reasoning);
    this.#plainText(text);
  }

  #plainText(text: string): void {
    if (text === "") return;
    if (this.#textIndex === -1) this.#textIndex = this.#blocks++;
    this.#emit({ type: "text_delta", index: this.#textIndex, text });
  }

  #thinking(text: string): void {
    if (text !== "") this.#emit({ type: "thinking_delta", index: this.#thinkingPosition(), text });
  }

  #thinkingPosition(): number {
    if (this.#thinkingIndex === -1) this.#thinkingIndex = this.#blocks++;
    return this.#thinkingIndex;
  }

  /** Learns an event that has one piece of text or reasoning, and nothing else that matters. */
  #learn(choice: ChatChoice, delta: ChatDelta, data: string): void {
    let key = "";
    for (const [field, value] of Object.entries(delta)) {
      const isEmpty = value === null || value === "" || (Array.isArray(value) && value.length === 0);
      if (field === "role" || isEmpty) continue;
      const isSimple = field === "content" || field === "reasoning_content" || field === "reasoning";
      if (!isSimple || typeof value !== "string" || key !== "") return;
      key = field;
    }
    if (key === "" || choice.message !== undefined) return;
    this.#isThinking = key !== "content";
    (this.#isThinking ? this.#thinkingTemplate : this.#template).learn(data, key);
  }

  /** A body that just stops is not an answer: only the provider can say that it ended. */
  #requireComplete(): void {
    if (this.#finish !== undefined) return;
    const hasContent = this.#textIndex !== -1 || this.#reasoning.hasReasoning || this.#calls.count > 0;
    if (this.#isDone && hasContent && this.#calls.areComplete) return;
    throw incompleteAnswer(this.#target.provider, this.#target.modelId);
  }
}

function isFailure(chunk: ChatChunk, name: string): boolean {
  if (name === "error" || chunk.object === "error") return true;
  if (chunk.error !== undefined && chunk.error !== null) return true;
  return chunk.choices === undefined && "code" in chunk;
}

function usageOf(chunk: ChatChunk, choice: ChatChoice | undefined): ChatUsage | undefined {
  const usage = chunk.usage ?? chunk.x_groq?.usage ?? choice?.usage;
  return typeof usage === "object" && usage !== null ? usage : undefined;
}

function nonEmpty(text: string | null | undefined): string | undefined {
  return typeof text === "string" && text !== "" ? text : undefined;
}

function fragmentsOf(delta: ChatDelta): readonly ToolCallFragment[] {
  const calls = delta.tool_calls;
  if (Array.isArray(calls)) return calls as readonly ToolCallFragment[];
  if (isRecord(calls)) return [calls];
  const legacy = delta.function_call;
  return legacy === undefined || legacy === null ? [] : [{ index: "function_call", function: legacy }];
}

/** Usage in any vendor's spelling. {@link NO_USAGE} if none was reported. */
function chatUsage(raw: ChatUsage | undefined): Usage {
  if (raw === undefined) return NO_USAGE;
  const prompt = tokenCount(raw.prompt_tokens ?? raw.input_tokens);
  const completion = tokenCount(raw.completion_tokens ?? raw.output_tokens);
  const reasoning = raw.completion_tokens_details?.reasoning_tokens ?? raw.reasoning_tokens;
  const reasoned = tokenCount(reasoning);
  // xAI counts reasoning on top of the completion, others as part of it; the total tells which.
  const isExtra = reasoned > 0 && tokenCount(raw.total_tokens) === prompt + completion + reasoned;
  return {
    inputTokens: prompt,
    outputTokens: completion + (isExtra ? reasoned : 0),
    ...usageParts({ ...cacheTokens(raw), reasoningTokens: reasoning }),
    raw,
  };
}

function cacheTokens(raw: ChatUsage): Parameters<typeof usageParts>[0] {
  const { prompt_tokens_details: details, cached_tokens, cache_read_input_tokens } = raw;
  const cacheReadTokens =
    details?.cached_tokens ?? raw.prompt_cache_hit_tokens ?? cached_tokens ?? cache_read_input_tokens;
  const cacheWriteTokens =
    details?.cache_write_tokens ?? details?.cache_creation_input_tokens ?? raw.cache_creation_input_tokens;
  return { cacheReadTokens, cacheWriteTokens };
}

/**
 * The charge in US dollars that a provider reports. OpenRouter's `cost` is its own charge: with the user's
 * own provider key it is only the fee, and the upstream charge is a separate field.
 */
function reportedCost(raw: ChatUsage | undefined): number | undefined {
  const { cost, is_byok, cost_details } = raw ?? {};
  if (typeof cost !== "number" || !Number.isFinite(cost) || cost < 0) return undefined;
  const upstream = is_byok === true ? cost_details?.upstream_inference_cost : undefined;
  return cost + (typeof upstream === "number" && upstream > 0 ? upstream : 0);
}

/**
 * The unified finish reason for a vendor's word; calls take precedence over `stop`, and no word counts as
 * `stop`. `isRefused`: text arrived in the refusal field.
 */
function finishReason(raw: string, hasCalls: boolean, isRefused: boolean): FinishReason {
  const unified = raw === "" ? "stop" : (WORDS.get(raw.toLowerCase()) ?? "other");
  if (isRefused && unified === "stop") return { unified: "refusal", raw };
  if (hasCalls && (unified === "stop" || unified === "other")) return { unified: "tool_use", raw };
  return { unified: unified === "tool_use" && !hasCalls ? "stop" : unified, raw };
}

const WORDS: ReadonlyMap<string, FinishReason["unified"]> = new Map([
  ...entriesFor("stop", "stop end_turn eos eos_token end stop_sequence complete completed"),
  ...entriesFor("tool_use", "tool_calls tool_call function_call tool_use"),
  ...entriesFor("length", "length max_tokens max_output_tokens model_length model_context_window_exceeded"),
  ...entriesFor("refusal", "content_filter sensitive refusal safety recitation blocked"),
  ...entriesFor("error", "insufficient_system_resource network_error error abort"),
]);

function entriesFor(
  unified: FinishReason["unified"],
  raws: string,
): readonly (readonly [string, FinishReason["unified"]])[] {
  return raws.split(" ").map((raw) => [raw, unified] as const);
}
