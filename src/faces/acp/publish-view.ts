import type { ContentBlock, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { oneLine } from "../../view/call-text.ts";
import type { SessionView, ToolItem, ViewItem } from "../../view/view.ts";
import { diffContent, toolFacts, toolStatus } from "./tool-facts.ts";

/** The part of an item that was sent. */
interface SentItem {
  version: number;
  length: number;
  /** The first part of a text that was sent, to see that it is still the same text. */
  begin: string;
}

const CHUNKS = {
  user: "user_message_chunk",
  answer: "agent_message_chunk",
  thinking: "agent_thought_chunk",
} as const;

/** Options of {@link ViewPublisher}. */
export interface ViewPublisherOptions {
  readonly cwd: string;
  readonly send: (update: SessionUpdate) => void;
  /** Terminals of the editor that calls run in, by call. */
  readonly terminalOf: (callId: string) => string | undefined;
}

/** Tells an editor what has changed in the view of a session, each piece of text once. */
export class ViewPublisher {
  readonly #options: ViewPublisherOptions;
  readonly #sent = new Map<string, SentItem>();
  #todo: SessionView["todo"] = [];
  #usage = "";
  #hasTitle = false;
  #mode = "";

  constructor(options: ViewPublisherOptions) {
    this.#options = options;
  }

  /** Sends a whole conversation again, what the person said included. */
  replay(view: SessionView): void {
    this.#sent.clear();
    this.#todo = [];
    for (const item of view.items) this.item(item, { isReplay: true });
    this.rest(view);
  }

  /** Takes what stands in a view as known. */
  skip(view: SessionView): void {
    for (const item of view.items) this.#note(item, "text" in item ? item.text : "");
    this.#hasTitle = view.items.some(({ type }) => type === "user");
    this.#todo = view.todo;
    this.#mode = view.mode;
  }

  /** Sends what is new in an item. The editor knows what a person typed, unless it is a replay. */
  item(
    item: ViewItem,
    { isReplay = false, agent }: { readonly isReplay?: boolean; readonly agent?: string } = {},
  ): void {
    if (this.#sent.get(item.id)?.version === item.version) return;
    if (item.type === "user" && agent === undefined) this.#title(item.text);
    if (item.type === "tool") this.#call(item, agent);
    else if (!("text" in item)) this.#note(item, "");
    else if (item.type === "user" && !isReplay) this.#note(item, item.text);
    else if (agent === undefined) this.#chunk(CHUNKS[item.type], item);
  }

  /** A session is called by the first thing that was said in it. */
  #title(text: string): void {
    const title = sessionName(text);
    if (this.#hasTitle || title === "") return;
    this.#hasTitle = true;
    this.#options.send({ sessionUpdate: "session_info_update", title });
  }

  /** A call, and those of the subagent that it started. */
  #call(item: ToolItem, agent: string | undefined): void {
    this.announce(item, agent);
    for (const inner of item.agent?.items ?? [])
      if (inner.type === "tool") this.item(inner, { agent: item.agent?.name ?? "" });
  }

  /** Sends what has changed beside the items. */
  rest({ todo, mode, context, costUsd }: SessionView): void {
    const { send } = this.#options;
    const isNew = todo !== this.#todo && todo.length + this.#todo.length > 0;
    this.#todo = todo;
    if (isNew) {
      const entries = todo.map(({ content, status }) => ({ content, status, priority: "medium" as const }));
      send({ sessionUpdate: "plan", entries });
    }
    if (mode !== this.#mode) {
      if (this.#mode !== "") send({ sessionUpdate: "current_mode_update", currentModeId: mode });
      this.#mode = mode;
    }
    const { usedTokens: used, windowTokens: size } = context;
    const usage = `${used} ${size} ${costUsd}`;
    if (size === undefined || used === 0 || usage === this.#usage) return;
    this.#usage = usage;
    const cost = costUsd === undefined ? {} : { cost: { amount: costUsd, currency: "USD" } };
    send({ sessionUpdate: "usage_update", used: Math.round(used), size, ...cost });
  }

  #chunk(
    sessionUpdate: (typeof CHUNKS)[keyof typeof CHUNKS],
    item: ViewItem & { readonly text: string },
  ): void {
    const sent = this.#sent.get(item.id);
    // Text from before a failed attempt cannot be taken back: the new text is sent whole.
    const isSame = sent !== undefined && item.text.startsWith(sent.begin) && item.text.length >= sent.length;
    const text = isSame ? item.text.slice(sent.length) : item.text;
    this.#note(item, item.text);
    const content: ContentBlock = { type: "text", text };
    if (text !== "") this.#options.send({ sessionUpdate, content });
  }

  #note({ id, version }: ViewItem, text: string): void {
    this.#sent.set(id, { version, length: text.length, begin: text.slice(0, 64) });
  }

  /** Sends a call as it is now; `agent` is the subagent that made it. */
  announce(item: ToolItem, agent?: string): void {
    const isKnown = this.#sent.has(item.id);
    this.#note(item, "");
    const { send, cwd } = this.#options;
    // While its arguments are on their way, and without any, a call is called by its tool.
    const title = item.title === "" ? item.name : item.title;
    const call = {
      toolCallId: item.id,
      title: agent === undefined ? title : `${agent}: ${title}`,
      status: toolStatus(item.state),
      rawInput: item.input,
      ...toolFacts(item.name, item.input, cwd),
      content: this.#content(item),
    };
    send(isKnown ? { sessionUpdate: "tool_call_update", ...call } : { sessionUpdate: "tool_call", ...call });
  }

  #content(item: ToolItem): ToolCallContent[] {
    const { cwd, terminalOf } = this.#options;
    const terminalId = terminalOf(item.callId);
    if (terminalId !== undefined) return [{ type: "terminal", terminalId }];
    const diffs = diffContent(item, cwd);
    const text = item.tail ?? item.brief ?? "";
    // A change that was made is its diff; what it says beside that is for failures.
    if (text === "" || (diffs.length > 0 && item.state === "ok")) return diffs;
    return [...diffs, { type: "content", content: { type: "text", text } }];
  }
}

const MAX_TITLE = 120;

/** The title of a session that begins with this text. */
export function sessionName(text: string): string {
  return oneLine(text, MAX_TITLE);
}
