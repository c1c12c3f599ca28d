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
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        this.#block("text", part);
        break;
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        this.#block("thinking", part);
        break;
      case "tool-input-start":
      case "tool-input-delta":
        this.#toolInput(part);
        break;
      case "tool-call":
        this.#toolCall(part);
        break;
      case "response-metadata":
        this.#named(part);
        break;
      case "error":
        throw part.error;
      case "finish":
        this.#finish(part);
        return true;
      default:
        break;
    }
    return false;
  }

  #named({ modelId, id }: AiSdkStreamPart): void {
    if (modelId !== undefined) this.#model = modelId;
    if (id !== undefined) this.#responseId = id;
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
      this.#emit({
        type: kind === "text" ? "text_delta" : "thinking_delta",
        index: block.index,
        text: delta,
      });
    }
    if (type.endsWith("-end")) {
      open.delete(id);
      this.#closeBlock(block);
    }
  }

  #closeBlock({ kind, index, text, metadata }: OpenBlock): void {
    if (text === "" && metadata === undefined) return;
    if (kind === "text" && metadata === undefined) return;
    const provider_data = aiSdkData(this.#provider, metadata, kind === "text" && text === "");
    const isText = kind === "text" && text !== "";
    const block = isText
      ? { type: "text" as const, text, provider_data }
      : { type: "thinking" as const, thinking: text, provider_data };
    this.#emit({ type: "block", index, block });
  }

  #toolInput({
    type,
    id = "",
    toolName = "",
    delta = "",
    providerExecuted,
    providerMetadata,
  }: AiSdkStreamPart): void {
    if (type === "tool-input-start") {
      if (providerExecuted === true) this.#skipped.add(id);
      else
        this.#startCall({
          id,
          name: toolName,
          index: this.#nextIndex++,
          json: "",
          metadata: providerMetadata,
        });
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

  #toolCall({
    toolCallId: id = "",
    toolName: name = "",
    input,
    providerMetadata,
    providerExecuted,
  }: AiSdkStreamPart): void {
    if (providerExecuted === true) return;
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
