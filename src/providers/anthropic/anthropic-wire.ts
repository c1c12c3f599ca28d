import type { JsonObject } from "../../core/base/errors.ts";
import { isRecord, omitUndefined, type ParsedToolInput, parseToolInput } from "../../core/base/json.ts";
import { TextBuffer } from "../../core/base/text.ts";
import {
  type ProviderData,
  type TextBlock,
  type ThinkingBlock,
  tokenCount,
  type Usage,
  usageParts,
} from "../../core/message/message.ts";
import type { FinishReason, StreamPart } from "../../core/model/model.ts";
import { answerError, incompleteAnswer, parseErrorObject, reportedError } from "../provider-errors.ts";
import { createDeltaTemplate, parseEvent } from "../server-events.ts";
import {
  finishPart,
  learnField,
  refusalText,
  textOrEmpty,
  type Wire,
  type WireDecoder,
  type WireTarget,
} from "../wire.ts";
import { createAnthropicEncoder } from "./encode-anthropic.ts";

/** The Messages API of Anthropic and of compatible servers. */
export const anthropicWire: Wire = {
  name: "anthropic",
  createEncoder: createAnthropicEncoder,
  createDecoder: (emit, target) => new AnthropicDecoder(emit, target),
  toError: (answer) => answerError(answer),
  eventsIn: (document) => {
    if (!isRecord(document) || !Array.isArray(document["content"])) return undefined;
    const { content, stop_reason, stop_details, usage } = document;
    const blocks = (content as readonly unknown[]).flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
    ]);
    const end = { type: "message_delta", delta: { stop_reason, stop_details }, usage };
    const events = [{ type: "message_start", message: document }, ...blocks, end, { type: "message_stop" }];
    return events.map((event) => JSON.stringify(event));
  },
  learn: (error, target) =>
    learnField(refusalText(error), target, FIELDS, { cache_control: { cache: false } }),
};

/** Request fields that compatible servers may not support. */
const FIELDS = "cache_control output_config tool_choice top_p thinking temperature";

type Emit = (part: StreamPart) => void;

/** A block in progress. `text`: the content of its deltas; for a call, the JSON of its input. */
interface OpenBlock {
  start: AnthropicBlock;
  readonly text: TextBuffer;
  signature: string;
  readonly citations: unknown[];
}

/** Decodes the stream of the Messages API, which asks clients to skip unknown events and deltas. */
export class AnthropicDecoder implements WireDecoder {
  readonly #emit: Emit;
  readonly #target: WireTarget;
  readonly #template = createDeltaTemplate([]);
  /** Block of the text event that the template has learned. */
  #templateIndex = 0;
  #templateBlock: OpenBlock | undefined;
  readonly #openBlocks = new Map<number, OpenBlock>();
  /** Calls whose arguments are not an object (yet): only the stop reason tells if they were truncated. */
  readonly #uncertainCalls: { readonly index: number; readonly open: OpenBlock }[] = [];
  /** The provider's own blocks, as they must be sent back. */
  readonly #providerBlocks: { readonly index: number; readonly block: AnthropicBlock }[] = [];
  #calls = 0;
  #stopReason: string | undefined;
  #explanation: string | undefined;
  #usage: AnthropicUsage = {};
  #message: NonNullable<AnthropicEvent["message"]> = {};
  #isStopped = false;
  #isFinished = false;

  constructor(emit: Emit, target: WireTarget) {
    this.#emit = emit;
    this.#target = target;
  }

  readonly event = (_event: string, data: string): void => {
    const text = this.#template.match(data);
    if (text !== undefined) this.#append(this.#templateIndex, this.#templateBlock, text);
    else this.#event(data, parseEvent(data));
  };

