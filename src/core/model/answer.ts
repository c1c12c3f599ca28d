import { NanoAgentError } from "../base/errors.ts";
import { TextBuffer } from "../base/text.ts";
import {
  type AssistantBlock,
  type AssistantMessage,
  NO_USAGE,
  type ThinkingBlock,
  type ToolUseBlock,
} from "../message/message.ts";
import type { FinishPart, Model, StreamPart } from "./model.ts";

/** A block so far: text that is still growing, or a finished block. */
type Slot =
  | { readonly text: TextBuffer; readonly kind: "text" | "thinking" }
  | { readonly kind: "done"; readonly block: AssistantBlock };

/** A complete answer of a model. */
export interface CollectedAnswer {
  readonly message: AssistantMessage;
  readonly finish: FinishPart;
}

/**
 * Folds the parts of one answer into a message, for the loop as parts arrive and for {@link collect}. Blocks
 * are ordered by their index; empty text without provider data is dropped. A tool call without an id, or with
 * one in `usedIds`, gets a new id: some servers send none, or the same one in every answer.
 */
export class AnswerCollector {
  /** By index, which may be any number. */
  readonly #slots = new Map<number, Slot>();
  readonly #usedIds: Set<string>;
  /** Ids given in this answer, by index, so that the start and the block of a call agree. */
  readonly #ids = new Map<number, string>();
  #finish: FinishPart | undefined;

  /** New ids are added to `usedIds`, so that answers collected in parallel never share one. */
  constructor(usedIds: Set<string> = new Set()) {
    this.#usedIds = usedIds;
  }

  /** Takes a part and returns the one to publish, which differs only if an id was replaced. */
  add(part: StreamPart): StreamPart {
    switch (part.type) {
      case "text_delta":
        this.#append(part.index, "text", part.text);
        return part;
      case "thinking_delta":
        this.#append(part.index, "thinking", part.text);
        return part;
      case "tool_call_start": {
        const id = this.#idFor(part.index, part.id);
        return id === part.id ? part : { ...part, id };
      }
      case "tool_call_delta":
        return part;
      case "block":
        this.#slots.set(part.index, { kind: "done", block: this.#withId(part.index, part.block) });
        return part;
      case "retry":
        this.#slots.clear();
        for (const id of this.#ids.values()) this.#usedIds.delete(id);
        this.#ids.clear();
        return part;
      case "finish":
        this.#finish = normalizeFinish(part);
        return part;
      default:
        throw invalidStream(
          `has a part of the unknown type ${JSON.stringify((part as { type?: unknown }).type)}`,
        );
    }
  }

  /** The text received so far, including reasoning. */
  receivedText(): string {
    return this.#inOrder().map(slotText).join("");
  }

  /** The answer. Throws `invalid_response` if the stream ended without a `finish` part. */
  result(): CollectedAnswer {
    if (this.#finish === undefined) {
      throw new NanoAgentError("invalid_response", "The model's stream ended without a finish part.", {
        retryable: true,
      });
    }
    return { message: { role: "assistant", content: this.#blocks() }, finish: this.#finish };
  }

  /** The text received before the answer was cut; nothing else of it can be sent again. */
  partialMessage(): AssistantMessage {
    const blocks = this.#blocks().filter((block) => block.type === "text" && block.text !== "");
    return { role: "assistant", content: blocks };
  }

  #append(index: number, kind: "text" | "thinking", text: string): void {
    const slot = this.#slots.get(index);
    if (slot?.kind === kind) slot.text.add(text);
    else if (slot === undefined) {
      const slot = { kind, text: new TextBuffer() };
      slot.text.add(text);
      this.#slots.set(index, slot);
    } else
      throw new NanoAgentError(
        "invalid_response",
        `The model's stream mixes a ${slot.kind} and a ${kind} block at index ${index}.`,
      );
  }

  #inOrder(): readonly Slot[] {
    return [...this.#slots].toSorted(([left], [right]) => left - right).map(([, slot]) => slot);
  }

  #blocks(): AssistantBlock[] {
    const blocks: AssistantBlock[] = [];
    for (const slot of this.#inOrder()) {
      if (slot.kind === "done") {
        const { block } = slot;
        if (block.type !== "text" || block.text !== "" || block.provider_data !== undefined)
          blocks.push(block);
        continue;
      }
      const text = slot.text.toString().toWellFormed();
      if (text !== "") blocks.push(...(slot.kind === "text" ? splitReasoning(text) : [thinkingBlock(text)]));
    }
    return blocks;
  }

  #withId(index: number, block: AssistantBlock): AssistantBlock {
    if (block.type !== "tool_use") return block;
    const id = this.#idFor(index, block.id);
    return id === block.id ? block : ({ ...block, id } satisfies ToolUseBlock);
  }

