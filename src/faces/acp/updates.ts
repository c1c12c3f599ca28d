import type {
  ContentBlock,
  SessionUpdate,
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
} from "@agentclientprotocol/sdk";
import { isRecord, ownValue } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/message.ts";
import { resolvePath } from "../../tools/resolve-path.ts";
import { type Block, blockOf, type CallBlock } from "../../view/blocks.ts";
import { oneLine } from "../../view/call-text.ts";
import type { FileDiff } from "../../view/file-diff.ts";
import type { SessionView, ToolItem, ViewItem } from "../../view/view.ts";

interface SentItem {
  version: number;
  length: number;
  /** The start of text already sent, to check that it is still the same text. */
  begin: string;
}

interface Chunk {
  readonly sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";
  readonly text: string;
}

/** The text of a message block, in protocol terms. */
function chunkOf(block: Block | undefined): Chunk | undefined {
  switch (block?.kind) {
    case "said":
      return { sessionUpdate: "user_message_chunk", text: block.text };
    case "answer":
      return { sessionUpdate: "agent_message_chunk", text: block.markdown };
    case "thinking":
      return { sessionUpdate: "agent_thought_chunk", text: block.text };
    default:
      return undefined;
  }
}

/** Reports changes of a session's view to an editor, each piece of text once. */
export class ViewPublisher {
  readonly #cwd: string;
  readonly #send: (update: SessionUpdate) => void;
  readonly #terminalOf: (callId: string) => string | undefined;
  readonly #sent = new Map<string, SentItem>();
  #todo: SessionView["todo"] = [];
  #usage = "";
  #hasTitle = false;
  #mode = "";

  /** `terminalOf`: the editor's terminal that a call runs in. */
  constructor(
    cwd: string,
    send: (update: SessionUpdate) => void,
    terminalOf: (callId: string) => string | undefined,
  ) {
    this.#cwd = cwd;
    this.#send = send;
    this.#terminalOf = terminalOf;
  }

  replay(view: SessionView): void {
    this.#sent.clear();
    this.#todo = [];
    for (const item of view.items) this.item(item, { isReplay: true });
    this.rest(view);
  }

  /** Marks the contents of a view as already sent. */
  skip(view: SessionView): void {
    for (const item of view.items) this.#note(item, "text" in item ? item.text : "");
    this.#hasTitle = view.items.some(({ type }) => type === "user");
    this.#todo = view.todo;
    this.#mode = view.mode;
  }

  /** Sends the new part of an item. The editor knows the person's input, unless it is a replay. */
  item(
    item: ViewItem,
    { isReplay = false, agent }: { readonly isReplay?: boolean; readonly agent?: string } = {},
  ): void {
    if (this.#sent.get(item.id)?.version === item.version) return;
    if (item.type === "user" && agent === undefined) this.#title(item.text);
    if (item.type === "tool") return this.#call(item, agent);
    const chunk = agent === undefined ? chunkOf(blockOf(item, { details: true })) : undefined;
    if (chunk === undefined || (item.type === "user" && !isReplay)) this.#note(item, chunk?.text ?? "");
    else this.#chunk(item, chunk);
  }

  /** A session is named after the first message in it. */
  #title(text: string): void {
    const title = sessionName(text);
    if (this.#hasTitle || title === "") return;
    this.#hasTitle = true;
    this.#send({ sessionUpdate: "session_info_update", title });
  }

  #call(item: ToolItem, agent: string | undefined): void {
    this.announce(item, agent);
    for (const inner of item.agent?.items ?? [])
      if (inner.type === "tool") this.item(inner, { agent: item.agent?.name ?? "" });
  }

  rest({ todo, mode, context, costUsd }: SessionView): void {
    const send = this.#send;
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

  #chunk(item: ViewItem, { sessionUpdate, text: all }: Chunk): void {
    const sent = this.#sent.get(item.id);
    // Text from before a failed attempt cannot be withdrawn: the new text is sent in full.
    const isSame = sent !== undefined && all.startsWith(sent.begin) && all.length >= sent.length;
    const text = isSame ? all.slice(sent.length) : all;
    this.#note(item, all);
    const content: ContentBlock = { type: "text", text };
    if (text !== "") this.#send({ sessionUpdate, content });
  }

