import { type GivenMessage, toMessages } from "./input.ts";
import type {
  AssistantMessage,
  ContentBlock,
  Message,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
  UserMessage,
} from "./message.ts";

/**
 * Ids and marks of the messages of one conversation. Ids derive from the entries the messages came from, so
 * reading a journal again yields the same ones.
 */
export class MessageLabels {
  readonly #ids = new WeakMap<Message, string>();
  #marks: Map<string, ReadonlySet<string>> | undefined;

  /** The message under this id: itself, or a copy if the conversation has it under another id. */
  withId<M extends Message>(message: M, id: string): M {
    const own = this.#ids.has(message) ? { ...message } : message;
    this.setId(own, id);
    return own;
  }

  /** Names a new message, which cannot have an id yet. */
  setId(message: Message, id: string): void {
    this.#ids.set(message, id);
  }

  setMissingId(message: Message, id: string): void {
    if (!this.#ids.has(message)) this.setId(message, id);
  }

  idOf(message: Message): string {
    return this.#ids.get(message) ?? "";
  }

  /** In the order they were added. */
  marksOf(message: Message): readonly string[] {
    return [...(this.#marks?.get(this.idOf(message)) ?? [])];
  }

  mark(ids: readonly string[], marks: readonly string[]): void {
    const all = (this.#marks ??= new Map<string, ReadonlySet<string>>());
    for (const id of ids) all.set(id, new Set([...(all.get(id) ?? []), ...marks]));
  }

  unmark(ids: readonly string[], marks: readonly string[]): void {
    for (const id of ids) {
      const left = [...(this.#marks?.get(id) ?? [])].filter((mark) => !marks.includes(mark));
      if (left.length === 0) this.#marks?.delete(id);
      else this.#marks?.set(id, new Set(left));
    }
  }
}

/** Result of a call whose run was interrupted while the tool was running. */
export const OUTCOME_UNKNOWN = "interrupted, outcome unknown";
/** Result of a call whose run was interrupted before the tool started. */
export const INTERRUPTED_BEFORE_START = "interrupted before it ran";

/**
 * A conversation that can always be sent: every tool call has exactly one result, in call order, in the user
 * message right after it; no message is empty. It only grows by appending.
 */
export class Transcript {
  readonly #messages: Message[] = [];
  /** Calls of the last assistant message, in order; empty if there are none. */
  #calls: readonly ToolUseBlock[] = [];
  /** Their results, by index of the call, and how many there are. */
  #results: (ToolResultBlock | undefined)[] = [];
  #resultCount = 0;
  readonly #callIds: Set<string>;
  readonly #closeWith: (call: ToolUseBlock) => string;

  /**
   * `closeWith` returns the text of the error result for an unanswered call. `callIds` are ids already in
   * use; the set is shared and extended, so that transcripts with the same set never reuse an id.
   */
  constructor(
    closeWith: (call: ToolUseBlock) => string = () => INTERRUPTED_BEFORE_START,
    callIds: Set<string> = new Set(),
  ) {
    this.#closeWith = closeWith;
    this.#callIds = callIds;
  }

  /** The complete part of the conversation; a message with unanswered calls may be the last. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  get callIds(): Set<string> {
    return this.#callIds;
  }

  /** Calls of the last assistant message without a result. */
  get pending(): readonly ToolUseBlock[] {
    return this.#calls.filter((_call, at) => this.#results[at] === undefined);
  }

  get hasPending(): boolean {
    return this.#calls.length > 0;
  }

  /** Appends a conversation that already keeps the invariants (see {@link repairTranscript}). */
  addHistory(messages: readonly Message[]): void {
    this.closeOpenCalls();
    for (const message of messages) {
      this.#messages.push(message);
      for (const block of message.content) if (block.type === "tool_use") this.#callIds.add(block.id);
    }
  }

  /** Appends input, after closing open calls; empty input is ignored. */
  addUser(message: UserMessage): void {
    this.closeOpenCalls();
    if (message.content.length > 0) this.#messages.push(message);
  }

  /** Appends an answer; an empty one is ignored, because providers refuse empty messages. */
  addAssistant(message: AssistantMessage): void {
    this.closeOpenCalls();
    if (message.content.length === 0) return;
    this.#messages.push(message);
    this.#calls = message.content.filter((block) => block.type === "tool_use");
    for (const call of this.#calls) this.#callIds.add(call.id);
  }

  /**
   * Adds the result of an open call; after the last one, the results become a message in call order. Returns
   * false and changes nothing for an unknown call or a second result.
   */
  addResult(result: ToolResultBlock): boolean {
    const at = this.#calls.findIndex((call) => call.id === result.tool_use_id);
    if (at < 0 || this.#results[at] !== undefined) return false;
    this.#results[at] = result;
    this.#resultCount += 1;
    if (this.#resultCount === this.#calls.length) this.#flush();
    return true;
  }

  /**
   * Replaces all messages but the newest `kept` with `head`. An assistant message with open calls stays. A
   * journal that lost records may have miscounted, so results without a call are dropped and missing results
   * added.
   */
  replaceOlder(head: readonly Message[], kept: number): void {
    const isOpen = this.#calls.length > 0;
    const keptCount = Math.min(this.#messages.length, Math.max(isOpen ? 1 : 0, Math.floor(kept)));
    const tail = this.#messages.slice(this.#messages.length - keptCount);
    const open = isOpen ? tail.splice(-1) : [];
    const closed = [...head, ...tail];
    this.#set([...(transcriptViolations(closed).length > 0 ? repairTranscript(closed) : closed), ...open]);
    for (const message of head)
      for (const block of message.content) if (block.type === "tool_use") this.#callIds.add(block.id);
  }

  /** Replaces the first `count` messages with the ones they had replaced. */
  restore(messages: readonly Message[], count: number): void {
    this.#set([...messages, ...this.#messages.slice(count)]);
  }

  #set(messages: readonly Message[]): void {
    this.#messages.length = 0;
    for (const message of messages) this.#messages.push(message);
  }

  /** Answers every open call with an error result, so that the conversation can continue. */
  closeOpenCalls(): void {
    if (this.#calls.length === 0) return;
    for (const [at, call] of this.#calls.entries())
      this.#results[at] ??= closedResult(call.id, this.#closeWith(call));
    this.#flush();
  }

  /**
   * Removes messages. An answer with tool calls and the message with their results go together, whichever is
   * meant; open calls of a removed answer are closed.
   */
  remove(shouldRemove: (message: Message) => boolean): void {
    const messages = this.#messages.slice();
    const kept: Message[] = [];
    for (let at = 0; at < messages.length; at++) {
      const [message, next] = messages.slice(at, at + 2);
      if (message === undefined) break;
      const calls = message.role === "assistant" && message.content.some(({ type }) => type === "tool_use");
      const unit = calls && next !== undefined ? [message, next] : [message];
      if (!unit.some(shouldRemove)) kept.push(...unit);
      else if (calls && next === undefined) this.#forgetCalls();
      at += unit.length - 1;
    }
    this.#set(kept);
  }

  #flush(): void {
    const content: UserBlock[] = [];
    for (const result of this.#results) if (result !== undefined) content.push(result);
    this.#messages.push({ role: "user", content });
    this.#forgetCalls();
  }

  #forgetCalls(): void {
    this.#calls = [];
    this.#results = [];
    this.#resultCount = 0;
  }
}

/**
 * Makes messages of any origin satisfy the invariants of a {@link Transcript}: results without a call and
 * second results are dropped, missing results are added, a reused call id becomes unique together with its
 * result, empty messages are dropped. Throws `invalid_argument` for anything that is not a message.
 */
export function repairTranscript(messages: readonly GivenMessage[]): readonly Message[] {
  const transcript = new Transcript();
  let renamed = new Map<string, string>();
  for (const message of toMessages(messages, "messages")) {
    if (message.role === "assistant") {
      renamed = new Map();
      transcript.addAssistant(uniqueCalls(message, transcript.callIds, renamed));
      continue;
    }
    const rest: UserBlock[] = [];
    for (const block of message.content) {
      if (block.type !== "tool_result") rest.push(block);
      else
        transcript.addResult({ ...block, tool_use_id: renamed.get(block.tool_use_id) ?? block.tool_use_id });
    }
    if (rest.length > 0) transcript.addUser({ ...message, content: rest });
  }
  transcript.closeOpenCalls();
  return transcript.messages;
}

/** The violations in a list of messages, one sentence each. The last message may have open calls. */
export function transcriptViolations(messages: readonly Message[]): readonly string[] {
  const violations: string[] = [];
  const seen = new Set<string>();
  let open: string[] = [];
  messages.forEach((message, at) => {
    if (message.content.length === 0) violations.push(`message ${at} is empty`);
    const results = (message.content as readonly ContentBlock[]).filter(
      (block) => block.type === "tool_result",
    );
    const answeredIds = results.map((block) => block.tool_use_id);
    if (answeredIds.join("\n") !== open.join("\n")) {
      violations.push(
        `message ${at} answers [${answeredIds.join(", ")}] where [${open.join(", ")}] is asked`,
      );
    }
    open = [];
    for (const block of message.content as readonly ContentBlock[]) {
      if (block.type !== "tool_use") continue;
      if (seen.has(block.id)) violations.push(`message ${at} uses call id ${block.id} again`);
      seen.add(block.id);
      open.push(block.id);
    }
  });
  if (open.length > 0) violations.push(`the calls [${open.join(", ")}] of the last message have no result`);
  return violations;
}

function closedResult(id: string, text: string): ToolResultBlock {
  return { type: "tool_result", tool_use_id: id, content: text, is_error: true };
}

function uniqueCalls(
  message: AssistantMessage,
  used: ReadonlySet<string>,
  renamed: Map<string, string>,
): AssistantMessage {
  const own = new Set<string>();
  let isChanged = false;
  const content = message.content.map((block) => {
    if (block.type !== "tool_use") return block;
    let id = block.id;
    for (let n = 2; id === "" || used.has(id) || own.has(id); n++)
      id = `${block.id === "" ? "call" : block.id}_${n}`;
    own.add(id);
    if (id === block.id) return block;
    isChanged = true;
    if (!renamed.has(block.id)) renamed.set(block.id, id);
    return { ...block, id };
  });
  return isChanged ? { ...message, content } : message;
}