  #idFor(index: number, id: string): string {
    const known = this.#ids.get(index);
    if (known !== undefined) return known;
    const isTaken = (candidate: string): boolean => candidate === "" || this.#usedIds.has(candidate);
    let unique = id;
    for (let n = 1; isTaken(unique); n++) unique = `${id === "" ? "call" : id}_${this.#usedIds.size + n}`;
    this.#ids.set(index, unique);
    this.#usedIds.add(unique);
    return unique;
  }
}

/**
 * Splits off reasoning whose opening tag was part of the prompt: everything before a closing tag that stands
 * on its own line, or in its own paragraph, outside of code.
 */
function splitReasoning(text: string): readonly AssistantBlock[] {
  const at = text.indexOf(CLOSING_TAG);
  if (at === -1) return [{ type: "text", text }];
  const reasoning = text.slice(0, at);
  const rest = text.slice(at + CLOSING_TAG.length);
  const isInCode = reasoning.split("```").length % 2 === 0 || reasoning.endsWith("`");
  const endsLine = /^[ \t]*(?:\r?\n|$)/.test(rest) && /(?:^|\n)[ \t]*$/.test(reasoning);
  const endsParagraph = /^[ \t]*(?:\r?\n[ \t]*\r?\n|$)/.test(rest);
  if (reasoning.includes("<think>") || isInCode || !(endsLine || endsParagraph))
    return [{ type: "text", text }];
  const answer = rest.trimStart();
  const thinking = reasoning.trim() === "" ? [] : [thinkingBlock(reasoning.trim())];
  return answer === "" ? thinking : [...thinking, { type: "text", text: answer }];
}

const CLOSING_TAG = "</think>";

function thinkingBlock(thinking: string): ThinkingBlock {
  return { type: "thinking", thinking };
}

function slotText(slot: Slot): string {
  if (slot.kind !== "done") return slot.text.toString();
  const { block } = slot;
  if (block.type === "text") return block.text;
  return block.type === "thinking" ? block.thinking : "";
}

/** The end of an answer, normalized: a model written in JavaScript may omit fields. */
function normalizeFinish(part: FinishPart): FinishPart {
  const { finishReason, usage } = part as Partial<FinishPart>;
  if (typeof finishReason?.unified !== "string")
    throw invalidStream('has a finish part without a finishReason such as { unified: "stop", raw: "stop" }');
  return usage === undefined ? { ...part, usage: NO_USAGE } : part;
}

function invalidStream(problem: string): NanoAgentError {
  return new NanoAgentError("invalid_response", `The model's stream ${problem}.`);
}

/** Reads a model stream to its end. Throws what the stream throws. */
export async function collect(parts: AsyncIterable<StreamPart>): Promise<CollectedAnswer> {
  const collector = new AnswerCollector();
  for await (const part of parts) collector.add(part);
  return collector.result();
}

/** The same model with another `stream`. */
export function withStream(model: Model, stream: Model["stream"]): Model {
  const { provider, id } = model;
  return {
    provider,
    id,
    get info() {
      return model.info;
    },
    get alternatives() {
      return model.alternatives ?? [];
    },
    stream,
  };
}

/**
 * The same model with backpressure: the next part is read once the promise that `room` returned for
 * the previous one has settled.
 */
export function withBackpressure(model: Model, room: () => Promise<void> | undefined): Model {
  return withStream(model, async function* (request, options) {
    for await (const part of model.stream(request, options)) {
      yield part;
      const waiting = room();
      if (waiting !== undefined) await waiting;
    }
  });
}
