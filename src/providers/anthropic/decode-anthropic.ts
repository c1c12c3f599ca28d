import type { Json } from "../../core/base/errors.ts";
import { isRecord, type ParsedToolInput, parseToolInput } from "../../core/base/json.ts";
import type { ThinkingBlock, ToolUseBlock } from "../../core/message/block.ts";
import { tokenCount, type Usage, usageParts } from "../../core/message/usage.ts";
import type { FinishReason, StreamPart } from "../../core/model/model.ts";
import { createDeltaTemplate } from "../delta-template.ts";
import { incompleteAnswer, reportedError, wordsOf } from "../provider-errors.ts";
import { parseEventData } from "../sse.ts";
import { wordOf } from "../tool-call-names.ts";
import { finishPart, type WireDecoder, type WireTarget } from "../wire.ts";
import type { AnthropicBlock, AnthropicDelta, AnthropicEvent, AnthropicUsage } from "./anthropic-json.ts";

type Emit = (part: StreamPart) => void;

/** Decodes the stream of the Messages API. Unknown events and deltas are skipped, as it asks of clients. */
export function createAnthropicDecoder(emit: Emit, target: WireTarget): WireDecoder {
  return new AnthropicDecoder(emit, target);
}

/** A block that is still being written. Text needs nothing kept: its deltas say it all. */
interface OpenBlock {
  readonly start: AnthropicBlock;
  text: string;
  signature: string;
}

class AnthropicDecoder implements WireDecoder {
  readonly #emit: Emit;
  readonly #target: WireTarget;
  readonly #template = createDeltaTemplate({ ignore: [] });
  /** Block of the text the template has learned. */
  #templateIndex = 0;
  readonly #open = new Map<number, OpenBlock>();
  /** Calls whose arguments are no object (yet): only the stop reason tells whether they were cut. */
  readonly #doubtful: { readonly index: number; readonly open: OpenBlock }[] = [];
  #calls = 0;
  #stopReason: string | undefined;
  #usage: AnthropicUsage = {};
  #message: NonNullable<AnthropicEvent["message"]> = {};
  #stopped = false;
  #finished = false;

  constructor(emit: Emit, target: WireTarget) {
    this.#emit = emit;
    this.#target = target;
  }

  readonly event = (_event: string, data: string): void => {
    const text = this.#template.match(data);
    if (text !== undefined) this.#text(this.#templateIndex, text);
    else this.#event(data, parseEventData(data));
  };

