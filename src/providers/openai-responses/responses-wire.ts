import type { Json, JsonObject, NanoAgentError } from "../../core/base/errors.ts";
import { newId } from "../../core/base/ids.ts";
import { isRecord, omitUndefined, parseToolInput } from "../../core/base/json.ts";
import {
  NO_USAGE,
  type ProviderData,
  tokenCount,
  type Usage,
  usageParts,
} from "../../core/message/message.ts";
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
import { createResponsesEncoder } from "./encode-responses.ts";

/** The OpenAI Responses API, used without storage at the provider. */
export const openAiResponses: Wire = {
  name: "openai_responses",
  createEncoder: createResponsesEncoder,
  createDecoder: (emit, target) => new ResponsesDecoder(emit, target),
  toError: (answer) => answerError(answer),
  eventsIn: (document) => {
    if (!isRecord(document) || !Array.isArray(document["output"])) return undefined;
    const { status = "completed" } = document;
    return [JSON.stringify({ type: `response.${String(status)}`, response: document })];
  },
  learn: (error, target) => {
    const plain = { encrypted_reasoning: false };
    return learnField(refusalText(error), target, FIELDS, { include: plain, encrypted_content: plain });
  },
};

/** Request fields that compatible servers may not support. */
const FIELDS =
  "encrypted_content include prompt_cache_key parallel_tool_calls max_output_tokens tool_choice top_p reasoning temperature store";

/**
 * Decodes a streamed answer of the Responses API: one block per output item, at the item's position. Unknown
 * events and items are skipped. The answer is complete with `response.completed` or `response.incomplete`.
 */
class ResponsesDecoder implements WireDecoder {
  readonly #emit: (part: StreamPart) => void;
  readonly #target: WireTarget;
  readonly #template: DeltaTemplate = createDeltaTemplate(["sequence_number", "obfuscation"]);
  readonly #items = new Map<number, OutputItem>();
  #newest: OutputItem | undefined;
  #templateItem: OutputItem | undefined;
  #templatePart = "";
  #isRefused = false;
  #answer: ResponsesAnswer = {};
  #final: "completed" | "incomplete" | undefined;

  constructor(emit: (part: StreamPart) => void, target: WireTarget) {
    this.#emit = emit;
    this.#target = target;
  }

  readonly event = (name: string, data: string): void => {
    const text = this.#template.match(data);
    if (text !== undefined) {
      this.#templateItem?.add(this.#templatePart, text);
      return;
    }
    if (data.trim() === "[DONE]") return;
    const event: ResponsesEvent = parseEvent(data);
    const type = event.type ?? name;
    if (type === "response.output_text.delta") this.#onText(event, data);
    else if (type.endsWith(".delta")) this.#onDelta(type, event);
    else if (type.startsWith("response.output_item.")) this.#onItem(type, event);
    else if (type.endsWith(".done")) this.#onPartDone(type, event);
    else this.#onState(type, event);
  };

  readonly done = (): boolean => this.#final !== undefined;

  readonly end = (): void => {
    if (this.#final === undefined) throw incompleteAnswer(this.#target.provider, this.#target.modelId);
    const { id, model, usage, output } = this.#answer;
    (output ?? []).forEach((item, position) => this.#closeListed(item, position));
    const items = [...this.#items.values()].toSorted((left, right) => left.index - right.index);
    for (const item of items) item.finish(this.#final === "incomplete");
    this.#emit(finishPart(this.#finishReason(items), responsesUsage(usage), { model, id }));
  };

  #onText(event: ResponsesEvent, data: string): void {
    const item = this.#itemOf(event, "message");
    const part = `content ${event.content_index ?? 0}`;
    item.add(part, event.delta);
    this.#templateItem = item;
    this.#templatePart = part;
    this.#template.learn(data, "delta");
  }

  #onDelta(type: string, event: ResponsesEvent): void {
    const { delta } = event;
    if (type === "response.function_call_arguments.delta") {
      this.#itemOf(event, "function_call").addArguments(delta);
      return;
    }
    const target = textTargetOf(type, event);
    if (target === undefined) return;
    if (target.isRefusal) this.#isRefused = true;
    this.#itemOf(event, target.itemType).add(target.part, delta);
  }

  #onPartDone(type: string, event: ResponsesEvent): void {
    if (type === "response.function_call_arguments.done") {
      if (typeof event.arguments === "string")
        this.#itemOf(event, "function_call").completeArguments(event.arguments);
      return;
    }
    const target = textTargetOf(type, event);
    const text = event.text ?? event.refusal;
    if (target === undefined || typeof text !== "string") return;
    if (target.isRefusal) this.#isRefused = true;
    this.#itemOf(event, target.itemType).complete(target.part, text);
  }

  #onItem(type: string, event: ResponsesEvent): void {
    const { item } = event;
    if (typeof item !== "object" || item === null) return;
    const isDone = type.endsWith(".done");
    const index = this.#indexOf(item.id) ?? positionOf(event) ?? this.#freeIndex();
    const known = this.#items.get(index);
    // A repeated number means nothing: some servers use the same one for all items.
    const isSame =
      known !== undefined &&
      (known.id === item.id || (isDone && !known.isClosed && known.type === item.type));
    const open = this.#open(known === undefined || isSame ? index : this.#freeIndex(), item);
    if (!isDone) return;
    if (isRefusal(item)) this.#isRefused = true;
    open.close(item);
  }

