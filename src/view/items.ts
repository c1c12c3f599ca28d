import type {
  AgentEvent,
  AssistantEntry,
  HistoryEntry,
  PermissionEntry,
  SubagentEvent,
  ToolResultEntry,
  ToolUpdateEvent,
  UserEntry,
} from "../core/agent/entries.ts";
import { omitUndefined } from "../core/base/json.ts";
import { TextBuffer } from "../core/base/text.ts";
import { type AssistantMessage, type ToolInput, type ToolUseBlock, textOf } from "../core/message/message.ts";
import { SpendingTally } from "../journal/session-usage.ts";
import { briefResult, callTitle } from "./call-text.ts";
import { parseUnifiedDiff } from "./file-diff.ts";
import { PLAN_TOOL } from "./question-kind.ts";
import { type AnswerItem, MAX_TAIL_CHARS, type ThinkingItem, type ToolItem, type ViewItem } from "./view.ts";

type ShownCall = Pick<ToolItem, "callId" | "name" | "input" | "time" | "parentCallId">;

/** A completed part of an answer. Text without an id is identified by its position. */
type AnswerPart =
  | (Pick<AnswerItem, "type" | "time" | "text" | "state"> & { readonly id?: string })
  | (Pick<ThinkingItem, "type" | "time" | "text" | "state"> & { readonly id?: undefined })
  | Omit<ToolItem, "version">;

interface WrittenBlock {
  /** The index its deltas carry. */
  readonly index: number;
  readonly type: "answer" | "thinking" | "tool";
  readonly position: number;
  readonly text: TextBuffer;
}

/** A subagent, shown in the call that started it. */
interface Subagent {
  readonly name: string;
  readonly items: ItemFold;
  readonly spent: SpendingTally;
}

/** The items of one transcript. Applying an event takes the same time however long the conversation is. */
export class ItemFold {
  readonly list: ItemList;
  /** Positions of calls without a result, by call id. */
  readonly #calls = new Map<string, number>();
  /** By the call that started them. Several started by one call share its position. */
  readonly #subagents = new Map<string, Subagent>();
  #writing: WrittenBlock[] = [];
  #now = 0;

  constructor(items?: ViewItem[]) {
    this.list = new ItemList(items);
  }

  markAsking(callId: string): void {
    const position = this.#calls.get(callId);
    if (position !== undefined && this.list.call(position)?.state === "writing")
      this.list.change<ToolItem>(position, { state: "asking" });
  }

  /**
   * The question about a call is closed. After a yes the call still waits until the others have been asked
   * about.
   */
  clearAsking(callId: string): void {
    const position = this.#calls.get(callId);
    if (position !== undefined && this.list.call(position)?.state === "asking")
      this.list.change<ToolItem>(position, { state: "writing" });
  }

  apply(event: AgentEvent): void {
    if ("time" in event) this.#now = event.time;
    switch (event.type) {
      case "text_delta":
        return this.#write("answer", event.index, event.text);
      case "thinking_delta":
        return this.#write("thinking", event.index, event.text);
      case "tool_call_start":
        return this.#begin(event.index, { callId: event.id, name: event.name, state: "writing" });
      case "retry":
        return this.#discardAttempt();
      case "user_message":
        return this.user(event);
      case "assistant_message":
        return this.#answer(event);
      case "history":
        return this.#history(event);
      case "tool_intent":
        return this.#call(event, { state: "running", startedAt: event.time });
      case "approval_request":
        return this.#call(event, { state: "asking" });
      case "permission_decision":
        return this.#applyDecision(event);
      case "tool_update":
        return this.#update(event);
      case "tool_result":
        return this.#result(event);
      case "subagent":
        return this.#subagent(event);
      default:
        return;
    }
  }

  /** Ends everything a run left open: calls without a result, and unfinished text. */
  close(): void {
    this.#discardAttempt();
    for (const position of this.#calls.values()) this.list.change<ToolItem>(position, { state: "aborted" });
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

  #subagent({ callId, agent: name, event }: SubagentEvent): void {
    const subagent = this.#subagents.get(callId) ?? {
      name,
      items: new ItemFold(),
      spent: new SpendingTally(),
    };
    this.#subagents.set(callId, subagent);
    const { items, spent } = subagent;
    // The task it received is in the arguments of the call.
    if (event.type !== "user_message") items.apply(event);
    if (event.type === "run_end") items.close();
    spent.add(event);
    const position = this.#calls.get(callId);
    if (position === undefined) return;
    const { costUsd, usage } = spent.total;
    const agent = { name: subagent.name, outputTokens: usage.outputTokens, costUsd, items: items.list.items };
    this.list.change<ToolItem>(position, { agent });
  }

