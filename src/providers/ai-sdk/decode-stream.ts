import { defined, parseToolInput } from "../../core/base/json.ts";
import { type ToolUseBlock, tokenCount, type Usage, usageParts } from "../../core/message/message.ts";
import type { FinishReason, StreamPart } from "../../core/model/model.ts";
import { incompleteAnswer } from "../provider-errors.ts";
import { finishPart } from "../wire.ts";
import { aiSdkData } from "./call-options.ts";
import type { AiSdkFinishReason, AiSdkMetadata, AiSdkStreamPart, AiSdkUsage } from "./language-model.ts";

interface OpenBlock {
  readonly kind: "text" | "thinking";
  readonly index: number;
  text: string;
  metadata: AiSdkMetadata | undefined;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly index: number;
  json: string;
  metadata: AiSdkMetadata | undefined;
}

/**
 * Turns the chunks of one `doStream` into parts, which go to `emit` in order. Reasoning always ends in a
 * block, so that it can be sent back to `provider`; text only where metadata came with it; text that has
 * metadata but no characters is an empty thinking block, for empty text is kept nowhere. A call whose
 * arguments are no JSON is held back until the finish reason tells whether they were cut. Tools that ran at
 * the provider, sources and generated files are skipped.
 */
export class AiSdkDecoder {
  readonly #provider: string;
  readonly #emit: (part: StreamPart) => void;
  readonly #texts = new Map<string, OpenBlock>();
  readonly #thoughts = new Map<string, OpenBlock>();
  readonly #calls = new Map<string, OpenCall>();
  readonly #skipped = new Set<string>();
  #nextIndex = 0;
  #hasCalls = false;
  #model: string | undefined;
  #responseId: string | undefined;

  constructor(provider: string, emit: (part: StreamPart) => void) {
    this.#provider = provider;
    this.#emit = emit;
  }

  /** Throws what an `error` chunk carries, unchanged. True after `finish`: nothing more is to be read. */
  chunk(part: AiSdkStreamPart): boolean {
    const { type, modelId, id } = part;
    if (type.startsWith("text-")) this.#block("text", part);
    else if (type.startsWith("reasoning-")) this.#block("thinking", part);
    else if (type === "tool-input-start" || type === "tool-input-delta") this.#toolInput(part);
    else if (type === "tool-call") this.#toolCall(part);
    else if (type === "response-metadata") {
      this.#model = modelId ?? this.#model;
      this.#responseId = id ?? this.#responseId;
    } else if (type === "error") throw part.error;
    else if (type === "finish") this.#finish(part);
    return type === "finish";
  }

  #block(kind: OpenBlock["kind"], { type, id = "", delta, providerMetadata }: AiSdkStreamPart): void {
    const open = kind === "text" ? this.#texts : this.#thoughts;
    let block = open.get(id);
    if (block === undefined) {
      block = { kind, index: this.#nextIndex++, text: "", metadata: undefined };
      open.set(id, block);
    }
    if (providerMetadata !== undefined) block.metadata = merged(block.metadata, providerMetadata);
    if (delta !== undefined && delta !== "") {
      block.text += delta;
      const emitted = kind === "text" ? "text_delta" : "thinking_delta";
      this.#emit({ type: emitted, index: block.index, text: delta });
    }
    if (type.endsWith("-end")) {
      open.delete(id);
      this.#closeBlock(block);
    }
  }

  #closeBlock({ kind, index, text, metadata }: OpenBlock): void {
    if (metadata === undefined && (kind === "text" || text === "")) return;
    const provider_data = aiSdkData(this.#provider, metadata, kind === "text" && text === "");
    const isText = kind === "text" && text !== "";
    const block = isText
      ? { type: "text" as const, text, provider_data }
      : { type: "thinking" as const, thinking: text, provider_data };
    this.#emit({ type: "block", index, block });
  }

  #toolInput(part: AiSdkStreamPart): void {
    const { type, id = "", toolName: name = "", delta = "", providerMetadata: metadata } = part;
    if (type === "tool-input-start") {
      if (part.providerExecuted === true) this.#skipped.add(id);
      else this.#startCall({ id, name, index: this.#nextIndex++, json: "", metadata });
      return;
    }
    const call = this.#calls.get(id);
    if (call === undefined || this.#skipped.has(id)) return;
    call.json += delta;
    this.#emit({ type: "tool_call_delta", index: call.index, json: delta });
  }

  #startCall(call: OpenCall): OpenCall {
    this.#hasCalls = true;
    this.#calls.set(call.id, call);
    this.#emit({ type: "tool_call_start", index: call.index, id: call.id, name: call.name });
    return call;
  }

  #toolCall(part: AiSdkStreamPart): void {
    const { toolCallId: id = "", toolName: name = "", input, providerMetadata } = part;
    if (part.providerExecuted === true) return;
    const call =
      this.#calls.get(id) ??
      this.#startCall({ id, name, index: this.#nextIndex++, json: "", metadata: undefined });
    call.json = typeof input === "string" ? input : JSON.stringify(input ?? {});
    if (providerMetadata !== undefined) call.metadata = merged(call.metadata, providerMetadata);
    if (parseToolInput(call.json).invalid_input !== undefined) return;
    this.#calls.delete(id);
    this.#closeCall(call, false);
  }

  #closeCall({ id, name, index, json, metadata }: OpenCall, truncated: boolean): void {
    const block: ToolUseBlock = {
      type: "tool_use",
      id,
      name,
      ...parseToolInput(json, { truncated }),
      ...defined({ provider_data: metadata && aiSdkData(this.#provider, metadata) }),
    };
    this.#emit({ type: "block", index, block });
  }

  #finish({ finishReason, usage }: AiSdkStreamPart): void {
    const reason: AiSdkFinishReason =
      typeof finishReason === "string" ? { unified: finishReason } : (finishReason ?? { unified: "other" });
    if (reason.unified === "interrupted") throw incompleteAnswer(this.#provider, this.#model ?? "");
    for (const block of this.#thoughts.values()) this.#closeBlock(block);
    for (const block of this.#texts.values()) this.#closeBlock(block);
    for (const call of this.#calls.values()) this.#closeCall(call, reason.unified === "length");
    const named = { model: this.#model, id: this.#responseId };
    this.#emit(finishPart(toFinishReason(reason, this.#hasCalls), toUsage(usage), named));
  }
}

function merged(before: AiSdkMetadata | undefined, more: AiSdkMetadata): AiSdkMetadata {
  if (before === undefined) return more;
  const all: { [provider: string]: AiSdkMetadata[string] } = { ...before };
  for (const [provider, facts] of Object.entries(more)) all[provider] = { ...all[provider], ...facts };
  return all;
}

const UNIFIED: ReadonlyMap<string, FinishReason["unified"]> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["content-filter", "refusal"],
  ["tool-calls", "tool_use"],
  ["error", "error"],
]);

function toFinishReason({ unified, raw = unified }: AiSdkFinishReason, hasCalls: boolean): FinishReason {
  if (unified === "stop" && hasCalls) return { unified: "tool_use", raw };
  return { unified: UNIFIED.get(unified) ?? "other", raw };
}

function toUsage(usage: AiSdkUsage | undefined): Usage {
  const input = usage?.inputTokens;
  const output = usage?.outputTokens;
  return {
    inputTokens: tokenCount(input?.total),
    outputTokens: tokenCount(output?.total),
    ...usageParts({
      cacheReadTokens: input?.cacheRead,
      cacheWriteTokens: input?.cacheWrite,
      reasoningTokens: output?.reasoning,
    }),
    ...defined({ raw: usage?.raw }),
  };
}