  /** An item of the final list. It only adds something if its own events were missing. */
  #closeListed(item: ResponsesItem, position: number): void {
    const index = this.#indexOf(item.id) ?? position;
    const known = this.#items.get(index);
    if (known === undefined || known.type === item.type) this.#open(index, item).close(item);
    if (isRefusal(item)) this.#isRefused = true;
  }

  #onState(type: string, event: ResponsesEvent): void {
    const { response } = event;
    if (type === "error" || (type === "" && "error" in event)) {
      throw reportedError(parseErrorObject({ ...event }), { target: this.#target });
    }
    if (typeof response !== "object" || response === null) return;
    this.#answer = { ...this.#answer, ...response };
    const status = type.startsWith("response.") ? type.slice("response.".length) : "";
    const ended = [status, response.status].find((each) => each === "failed" || each === "cancelled");
    if (ended !== undefined) throw this.#failure(response, ended);
    if (status === "completed" || status === "incomplete") {
      this.#final = response.status === "incomplete" ? "incomplete" : status;
    }
  }

  #failure(answer: ResponsesAnswer, status: string): NanoAgentError {
    const code = answer.error?.code ?? undefined;
    const message = answer.error?.message ?? answer.incomplete_details?.reason ?? `the response is ${status}`;
    return reportedError({ message, ...omitUndefined({ code }) }, { target: this.#target });
  }

  /** Finds an item by id and position. Servers omit, change or repeat either: then it is the newest. */
  #itemOf(event: ResponsesEvent, type: string): OutputItem {
    const { item_id: id } = event;
    const index = this.#indexOf(id) ?? positionOf(event) ?? -1;
    const known = this.#items.get(index);
    if (known?.type === type) return known;
    const newest = this.#newest;
    if (newest?.type === type && (index === -1 || known !== undefined)) return newest;
    return this.#open(index === -1 || known !== undefined ? this.#freeIndex() : index, {
      type,
      id: id ?? null,
    });
  }

  #indexOf(id: string | null | undefined): number | undefined {
    if (typeof id !== "string" || id === "") return undefined;
    for (const item of this.#items.values()) if (item.id === id) return item.index;
    return undefined;
  }

  #freeIndex(): number {
    return Math.max(-1, ...this.#items.keys()) + 1;
  }

  #open(index: number, item: ResponsesItem): OutputItem {
    const known = this.#items.get(index);
    if (known !== undefined) return known;
    const opened = new OutputItem(index, item, this.#emit);
    this.#items.set(index, opened);
    this.#newest = opened;
    return opened;
  }

  #finishReason(items: readonly OutputItem[]): FinishReason {
    if (this.#final === "incomplete") {
      const raw = textOrEmpty(this.#answer.incomplete_details?.reason) || "incomplete";
      return { unified: INCOMPLETE.get(raw) ?? "other", raw };
    }
    const hasCalls = items.some((item) => isCall(item.type));
    return { unified: hasCalls ? "tool_use" : this.#isRefused ? "refusal" : "stop", raw: "completed" };
  }
}

const INCOMPLETE: ReadonlyMap<string, FinishReason["unified"]> = new Map([
  ["max_output_tokens", "length"],
  ["max_tokens", "length"],
  ["content_filter", "refusal"],
]);

function positionOf({ output_index: position }: ResponsesEvent): number | undefined {
  return typeof position === "number" ? position : undefined;
}

/** The target of an event's text, by the event's name without `.delta` or `.done`. */
function textTargetOf(type: string, event: ResponsesEvent): TextTarget | undefined {
  const target = TEXT_TARGETS.get(type.slice(0, type.lastIndexOf(".")));
  if (target === undefined) return undefined;
  const { content_index: content, summary_index: summary } = event;
  const [itemType, list] = target;
  const part = list === "summary" ? `summary ${summary ?? 0}` : `content ${content ?? 0}`;
  return { itemType, part, isRefusal: type.startsWith("response.refusal.") };
}

interface TextTarget {
  readonly itemType: string;
  readonly part: string;
  readonly isRefusal: boolean;
}

