import type { Json, JsonObject } from "../../core/base/errors.ts";
import { newId } from "../../core/base/ids.ts";
import { defined, parseToolInput } from "../../core/base/json.ts";
import type { ProviderData } from "../../core/message/message.ts";
import type { StreamPart } from "../../core/model/model.ts";
import { wordOf } from "../tool-call-names.ts";
import type { ResponsesContent, ResponsesItem } from "./responses-json.ts";

/**
 * One item of the output while it is streamed. Whatever its deltas left out is made up for by the events that
 * close a part or the item, so an answer of closing events alone is complete too.
 */
export class OutputItem {
  /** Position of the item in the output, and of its block in the answer. */
  readonly index: number;
  readonly id: string;
  readonly type: string;
  readonly #emit: (part: StreamPart) => void;
  #callId = "";
  #name = "";
  #json = "";
  #text = "";
  /** The part that is being streamed, and where in the text it begins. */
  #part = "";
  #partStart = 0;
  #announced = false;
  #whole: ResponsesItem | undefined;

  constructor(index: number, item: ResponsesItem, emit: (part: StreamPart) => void) {
    this.index = index;
    this.id = wordOf(item.id);
    this.type = item.type ?? "";
    this.#emit = emit;
    this.#identify(item);
  }

  get isClosed(): boolean {
    return this.#whole !== undefined;
  }

  /** Adds to a part of text or reasoning. `part` tells the parts of the item apart. */
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

  /** The whole text of a part: what its deltas did not bring is added. */
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

  /** The whole arguments of a call. */
  completeArguments(json: string): void {
    if (json.startsWith(this.#json)) this.addArguments(json.slice(this.#json.length));
    else this.#json = json;
  }

  /** The provider closed the item. A call may still be cut: {@link finish} tells. */
  close(item: ResponsesItem): void {
    if (this.#whole !== undefined) return;
    this.#whole = item;
    this.#identify(item);
    if (isCall(this.type)) {
      const whole = item.arguments ?? item.input;
      if (typeof whole === "string") this.completeArguments(whole);
    } else if (this.type === "message") this.#closeMessage(item);
    else if (this.type === "reasoning") this.#closeReasoning(item);
    else if (this.type !== "") this.#emitText("", { item: { ...item } });
  }

  /** Emits the block of a call. `cut`: the provider ended the answer before it was complete. */
  finish(cut: boolean): void {
    if (!isCall(this.type) || this.#name === "") return;
    this.#announce();
    const truncated = cut || this.#whole?.status === "incomplete";
    const input = parseToolInput(this.#json, { truncated });
    const { namespace, caller } = this.#whole ?? {};
    // A tool that was found by a search, or called by a program, is known by these.
    const data = defined({
      namespace: namespace ?? undefined,
      caller: caller?.type === "program" ? caller : undefined,
    });
    const call = { type: "tool_use", id: this.#callId, name: this.#name, ...input } as const;
    this.#emit({ type: "block", index: this.index, block: { ...call, ...ownData(data) } });
  }

  #identify(item: ResponsesItem): void {
    if (!isCall(this.type)) return;
    if (this.#name === "") this.#name = wordOf(item.name);
    if (this.#callId === "") this.#callId = wordOf(item.call_id);
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
    const text = joined(item.content, "");
    if (text.startsWith(this.#text)) this.add(this.#part, text.slice(this.#text.length));
    const annotations = (item.content ?? []).flatMap((part) => part.annotations ?? []);
    const data: JsonObject = defined({
      phase: item.phase ?? undefined,
      annotations: annotations.length === 0 ? undefined : annotations,
    });
    const whole = text === "" ? this.#text : text;
    if (whole !== this.#text || (whole !== "" && Object.keys(data).length > 0)) this.#emitText(whole, data);
  }

  #emitText(text: string, data: JsonObject): void {
    this.#emit({ type: "block", index: this.index, block: { type: "text", text, ...ownData(data) } });
  }

  #closeReasoning(item: ResponsesItem): void {
    const { type, id, summary, content, encrypted_content: encrypted } = item;
    if (this.#text === "") this.add("whole", joined(summary, "\n\n") || joined(content, "\n\n"));
    if (this.#text === "" && typeof encrypted !== "string") return;
    const kept: Record<string, Json> = { type: type ?? "reasoning" };
    if (typeof id === "string") kept["id"] = id;
    kept["summary"] = summary ?? [];
    if (content !== undefined && content !== null) kept["content"] = content;
    if (typeof encrypted === "string") kept["encrypted_content"] = encrypted;
    this.#emit({
      type: "block",
      index: this.index,
      block: { type: "thinking", thinking: this.#text, provider_data: { openai_responses: { item: kept } } },
    });
  }
}

/** Data that only this wire needs again, as a field; no field where there is none. */
function ownData(data: JsonObject): { readonly provider_data?: ProviderData } {
  return Object.keys(data).length === 0 ? {} : { provider_data: { openai_responses: data } };
}

/** A call, also of a tool that takes plain text: the model is told that there is none. */
export function isCall(type: string): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

/** True when a message holds a refusal. */
export function isRefusal(item: ResponsesItem): boolean {
  return (item.content ?? []).some((part) => part.type === "refusal");
}

function joined(parts: readonly ResponsesContent[] | null | undefined, separator: string): string {
  return (parts ?? []).map((part) => part.text ?? part.refusal ?? "").join(separator);
}