  #write(type: "answer" | "thinking", index: number, piece: string): void {
    const block = this.#writing.find((each) => each.index === index && each.type === type);
    if (block !== undefined)
      return this.list.change(block.position, { text: block.text.appendAndRead(piece) });
    const text = new TextBuffer();
    const fields = { time: this.#now, text: text.appendAndRead(piece), state: "streaming" as const };
    const position = this.list.add({ id: this.#newId(type), type, ...fields });
    this.#writing.push({ index, type, position, text });
  }

  #begin(index: number, call: Pick<ToolItem, "callId" | "name" | "state">): void {
    const fields = { id: call.callId, time: this.#now, ...call, input: {}, title: "" };
    const position = this.list.add({ type: "tool", ...fields });
    this.#calls.set(call.callId, position);
    this.#writing.push({ index, type: "tool", position, text: new TextBuffer() });
  }

  /** Discards the text so far: the next attempt writes it again, after it. */
  #discardAttempt(): void {
    for (const { type, position } of this.#writing) {
      const item = this.list.items[position];
      if (item?.type === "tool") this.#calls.delete(item.callId);
      if (type === "tool") this.list.change<ToolItem>(position, { state: "aborted", isVoid: true });
      else this.list.change(position, { text: "", state: "done", isVoid: true });
    }
    this.#writing = [];
  }

  #answer({ message, interrupted, time }: AssistantEntry): void {
    this.#finish(message, { state: interrupted === true ? "interrupted" : "done", time });
    this.#discardAttempt();
  }

  /** Completes the blocks of an answer. */
  #finish(
    { content }: Pick<AssistantMessage, "content">,
    { state, time }: Pick<AnswerItem, "time"> & { readonly state: "done" | "interrupted" },
  ): void {
    // An answer may contain several texts; only the last of them was interrupted.
    const last = content.findLast(({ type }) => type === "text");
    const items = content.flatMap((block): readonly AnswerPart[] => {
      if (block.type === "text")
        return [{ type: "answer", time, text: block.text, state: block === last ? state : "done" }];
      if (block.type === "thinking") return [{ type: "thinking", time, text: block.thinking, state: "done" }];
      return block.type === "tool_use" ? callParts(block, time) : [];
    });
    const parts = items
      .map((item) => ({ item, written: this.#takeWritten(item) }))
      .filter(({ item, written }) => written !== undefined || item.type === "tool" || item.text !== "");
    let next = this.list.items.length;
    // Text already on the screen keeps its position. The rest follows the order of the answer: a part that
    // arrives complete goes before a call that follows it there, although that call was shown first.
    const isOnScreen = ({ item, written }: (typeof parts)[number]): boolean =>
      written !== undefined && item.type !== "tool";
    const positions = parts
      .filter((part) => !isOnScreen(part))
      .map(({ written }) => written ?? next++)
      .sort((left, right) => left - right);
    for (const part of parts) {
      const { item } = part;
      const position = (isOnScreen(part) ? part.written : positions.shift()) ?? next;
      if (item.type === "tool") this.#calls.set(item.callId, position);
      this.list.put(position, { id: `${item.type}_${position}`, ...item } as NewItem);
    }
  }

  /** The position at which a part of an answer was written; returned once. */
  #takeWritten(part: AnswerPart): number | undefined {
    const at = this.#writing.findIndex(({ type, position }) =>
      part.type === "tool"
        ? this.list.call(position)?.callId === part.callId
        : type === part.type && part.id === undefined,
    );
    return at === -1 ? undefined : this.#writing.splice(at, 1)[0]?.position;
  }

  /** An imported conversation, or the answer of a run that was computed in nested runs. */
  #history({ id, time, messages }: HistoryEntry): void {
    messages.forEach((message, at) => {
      if (message.role === "assistant") return this.#finish(message, { state: "done", time });
      this.user({ id: `${id}/${at}`, time, message, source: "input" });
      for (const block of message.content) {
        const position = block.type === "tool_result" ? this.#calls.get(block.tool_use_id) : undefined;
        if (block.type !== "tool_result" || position === undefined) continue;
        const status = block.is_error === true ? "error" : "ok";
        this.#calls.delete(block.tool_use_id);
        this.list.change<ToolItem>(position, { state: status, ...resultFields({ status, result: block }) });
      }
    });
  }

  /** Changes a call; adds one that is still unknown, such as one inside another call. */
  #call(call: ShownCall, fields: Partial<ToolItem>): void {
    const { callId, name, input, time, parentCallId } = call;
    const shown = { ...shownInput(name, input), ...fields };
    const position = this.#calls.get(callId);
    if (position !== undefined) return this.list.change<ToolItem>(position, shown);
    const item = { id: callId, type: "tool", time, callId, name, state: "running", ...shown } as const;
    this.#calls.set(callId, this.list.add({ ...item, ...omitUndefined({ parentCallId }) }));
  }

  #applyDecision(entry: PermissionEntry): void {
    if (entry.action === "deny") this.#call(entry, { state: "denied" });
  }

  #update({ callId, text = "" }: ToolUpdateEvent): void {
    const position = this.#calls.get(callId);
    const item = position === undefined ? undefined : this.list.call(position);
    if (position === undefined || item === undefined || text === "") return;
    this.list.change<ToolItem>(position, { tail: ((item.tail ?? "") + text).slice(-MAX_TAIL_CHARS) });
  }

  #result(entry: ToolResultEntry): void {
    const { callId, status, durationMs, metadata = {} } = entry;
    if (!this.#calls.has(callId)) this.#call({ ...entry, input: {} }, {});
    const position = this.#calls.get(callId) ?? 0;
    this.#calls.delete(callId);
    const { diff: text, created, path: changed } = metadata;
    const path = this.list.call(position)?.input["path"];
    const shownPath = typeof path === "string" ? path : String(changed ?? "");
    const diff = typeof text === "string" ? parseUnifiedDiff(shownPath, text, created === true) : undefined;
    const fields = { state: status, durationMs, ...resultFields(entry), ...omitUndefined({ diff }) };
    this.list.change<ToolItem>(position, fields);
  }

  #newId(type: "answer" | "thinking"): string {
    return `${type}_${this.list.items.length}`;
  }
}