const TEXT_TARGETS: ReadonlyMap<string, readonly [itemType: string, list: "content" | "summary"]> = new Map([
  ["response.output_text", ["message", "content"]],
  ["response.refusal", ["message", "content"]],
  ["response.reasoning_summary_text", ["reasoning", "summary"]],
  ["response.reasoning_text", ["reasoning", "content"]],
  // Name used by some local servers.
  ["response.reasoning", ["reasoning", "content"]],
]);

/** Usage of an answer; {@link NO_USAGE} if none was reported. */
function responsesUsage(raw: ResponsesUsage | null | undefined): Usage {
  if (raw === undefined || raw === null) return NO_USAGE;
  return {
    inputTokens: tokenCount(raw.input_tokens),
    outputTokens: tokenCount(raw.output_tokens),
    ...usageParts({
      cacheReadTokens: raw.input_tokens_details?.cached_tokens,
      cacheWriteTokens: raw.input_tokens_details?.cache_write_tokens,
      reasoningTokens: raw.output_tokens_details?.reasoning_tokens,
    }),
    raw,
  };
}

/**
 * One output item while it is streamed. Events that close a part or the item fill in what its deltas omitted,
 * so an answer of closing events alone is complete too.
 */
class OutputItem {
  /** Position of the item in the output, and of its block in the answer. */
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly #emit: (part: StreamPart) => void;
  #callId = "";
  #name = "";
  #json = "";
  #text = "";
  /** The current part, and where it begins in the text. */
  #part = "";
  #partStart = 0;
  #announced = false;
  #closedItem: ResponsesItem | undefined;

  constructor(index: number, item: ResponsesItem, emit: (part: StreamPart) => void) {
    this.index = index;
    this.id = textOrEmpty(item.id);
    this.type = item.type ?? "";
    this.#emit = emit;
    this.#identify(item);
  }

  get isClosed(): boolean {
    return this.#closedItem !== undefined;
  }