  #event(data: string, event: AnthropicEvent): void {
    const index = typeof event.index === "number" ? event.index : 0;
    if (event.type === "content_block_delta") this.#delta(index, event.delta ?? {}, data);
    else if (event.type === "content_block_start") this.#start(index, event.content_block ?? {});
    else if (event.type === "content_block_stop") this.#stop(index);
    else if (event.type === "message_start") this.#onMessageStart(event);
    else if (event.type === "message_delta") this.#onMessageDelta(event);
    else if (event.type === "message_stop") this.#isStopped = true;
    else if (event.type === "error")
      throw reportedError(parseErrorObject({ ...event }), { target: this.#target });
  }

  readonly end = (): void => {
    if (this.#isFinished) return;
    if (!this.#isStopped && this.#stopReason === undefined)
      throw incompleteAnswer(this.#target.provider, this.#target.modelId);
    this.#isFinished = true;
    for (const index of this.#openBlocks.keys()) this.#stop(index);
    const truncated = isTruncation(this.#stopReason);
    for (const { index, open } of this.#uncertainCalls) this.#call(index, open, inputOf(open, truncated));
    for (const { index, block } of this.#providerBlocks)
      if (!truncated || !this.#isUnanswered(block))
        this.#emit({ type: "block", index, block: textBlock("", { block }) });
    this.#emit(finishPart(this.#finishReason(), toUsage(this.#usage), this.#message));
  };

  readonly done = (): boolean => this.#isStopped;

  #onMessageStart({ message }: AnthropicEvent): void {
    this.#message = message ?? {};
    this.#usage = mergeUsage(this.#usage, message?.usage);
  }

  #onMessageDelta({ delta, usage }: AnthropicEvent): void {
    if (typeof delta?.stop_reason === "string") this.#stopReason = delta.stop_reason;
    this.#explanation = textOrEmpty(delta?.stop_details?.explanation) || this.#explanation;
    this.#usage = mergeUsage(this.#usage, usage);
  }

  #start(index: number, start: AnthropicBlock): void {
    const { type, citations } = start;
    const signature = textOrEmpty(start.signature);
    const open = { start, text: new TextBuffer(), signature, citations: [...(citations ?? [])] };
    this.#openBlocks.set(index, open);
    if (type === "tool_use") {
      this.#emit({
        type: "tool_call_start",
        index,
        id: textOrEmpty(start.id),
        name: textOrEmpty(start.name),
      });
    } else if (type === "text") this.#append(index, open, start.text);
    else if (type === "thinking") this.#append(index, open, start.thinking);
  }

  /** Adds to a block and emits the delta. Text from a server that announces no block counts too. */
  #append(index: number, open: OpenBlock | undefined, text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    open?.text.add(text);
    const type = open?.start.type ?? "text";
    if (type === "text") this.#emit({ type: "text_delta", index, text });
    else if (type === "thinking") this.#emit({ type: "thinking_delta", index, text });
    else if (type === "tool_use") this.#emit({ type: "tool_call_delta", index, json: text });
  }

  #delta(index: number, delta: AnthropicDelta, data: string): void {
    const open = this.#openBlocks.get(index);
    if (delta.type === "text_delta") {
      this.#templateIndex = index;
      this.#templateBlock = open;
      this.#template.learn(data, "text");
      this.#append(index, open, delta.text);
    } else if (open === undefined) return;
    else if (delta.type === "input_json_delta") this.#append(index, open, delta.partial_json);
    else if (delta.type === "thinking_delta") this.#append(index, open, delta.thinking);
    else if (delta.type === "signature_delta") open.signature += textOrEmpty(delta.signature);
    else if (delta.type === "citations_delta") open.citations.push(delta.citation);
    else {
      // Future kinds of blocks grow by their own fields, e.g. `compaction_delta`.
      const { type: _type, ...fields } = delta;
      open.start = { ...open.start, ...fields };
    }
  }

  #stop(index: number): void {
    const open = this.#openBlocks.get(index);
    if (open === undefined) return;
    this.#openBlocks.delete(index);
    const { start, citations } = open;
    if (start.type === "tool_use") {
      this.#calls++;
      const parsed = inputOf(open, false);
      if (open.text.toString() === "" && Object.keys(parsed.input).length === 0)
        this.#uncertainCalls.push({ index, open });
      else if (parsed.invalid_input !== undefined) this.#uncertainCalls.push({ index, open });
      else this.#call(index, open, parsed);
    } else if (start.type === "thinking") {
      this.#emit({ type: "block", index, block: thinkingBlock(open) });
    } else if (start.type === "redacted_thinking") {
      const block = { type: "thinking", thinking: "", redacted: textOrEmpty(start.data) } as const;
      this.#emit({ type: "block", index, block });
    } else if (start.type !== "text") {
      this.#providerBlocks.push({ index, block: rawBlock(open) });
    } else if (citations.length > 0) {
      this.#emit({ type: "block", index, block: textBlock(open.text.toString(), { citations }) });
    }
  }

  /** True if the answer ended before the result of, say, a search: the next request would be refused. */
  #isUnanswered({ type, id }: AnthropicBlock): boolean {
    return (
      type?.endsWith("_tool_use") === true &&
      !this.#providerBlocks.some(({ block }) => block["tool_use_id"] === id)
    );
  }