  #note({ id, version }: ViewItem, text: string): void {
    this.#sent.set(id, { version, length: text.length, begin: text.slice(0, 64) });
  }

  /** Sends a call in its current state; `agent` is the subagent that made it. */
  announce(item: ToolItem, agent?: string): void {
    const isKnown = this.#sent.has(item.id);
    this.#note(item, "");
    const [send, cwd] = [this.#send, this.#cwd];
    const block = blockOf({ ...item, isVoid: false }, { details: true }) as CallBlock;
    // While its arguments are arriving, and without any, a call is titled by its tool.
    const title = block.subject === "" ? block.name : block.subject;
    const call = {
      toolCallId: item.id,
      title: agent === undefined ? title : `${agent}: ${title}`,
      status: toolStatus(block.state),
      rawInput: block.input,
      ...toolFacts(block.name, block.input, cwd),
      content: this.#content(item.callId, block),
    };
    send(isKnown ? { sessionUpdate: "tool_call_update", ...call } : { sessionUpdate: "tool_call", ...call });
  }

  #content(callId: string, block: CallBlock): ToolCallContent[] {
    const terminalId = this.#terminalOf(callId);
    if (terminalId !== undefined) return [{ type: "terminal", terminalId }];
    const diffs = diffContent(block, this.#cwd);
    const { output, brief, hasFailed } = block;
    const text = output === "" || (hasFailed && brief !== "") ? `${output}\n${brief}`.trim() : output;
    // A successful change is shown by its diff; its other output matters only for failures.
    if (text === "" || (diffs.length > 0 && block.state === "ok")) return diffs;
    return [...diffs, { type: "content", content: { type: "text", text } }];
  }
}

const MAX_TITLE = 120;

/** The title of a session that starts with this text. */
export function sessionName(text: string): string {
  return oneLine(text, MAX_TITLE);
}

const KINDS: { readonly [tool: string]: ToolKind | undefined } = {
  read: "read",
  write: "edit",
  edit: "edit",
  glob: "search",
  grep: "search",
  bash: "execute",
  job: "execute",
  task: "think",
  todo: "think",
  web_fetch: "fetch",
};

/** Kind and locations of a call. Paths are absolute, as the protocol requires. */
export function toolFacts(
  name: string,
  input: ToolInput,
  cwd: string,
): { readonly kind: ToolKind; readonly locations: ToolCallLocation[] } {
  const { path, offset } = input;
  const hasPath = typeof path === "string" && path !== "";
  const line = typeof offset === "number" && offset > 0 ? { line: offset } : {};
  return {
    kind: ownValue(KINDS, name) ?? "other",
    locations: hasPath ? [{ path: resolvePath(path, { cwd }), ...line }] : [],
  };
}

/** A file change made by a call, with the facts known besides its arguments. */
export interface ChangeOfCall {
  readonly name: string;
  readonly input: ToolInput;
  readonly diff?: FileDiff | undefined;
}

/**
 * The file changes of a call: by hunk if the file is known, else each edit separately, and a written file in
 * full. Without old text the protocol treats it as a new file.
 */
export function diffContent({ name, input, diff }: ChangeOfCall, cwd: string): ToolCallContent[] {
  const { path, content, edits } = input;
  if (typeof path !== "string") return [];
  const diffBase = { type: "diff", path: resolvePath(path, { cwd }) } as const;
  if (diff !== undefined && !diff.isNew)
    return diff.hunks.map(({ lines }) => ({
      ...diffBase,
      oldText: sideOf(lines, "+"),
      newText: sideOf(lines, "-"),
    }));
  if (name === "write" && typeof content === "string") return [{ ...diffBase, newText: content }];
  if (name !== "edit" || !Array.isArray(edits)) return [];
  return (edits as readonly unknown[]).flatMap((edit): ToolCallContent[] => {
    const { old_string: oldText, new_string: newText } = (edit ?? {}) as { readonly [key: string]: unknown };
    return typeof oldText === "string" && typeof newText === "string"
      ? [{ ...diffBase, oldText, newText }]
      : [];
  });
}

/** One side of a hunk: its lines except those of the other side. */
function sideOf(lines: readonly string[], other: "+" | "-"): string {
  return lines.flatMap((line) => (line.startsWith(other) ? [] : [`${line.slice(1)}\n`])).join("");
}

/** True if {@link diffContent} shows an argument in full. Replacing all occurrences appears in words. */
export function isShownAsDiff({ name: tool, input, diff }: ChangeOfCall, argument: string): boolean {
  const value = input[argument];
  if (diff !== undefined) return argument === (tool === "write" ? "content" : "edits");
  if (tool === "write") return argument === "content" && typeof value === "string";
  if (tool !== "edit" || argument !== "edits" || !Array.isArray(value)) return false;
  return value.every((edit) => {
    const { old_string, new_string, ...more } = isRecord(edit) ? edit : {};
    const isPair = typeof old_string === "string" && typeof new_string === "string";
    return isPair && Object.keys(more).length === 0;
  });
}

const PENDING: ReadonlySet<ToolItem["state"]> = new Set(["writing", "asking"]);

/** State of a call in protocol terms. A refused or stopped call has failed. */
export function toolStatus(state: ToolItem["state"]): ToolCallStatus {
  if (PENDING.has(state)) return "pending";
  if (state === "running") return "in_progress";
  return state === "ok" ? "completed" : "failed";
}
