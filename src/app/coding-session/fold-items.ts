import type {
  AssistantEntry,
  HistoryEntry,
  PermissionEntry,
  ToolIntentEntry,
  ToolResultEntry,
  UserEntry,
} from "../../core/agent/entry.ts";
import type { AgentEvent } from "../../core/agent/event.ts";
import { GrowingText } from "../../core/base/growing-text.ts";
import type { ToolInput } from "../../core/message/block.ts";
import { textOf } from "../../core/message/message.ts";
import { briefResult, callTitle } from "./call-text.ts";
import { parseUnifiedDiff } from "./file-diff.ts";
import { ItemList } from "./item-list.ts";
import { MAX_TAIL_CHARS, type ToolItem, type ViewItem } from "./view.ts";

/** A block of the answer that is being written. */
interface WrittenBlock {
  /** Position that its deltas bear. */
  readonly index: number;
  readonly type: "answer" | "thinking" | "tool";
  readonly place: number;
  readonly text: GrowingText;
}

/**
 * The items of one transcript: messages, answers, calls. Each event is looked at once and touches the items
 * it speaks of and no other, whatever the length of the conversation.
 */
export class ItemFold {
  readonly list: ItemList;
  /** Places of calls that have no result yet, by call id. */
  readonly #calls = new Map<string, number>();
  /** The answer that is being written, and what was written for one that failed. */
  #writing: WrittenBlock[] = [];
  #voided: WrittenBlock[] = [];
  #now = 0;

  constructor(items?: ViewItem[]) {
    this.list = new ItemList(items);
  }

  /** The place of a call that has no result yet. */
  placeOf(callId: string): number | undefined {
    return this.#calls.get(callId);
  }

  /** A call waits for a person. */
  asks(callId: string): void {
    const place = this.#calls.get(callId);
    if (place !== undefined && this.list.at(place, "tool")?.state === "writing")
      this.list.change<ToolItem>(place, { state: "asking" });
  }

  apply(event: AgentEvent): void {
    if ("time" in event) this.#now = event.time;
    switch (event.type) {
      case "text_delta":
        this.#write("answer", event.index, event.text);
        return;
      case "thinking_delta":
        this.#write("thinking", event.index, event.text);
        return;
      case "tool_call_start":
        this.#begin(event.index, { callId: event.id, name: event.name, state: "writing" });
        return;
      case "retry":
        this.#void();
        return;
      case "user_message":
        this.user(event);
        return;
      case "assistant_message":
        this.#answer(event);
        return;
      case "history":
        this.#history(event);
        return;
      case "tool_intent":
        this.#intent(event);
        return;
      case "approval_request":
        this.#call(event, { state: "asking" });
        return;
      case "permission_decision":
        this.#decision(event);
        return;
      case "tool_update":
        this.#update(event.callId, event.text ?? "");
        return;
      case "tool_result":
        this.#result(event);
        return;
      default:
        return;
    }
  }

  /** Ends what a run has left open: calls without a result, and text that nobody goes on writing. */
  close(): void {
    this.#void();
    for (const place of this.#calls.values()) this.list.change<ToolItem>(place, { state: "aborted" });
    this.#calls.clear();
  }

  /** A message of the user, unless the loop or a memory wrote it. */
  user({ id, time, message, source }: Pick<UserEntry, "id" | "time" | "message" | "source">): void {
    if (source === "system" || source === "memory") return;
    const { content } = message;
    const text = textOf(content);
    const images = content.filter(({ type }) => type === "image").length;
    if (text === "" && images === 0) return;
    const shown = source === "steering" ? "steering" : "input";
    this.list.add({ id, time, type: "user", text, images, source: shown });
  }

  #write(type: "answer" | "thinking", index: number, text: string): void {
    const block = this.#writing.find((each) => each.index === index && each.type === type);
    if (block === undefined) {
      this.#open(type, index, text);
      return;
    }
    this.list.change(block.place, { text: block.text.grow(text) });
  }

  #open(type: "answer" | "thinking", index: number, piece: string): number {
    const again = this.#takeVoided(type);
    const text = new GrowingText();
    const fields = { time: this.#now, text: text.grow(piece), state: "streaming" as const };
    let place: number;
    if (again === undefined) place = this.list.add({ id: this.#newId(type), type, ...fields });
    else {
      place = again;
      this.list.change(place, { ...fields, isVoid: false });
    }
    this.#writing.push({ index, type, place, text });
    return place;
  }

  /** A call whose arguments are being written. */
  #begin(index: number, call: Pick<ToolItem, "callId" | "name" | "state">): void {
    const again = this.#takeVoided("tool");
    const fields = { id: call.callId, time: this.#now, ...call, input: {}, title: "" };
    let place = again;
    if (place === undefined) place = this.list.add({ type: "tool", ...fields });
    else this.list.change<ToolItem>(place, { ...fields, isVoid: false });
    this.#calls.set(call.callId, place);
    this.#writing.push({ index, type: "tool", place, text: new GrowingText() });
  }

  /** What was written so far does not count: the next attempt writes it anew, into the same places. */
  #void(): void {
    for (const block of this.#writing) {
      const item = this.list.items[block.place];
      if (item?.type === "tool") this.#calls.delete(item.callId);
      if (block.type === "tool") this.list.change<ToolItem>(block.place, { state: "aborted", isVoid: true });
      else this.list.change(block.place, { text: "", state: "done", isVoid: true });
      this.#voided.push(block);
    }
    this.#writing = [];
  }

  /**
   * A place to write to again: behind all that this attempt has written, for what is shown stands in the
   * order of the answer.
   */
  #takeVoided(type: WrittenBlock["type"]): number | undefined {
    const last = this.#writing.at(-1)?.place ?? -1;
    const at = this.#voided.findIndex((block) => block.type === type && block.place > last);
    return at === -1 ? undefined : this.#voided.splice(at, 1)[0]?.place;
  }