  #call(index: number, { start }: OpenBlock, parsed: ParsedToolInput): void {
    const { id, name, caller, toolset_name } = start;
    // Without these, calls by a program or of a toolset are refused when sent back.
    const data = omitUndefined({
      caller: isRecord(caller) && caller.type !== "direct" ? caller : undefined,
      toolset_name: toolset_name ?? undefined,
    });
    const provider_data = Object.keys(data).length === 0 ? undefined : ownData(data);
    const named = { type: "tool_use", id: textOrEmpty(id), name: textOrEmpty(name) } as const;
    this.#emit({ type: "block", index, block: { ...named, ...parsed, ...omitUndefined({ provider_data }) } });
  }

  #finishReason(): FinishReason {
    const raw = this.#stopReason ?? "";
    const known = FINISH.get(raw);
    if (known !== undefined) return { unified: known, raw, ...omitUndefined({ detail: this.#explanation }) };
    if (raw !== "") return { unified: "other", raw };
    return { unified: this.#calls > 0 ? "tool_use" : "stop", raw };
  }
}

const FINISH: ReadonlyMap<string, FinishReason["unified"]> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_use"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["pause_turn", "pause"],
  ["compaction", "pause"],
  ["refusal", "refusal"],
]);

function isTruncation(stopReason: string | undefined): boolean {
  return stopReason !== undefined && FINISH.get(stopReason) === "length";
}

/** Compatible servers may send the whole input at the start, and then no deltas. */
function inputOf({ start, text }: OpenBlock, truncated: boolean): ParsedToolInput {
  const json = text.toString();
  if (json === "" && isRecord(start.input) && Object.keys(start.input).length > 0)
    return { input: start.input };
  return parseToolInput(json, { truncated });
}

function thinkingBlock({ text, signature }: OpenBlock): ThinkingBlock {
  return { type: "thinking", thinking: text.toString(), ...(signature === "" ? {} : { signature }) };
}

function textBlock(text: string, data: object): TextBlock {
  return { type: "text", text, provider_data: ownData(data) };
}

/** Parsed by `JSON.parse` and unchanged since. */
function ownData(data: object): ProviderData {
  return { anthropic: data as JsonObject };
}

/** A block without an equivalent here (server tools and their results), as it must be sent back. */
function rawBlock({ start, text }: OpenBlock): AnthropicBlock {
  const json = text.toString();
  return json === "" ? start : { ...start, input: parseToolInput(json).input };
}

/** Later figures are totals and never smaller; zeros in repeated events are ignored. */
function mergeUsage(before: AnthropicUsage, now: AnthropicUsage | null | undefined): AnthropicUsage {
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

/**
 * The parts of the Messages API that nano-agent reads. Any field may be missing: compatible servers omit
 * things. Source: https://platform.claude.com/docs/en/api/messages and /build-with-claude/streaming.
 */
interface AnthropicEvent {
  readonly type?: string;
  readonly index?: number;
  readonly message?: {
    readonly id?: string;
    readonly model?: string;
    readonly usage?: AnthropicUsage | null;
  };
  readonly content_block?: AnthropicBlock;
  readonly delta?: AnthropicDelta;
  readonly usage?: AnthropicUsage | null;
}

interface AnthropicBlock {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  /** Encrypted reasoning of a `redacted_thinking` block. */
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  /** The program that made the call, if it was not the model itself. */
  readonly caller?: { readonly type?: string } | null;
  readonly citations?: readonly unknown[] | null;
  readonly [key: string]: unknown;
}

interface AnthropicDelta {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
  readonly citation?: unknown;
  readonly stop_reason?: string | null;
  readonly stop_details?: { readonly explanation?: string | null; readonly category?: string | null } | null;
}

/** Token counts. In `message_delta` they are totals so far, not increments. */
interface AnthropicUsage {
  /** Without tokens read from or written to the cache. */
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number | null;
    readonly ephemeral_1h_input_tokens?: number | null;
  } | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
}