  /** Adds to a part of text or reasoning. `part` identifies the part within the item. */
  add(part: string, text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    if (part !== this.#part) {
      // Sections of reasoning are paragraphs; parts of a message are one text.
      if (this.type === "reasoning" && this.#text !== "") this.#push("\n\n");
      this.#part = part;
      this.#partStart = this.#text.length;
    }
    this.#push(text);
  }

  /** Completes a part with its whole text: adds anything its deltas omitted. */
  complete(part: string, text: string): void {
    if (part !== this.#part) {
      this.add(part, text);
      return;
    }
    const streamed = this.#text.slice(this.#partStart);
    if (text.startsWith(streamed)) this.add(part, text.slice(streamed.length));
  }

  #push(text: string): void {
    this.#text += text;
    this.#emit({
      type: this.type === "reasoning" ? "thinking_delta" : "text_delta",
      index: this.index,
      text,
    });
  }

  addArguments(json: unknown): void {
    if (typeof json !== "string" || json === "") return;
    this.#json += json;
    if (this.#announced) this.#emit({ type: "tool_call_delta", index: this.index, json });
  }

  completeArguments(json: string): void {
    if (json.startsWith(this.#json)) this.addArguments(json.slice(this.#json.length));
    else this.#json = json;
  }

  /** The provider closed the item. A call may still be truncated, which {@link finish} decides. */
  close(item: ResponsesItem): void {
    if (this.#closedItem !== undefined) return;
    this.#closedItem = item;
    this.#identify(item);
    if (isCall(this.type)) {
      const wholeArguments = item.arguments ?? item.input;
      if (typeof wholeArguments === "string") this.completeArguments(wholeArguments);
    } else if (this.type === "message") this.#closeMessage(item);
    else if (this.type === "reasoning") this.#closeReasoning(item);
    else if (this.type !== "") this.#emitText("", { item: { ...item } });
  }

  /** Emits the block of a call. `isAnswerTruncated`: the provider cut it short. */
  finish(isAnswerTruncated: boolean): void {
    if (!isCall(this.type) || this.#name === "") return;
    this.#announce();
    const truncated = isAnswerTruncated || this.#closedItem?.status === "incomplete";
    const input = parseToolInput(this.#json, { truncated });
    const { namespace, caller } = this.#closedItem ?? {};
    // Identify a tool that was found by a search, or called by a program.
    const data = omitUndefined({
      namespace: namespace ?? undefined,
      caller: caller?.type === "program" ? caller : undefined,
    });
    const call = { type: "tool_use", id: this.#callId, name: this.#name, ...input } as const;
    this.#emit({ type: "block", index: this.index, block: { ...call, ...ownData(data) } });
  }

  #identify(item: ResponsesItem): void {
    if (!isCall(this.type)) return;
    if (this.#name === "") this.#name = textOrEmpty(item.name);
    if (this.#callId === "") this.#callId = textOrEmpty(item.call_id);
    if (this.#name !== "" && this.#callId !== "") this.#announce();
  }

  #announce(): void {
    if (this.#announced) return;
    this.#announced = true;
    if (this.#callId === "") this.#callId = this.id === "" ? newId("call") : this.id;
    const { index } = this;
    this.#emit({ type: "tool_call_start", index, id: this.#callId, name: this.#name });
    if (this.#json !== "") this.#emit({ type: "tool_call_delta", index, json: this.#json });
  }

  #closeMessage(item: ResponsesItem): void {
    const text = joinText(item.content, "");
    if (text.startsWith(this.#text)) this.add(this.#part, text.slice(this.#text.length));
    const annotations = (item.content ?? []).flatMap((part) => part.annotations ?? []);
    const data: JsonObject = omitUndefined({
      phase: item.phase ?? undefined,
      annotations: annotations.length === 0 ? undefined : annotations,
    });
    const full = text === "" ? this.#text : text;
    if (full !== this.#text || (full !== "" && Object.keys(data).length > 0)) this.#emitText(full, data);
  }

  #emitText(text: string, data: JsonObject): void {
    this.#emit({ type: "block", index: this.index, block: { type: "text", text, ...ownData(data) } });
  }

  #closeReasoning(item: ResponsesItem): void {
    const { type, id, summary, content, encrypted_content: encrypted } = item;
    if (this.#text === "") this.add("whole", joinText(summary, "\n\n") || joinText(content, "\n\n"));
    if (this.#text === "" && typeof encrypted !== "string") return;
    const own: Record<string, Json> = { type: type ?? "reasoning" };
    if (typeof id === "string") own["id"] = id;
    own["summary"] = summary ?? [];
    if (content !== undefined && content !== null) own["content"] = content;
    if (typeof encrypted === "string") own["encrypted_content"] = encrypted;
    this.#emit({
      type: "block",
      index: this.index,
      block: {
        type: "thinking",
        thinking: this.#text,
        provider_data: { openai_responses: { item: own } },
      },
    });
  }
}

/** Data that only this wire needs again, as a field; no field if there is none. */
function ownData(data: JsonObject): { readonly provider_data?: ProviderData } {
  return Object.keys(data).length === 0 ? {} : { provider_data: { openai_responses: data } };
}

/** True for calls, including those of plain-text tools: the model learns that there are none. */
function isCall(type: string): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

function isRefusal(item: ResponsesItem): boolean {
  return (item.content ?? []).some((part) => part.type === "refusal");
}

function joinText(parts: readonly ResponsesContent[] | null | undefined, separator: string): string {
  return (parts ?? []).map((part) => part.text ?? part.refusal ?? "").join(separator);
}

/**
 * The fields in use of a streamed Responses API event. Follows
 * https://platform.openai.com/docs/api-reference/responses-streaming. Compatible servers omit fields, so any
 * may be missing.
 */
interface ResponsesEvent {
  readonly type?: string;
  readonly response?: ResponsesAnswer | null;
  readonly item?: ResponsesItem | null;
  readonly item_id?: string | null;
  readonly output_index?: number | null;
  readonly content_index?: number | null;
  readonly summary_index?: number | null;
  readonly delta?: string | null;
  readonly text?: string | null;
  readonly refusal?: string | null;
  readonly arguments?: string | null;
}

interface ResponsesAnswer {
  readonly id?: string | null;
  readonly model?: string | null;
  readonly status?: string | null;
  readonly output?: readonly ResponsesItem[] | null;
  readonly usage?: ResponsesUsage | null;
  readonly error?: { readonly code?: string | null; readonly message?: string | null } | null;
  readonly incomplete_details?: { readonly reason?: string | null } | null;
}

/** An output item: a message, reasoning, a function call, or something unrequested. */
interface ResponsesItem {
  readonly type?: string;
  readonly id?: string | null;
  readonly status?: string | null;
  readonly content?: readonly ResponsesContent[] | null;
  readonly phase?: string | null;
  readonly summary?: readonly ResponsesContent[] | null;
  readonly encrypted_content?: string | null;
  readonly call_id?: string | null;
  readonly name?: string | null;
  readonly arguments?: string | null;
  /** Replaces `arguments` in a call of a tool that takes plain text. */
  readonly input?: string | null;
  /** For a call of a tool that was found by a search. */
  readonly namespace?: string | null;
  /** The caller: the model, or a program it wrote. */
  readonly caller?: { readonly type?: string; readonly [key: string]: Json | undefined } | null;
}

/** A part of a message (`output_text`, `refusal`) or of reasoning (`summary_text`, `reasoning_text`). */
interface ResponsesContent {
  readonly type?: string;
  readonly text?: string | null;
  readonly refusal?: string | null;
  readonly annotations?: readonly Json[] | null;
  readonly [key: string]: Json | undefined;
}

interface ResponsesUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}
