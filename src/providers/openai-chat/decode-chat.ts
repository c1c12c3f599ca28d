import type { Json } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import type { StreamPart } from "../../core/model/model.ts";
import { createDeltaTemplate, type DeltaTemplate } from "../delta-template.ts";
import { incompleteAnswer, reportedError, wordsOf } from "../provider-errors.ts";
import { parseEventObject } from "../sse.ts";
import { wordOf } from "../tool-call-names.ts";
import { finishPart, type WireDecoder, type WireTarget } from "../wire.ts";
import type {
  ChatChoice,
  ChatChunk,
  ChatContentPart,
  ChatDelta,
  ChatUsage,
  ToolCallFragment,
} from "./chat-json.ts";
import { chatUsage, reportedCost } from "./chat-usage.ts";
import { finishReason } from "./finish-reason.ts";
import { quirksOf } from "./quirks.ts";
import { ReasoningCollector } from "./reasoning.ts";
import { type TextParts, ThinkTag } from "./think-tag.ts";
import { ToolCallCollector } from "./tool-calls.ts";

/** Fields that may differ in every event and mean nothing to the answer. */
const CHANGING: readonly string[] = ["obfuscation", "created"];

/**
 * Decodes a streamed Chat Completions answer of any vendor. All text is one block, all reasoning another: the
 * format knows no order among them. The answer is complete with `[DONE]`, or with a finish reason when the
 * body ends without it.
 */
export class ChatDecoder implements WireDecoder {
  readonly #emit: (part: StreamPart) => void;
  readonly #target: WireTarget;
  readonly #template: DeltaTemplate = createDeltaTemplate({ ignore: CHANGING });
  readonly #thinkingTemplate: DeltaTemplate = createDeltaTemplate({ ignore: CHANGING });
  readonly #reasoning = new ReasoningCollector();
  readonly #calls: ToolCallCollector;
  /** Undefined once the text can no longer begin with reasoning. */
  #tag: ThinkTag | undefined = new ThinkTag();
  #blocks = 0;
  #textIndex = -1;
  #thinkingIndex = -1;
  #isThinking = false;
  #refused = false;
  readonly #annotations: Json[] = [];
  #finish: string | undefined;
  #usage: ChatUsage | undefined;
  #model: string | undefined;
  #responseId: string | undefined;
  #done = false;

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
    if (this.#isThinking) {
      const thought = this.#thinkingTemplate.match(data);
      if (thought !== undefined) {
        this.#reasoning.add(thought);
        this.#thinking(thought);
        return;
      }
    }
    if (data.trim() === "[DONE]") this.#done = true;
    else this.#chunk(parseEventObject(data), name, data);
  };

  readonly done = (): boolean => this.#done;

  readonly end = (): void => {
    if (this.#tag !== undefined) this.#taggedText(this.#tag, this.#tag.end());
    this.#requireWhole();
    const raw = this.#finish ?? "";
    const reason = finishReason(raw, { hasCalls: this.#calls.count > 0, refused: this.#refused });
    if (reason.unified === "error")
      throw reportedError({ message: "the answer broke off", code: raw }, { target: this.#target });
    if (this.#reasoning.seen) {
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
    if (isFailure(chunk, name)) throw reportedError(wordsOf({ ...chunk }), { target: this.#target });
    const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    this.#model ??= filled(chunk.model);
    this.#responseId ??= filled(chunk.id);
    const usage = usageOf(chunk, choice);
    if (usage !== undefined) this.#usage = usage;
    if (choice === undefined) return;
    const finish = filled(choice.finish_reason);
    this.#finish = finish ?? this.#finish;
    const delta = choice.delta ?? choice.message;
    if (!isRecord(delta)) return;
    this.#delta(delta);
    if (finish === undefined && usage === undefined) this.#learn(choice, delta, data);
  }

  #delta(delta: ChatDelta): void {
    const thought = this.#reasoning.take(delta);
    if (this.#reasoning.seen) this.#thinkingPosition();
    this.#thinking(thought);
    const { content, refusal, annotations } = delta;
    if (Array.isArray(annotations)) this.#annotations.push(...(annotations as readonly Json[]));
    if (typeof content === "string") this.#text(content);
    else if (Array.isArray(content))
      for (const part of content as readonly ChatContentPart[]) this.#part(part);
    if (typeof refusal === "string" && refusal !== "") {
      this.#refused = true;
      this.#text(refusal);
    }
    const fragments = fragmentsOf(delta);
    if (fragments.length > 0) this.#calls.take(fragments);
  }

  #part(part: ChatContentPart): void {
    if (typeof part.text === "string") this.#text(part.text);
    if (typeof part.thinking === "string") this.#thought(part.thinking);
    else for (const piece of part.thinking ?? []) this.#thought(wordOf(piece.text));
  }

  #thought(text: string): void {
    this.#reasoning.add(text);
    this.#thinking(text);
  }

  #text(text: string): void {
    if (this.#tag !== undefined) this.#taggedText(this.#tag, this.#tag.take(text));
    else this.#plainText(text);
  }

  #taggedText(tag: ThinkTag, { thought, text }: TextParts): void {
    if (tag.isOver) this.#tag = undefined;
    if (thought !== "") this.#thought(thought);
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

  /** Remembers an event that holds one piece of text, or of reasoning, and nothing else that counts. */
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

  /** A body that just stops is no answer: only the provider can say that it ended. */
  #requireWhole(): void {
    if (this.#finish !== undefined) return;
    const hasAny = this.#textIndex !== -1 || this.#reasoning.seen || this.#calls.count > 0;
    if (this.#done && hasAny && this.#calls.whole) return;
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

function filled(text: string | null | undefined): string | undefined {
  return typeof text === "string" && text !== "" ? text : undefined;
}

function fragmentsOf(delta: ChatDelta): readonly ToolCallFragment[] {
  const calls = delta.tool_calls;
  if (Array.isArray(calls)) return calls as readonly ToolCallFragment[];
  if (isRecord(calls)) return [calls];
  const legacy = delta.function_call;
  return legacy === undefined || legacy === null ? [] : [{ index: "function_call", function: legacy }];
}