  #event(data: string, value: unknown): void {
    const event: AnthropicEvent = isRecord(value) ? value : {};
    const { index = 0 } = event;
    if (event.type === "content_block_delta") this.#delta(index, event.delta ?? {}, data);
    else if (event.type === "content_block_start") this.#start(index, event.content_block ?? {});
    else if (event.type === "content_block_stop") this.#stop(index);
    else if (event.type === "message_start") this.#begin(event);
    else if (event.type === "message_delta") this.#change(event);
    else if (event.type === "message_stop") this.#stopped = true;
    else if (event.type === "error") throw reportedError(wordsOf({ ...event }), { target: this.#target });
  }

  readonly end = (): void => {
    if (this.#finished) return;
    if (!this.#stopped && this.#stopReason === undefined)
      throw incompleteAnswer(this.#target.provider, this.#target.modelId);
    this.#finished = true;
    for (const index of this.#open.keys()) this.#stop(index);
    const truncated = isTruncation(this.#stopReason);
    for (const { index, open } of this.#doubtful) this.#call(index, open, inputOf(open, truncated));
    this.#emit(finishPart(this.#finishReason(), toUsage(this.#usage), this.#message));
  };

  readonly done = (): boolean => this.#stopped;

  #begin({ message }: AnthropicEvent): void {
    this.#message = message ?? {};
    this.#usage = mergedUsage(this.#usage, message?.usage);
  }

  #change({ delta, usage }: AnthropicEvent): void {
    this.#stopReason = delta?.stop_reason ?? this.#stopReason;
    this.#usage = mergedUsage(this.#usage, usage);
  }

  #start(index: number, start: AnthropicBlock): void {
    if (start.type === "text") {
      if (typeof start.text === "string") this.#text(index, start.text);
      return;
    }
    this.#open.set(index, { start, text: start.thinking ?? "", signature: start.signature ?? "" });
    if (start.type === "tool_use") {
      this.#emit({ type: "tool_call_start", index, id: wordOf(start.id), name: wordOf(start.name) });
    } else if (start.type === "thinking" && start.thinking !== undefined && start.thinking !== "") {
      this.#emit({ type: "thinking_delta", index, text: start.thinking });
    }
  }

  #text(index: number, text: string): void {
    if (text !== "") this.#emit({ type: "text_delta", index, text });
  }

  #delta(index: number, delta: AnthropicDelta, data: string): void {
    if (delta.type === "text_delta") {
      this.#templateIndex = index;
      this.#template.learn(data, "text");
      this.#text(index, delta.text ?? "");
      return;
    }
    const open = this.#open.get(index);
    if (open === undefined) return;
    if (delta.type === "input_json_delta") {
      const json = delta.partial_json ?? "";
      open.text += json;
      if (json !== "" && open.start.type === "tool_use") this.#emit({ type: "tool_call_delta", index, json });
    } else if (delta.type === "thinking_delta") {
      const text = delta.thinking ?? "";
      open.text += text;
      if (text !== "") this.#emit({ type: "thinking_delta", index, text });
    } else if (delta.type === "signature_delta") {
      open.signature += delta.signature ?? "";
    }
  }

  #stop(index: number): void {
    const open = this.#open.get(index);
    if (open === undefined) return;
    this.#open.delete(index);
    const { start } = open;
    if (start.type === "tool_use") {
      this.#calls++;
      const parsed = inputOf(open, false);
      if (open.text === "" && Object.keys(parsed.input).length === 0) this.#doubtful.push({ index, open });
      else if (parsed.invalid_input !== undefined) this.#doubtful.push({ index, open });
      else this.#call(index, open, parsed);
    } else if (start.type === "thinking") {
      this.#emit({ type: "block", index, block: thinkingBlock(open) });
    } else if (start.type === "redacted_thinking") {
      this.#emit({
        type: "block",
        index,
        block: { type: "thinking", thinking: "", redacted: start.data ?? "" },
      });
    } else {
      this.#emit({
        type: "block",
        index,
        block: { type: "text", text: "", provider_data: { anthropic: { block: rawBlock(open) } } },
      });
    }
  }

  #call(index: number, { start }: OpenBlock, parsed: ParsedToolInput): void {
    const block: ToolUseBlock = {
      type: "tool_use",
      id: wordOf(start.id),
      name: wordOf(start.name),
      ...parsed,
    };
    this.#emit({ type: "block", index, block });
  }

  #finishReason(): FinishReason {
    const raw = this.#stopReason ?? "";
    const known = FINISH[raw];
    if (known !== undefined) return { unified: known, raw };
    if (raw !== "") return { unified: "other", raw };
    return { unified: this.#calls > 0 ? "tool_use" : "stop", raw };
  }
}

const FINISH: { readonly [raw: string]: FinishReason["unified"] | undefined } = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_use",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  pause_turn: "pause",
  refusal: "refusal",
};

function isTruncation(stopReason: string | undefined): boolean {
  return stopReason !== undefined && FINISH[stopReason] === "length";
}

/** Compatible servers may hand over the whole input at the start, and then no deltas. */
function inputOf({ start, text }: OpenBlock, truncated: boolean): ParsedToolInput {
  if (text === "" && isRecord(start.input) && Object.keys(start.input).length > 0)
    return { input: start.input };
  return parseToolInput(text, { truncated });
}

function thinkingBlock({ text, signature }: OpenBlock): ThinkingBlock {
  return { type: "thinking", thinking: text, ...(signature === "" ? {} : { signature }) };
}

/** A block of a kind nano-agent has no name for (server tools and their results), as it must be sent back. */
function rawBlock({ start, text }: OpenBlock): JsonObject {
  // It came out of JSON.parse as it is.
  return (text === "" ? start : { ...start, input: parseToolInput(text).input }) as JsonObject;
}

type JsonObject = { readonly [key: string]: Json | undefined };

/** Later figures are totals and never smaller; servers that repeat an event with zeros are not believed. */
function mergedUsage(before: AnthropicUsage, now: AnthropicUsage | null | undefined): AnthropicUsage {
  if (!isRecord(now)) return before;
  const merged: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(now)) {
    const known = merged[key];
    if (typeof value === "number" && typeof known === "number") merged[key] = Math.max(known, value);
    else if (value !== null || known === undefined) merged[key] = value;
  }
  return merged;
}

function toUsage(raw: AnthropicUsage): Usage {
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written, cache_creation: split } = raw;
  const hour = split?.ephemeral_1h_input_tokens;
  const cached = Math.max(
    tokenCount(written),
    tokenCount(split?.ephemeral_5m_input_tokens) + tokenCount(hour),
  );
  return {
    inputTokens: tokenCount(raw.input_tokens) + tokenCount(read) + cached,
    outputTokens: tokenCount(raw.output_tokens),
    ...usageParts({
      cacheReadTokens: read,
      cacheWriteTokens: cached > 0 ? cached : written,
      cacheWrite1hTokens: hour,
      reasoningTokens: raw.output_tokens_details?.thinking_tokens,
    }),
    raw,
  };
}