/** A call in an answer. A plan is for reading: it becomes text, followed by the decision about it. */
function callParts({ id, name, input }: ToolUseBlock, time: number): readonly AnswerPart[] {
  const call = {
    type: "tool",
    id,
    time,
    callId: id,
    name,
    ...shownInput(name, input),
    state: "writing",
  } as const;
  const { plan } = input;
  if (name !== PLAN_TOOL || typeof plan !== "string") return [call];
  return [{ type: "answer", id: `plan_${id}`, time, text: plan, state: "done" }, call];
}

function shownInput(name: string, input: ToolInput): Pick<ToolItem, "input" | "title"> {
  return name === PLAN_TOOL ? { input: {}, title: "" } : { input, title: callTitle(input) };
}

function resultFields(
  entry: Pick<ToolResultEntry, "title" | "status" | "result">,
): Pick<ToolItem, "brief" | "tail"> {
  return {
    brief: briefResult(entry),
    tail: textOf(entry.result.content, "\n").slice(-MAX_TAIL_CHARS),
  };
}

/** An item before the list assigns its version. */
export type NewItem = ViewItem extends infer I ? (I extends ViewItem ? Omit<I, "version"> : never) : never;

/** Items of a view: appended and replaced in place, with a record of changes. */
export class ItemList {
  readonly items: ViewItem[];
  #changed = new Set<number>();
  #version = 0;

  /** `items`: the list to fill. Default: a new one. */
  constructor(items: ViewItem[] = []) {
    this.items = items;
  }

  add(item: NewItem): number {
    const at = this.items.length;
    this.put(at, item);
    return at;
  }

  /** Sets the item at a position in the list, or at its end. */
  put(at: number, item: NewItem): void {
    // A moved item is newer than it was at its old position.
    this.items[at] = { ...item, version: ++this.#version };
    this.#changed.add(at);
  }

  /** The call at a position returned by {@link add}, if it is one. */
  call(position: number): ToolItem | undefined {
    const item = this.items[position];
    return item?.type === "tool" ? item : undefined;
  }

  change<I extends ViewItem = AnswerItem | ThinkingItem>(
    position: number,
    fields: Partial<Omit<I, "version">>,
  ): void {
    const item = this.items[position];
    if (item !== undefined) this.put(position, { ...item, ...fields });
  }

  /** The positions that are new or changed since the last call, in order. */
  take(): readonly number[] {
    if (this.#changed.size === 0) return NO_CHANGES;
    const changed = [...this.#changed].sort((left, right) => left - right);
    this.#changed = new Set();
    return changed;
  }
}

const NO_CHANGES: readonly number[] = [];