  #answer({ message, interrupted, time }: AssistantEntry): void {
    const written = this.#writing;
    this.#writing = [];
    const take = (type: WrittenBlock["type"], callId?: string): number | undefined => {
      const at = written.findIndex(
        (block) =>
          block.type === type &&
          (callId === undefined || this.list.at(block.place, "tool")?.callId === callId),
      );
      return at === -1 ? undefined : written.splice(at, 1)[0]?.place;
    };
    const state = interrupted === true ? ("interrupted" as const) : ("done" as const);
    for (const block of message.content) {
      if (block.type === "text") this.#finish("answer", { text: block.text, state, time }, take("answer"));
      else if (block.type === "thinking")
        this.#finish("thinking", { text: block.thinking, state: "done", time }, take("thinking"));
      else if (block.type === "tool_use") this.#written(block, take("tool", block.id), time);
    }
    this.#writing = written;
    this.#void();
    this.#voided = [];
  }

  #finish(
    type: "answer" | "thinking",
    fields: { readonly text: string; readonly state: "done" | "interrupted"; readonly time: number },
    place: number | undefined,
  ): void {
    if (place !== undefined) this.list.change(place, fields);
    else if (fields.text !== "") this.list.add({ id: this.#newId(type), type, ...fields } as never);
  }

  /** The arguments of a call are complete. */
  #written(
    { id, name, input }: { readonly id: string; readonly name: string; readonly input: ToolInput },
    place: number | undefined,
    time: number,
  ): void {
    const fields = { id, time, callId: id, name, input, title: callTitle(input), state: "writing" as const };
    if (place === undefined) this.#calls.set(id, this.list.add({ type: "tool", ...fields }));
    else this.list.change<ToolItem>(place, fields);
  }

  /** A conversation from elsewhere, or the answer of a run that was worked out in nested runs. */
  #history({ id, time, messages }: HistoryEntry): void {
    messages.forEach((message, at) => {
      const entry = { id: `${id}/${at}`, time };
      if (message.role === "user") {
        this.user({ ...entry, message, source: "input" });
        for (const block of message.content) {
          if (block.type !== "tool_result") continue;
          const place = this.#calls.get(block.tool_use_id);
          if (place === undefined) continue;
          const status = block.is_error === true ? "error" : "ok";
          this.#calls.delete(block.tool_use_id);
          this.list.change<ToolItem>(place, { state: status, ...resultFields({ status, result: block }) });
        }
        return;
      }
      for (const block of message.content) {
        if (block.type === "text")
          this.#finish("answer", { text: block.text, state: "done", time }, undefined);
        else if (block.type === "thinking")
          this.#finish("thinking", { text: block.thinking, state: "done", time }, undefined);
        else if (block.type === "tool_use") this.#written(block, undefined, time);
      }
    });
  }

  #intent({ time, ...call }: ToolIntentEntry): void {
    this.#call({ ...call, time }, { state: "running", startedAt: time });
  }

  #decision(entry: PermissionEntry): void {
    if (entry.action === "deny") this.#call(entry, { state: "denied" });
  }

  /**
   * Puts fields of a call anew; one that nothing was heard of yet, such as one inside another call, is added.
   */
  #call(
    {
      callId,
      name,
      input,
      time,
      parentCallId,
    }: Pick<ToolItem, "callId" | "name" | "input" | "time" | "parentCallId">,
    fields: Partial<ToolItem>,
  ): void {
    const shown = { input, title: callTitle(input), ...fields };
    const place = this.#calls.get(callId);
    if (place !== undefined) {
      this.list.change<ToolItem>(place, shown);
      return;
    }
    const item = {
      id: callId,
      type: "tool",
      time,
      callId,
      name,
      state: "running",
      ...(parentCallId === undefined ? {} : { parentCallId }),
      ...shown,
    } as const;
    this.#calls.set(callId, this.list.add(item));
  }

  #update(callId: string, text: string): void {
    const place = this.#calls.get(callId);
    const item = place === undefined ? undefined : this.list.at(place, "tool");
    if (place === undefined || item === undefined || text === "") return;
    this.list.change<ToolItem>(place, { tail: ((item.tail ?? "") + text).slice(-MAX_TAIL_CHARS) });
  }

  #result(entry: ToolResultEntry): void {
    const { callId, name, status, durationMs, time } = entry;
    if (!this.#calls.has(callId)) {
      const { parentCallId } = entry;
      const parent = parentCallId === undefined ? {} : { parentCallId };
      this.#call({ callId, name, input: {}, time, ...parent }, {});
    }
    const place = this.#calls.get(callId) ?? 0;
    this.#calls.delete(callId);
    const path = this.list.at(place, "tool")?.input["path"];
    const { metadata } = entry;
    const text = metadata?.["diff"];
    const shownPath = typeof path === "string" ? path : String(metadata?.["path"] ?? "");
    const diff =
      typeof text === "string"
        ? parseUnifiedDiff(shownPath, text, metadata?.["created"] === true)
        : undefined;
    this.list.change<ToolItem>(place, {
      state: status,
      durationMs,
      ...resultFields(entry),
      ...(diff === undefined ? {} : { diff }),
    });
  }

  #newId(type: "answer" | "thinking"): string {
    return `${type}_${this.list.items.length}`;
  }
}

function resultFields(
  entry: Pick<ToolResultEntry, "title" | "status" | "result">,
): Pick<ToolItem, "brief" | "tail"> {
  return {
    brief: briefResult(entry),
    tail: textOf(entry.result.content, "\n").slice(-MAX_TAIL_CHARS),
  };
}
