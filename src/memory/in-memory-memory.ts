import type { MemoryEditEntry } from "../core/agent/entries.ts";
import { type LocalJournal, MemoryJournal } from "../core/agent/journal.ts";
import { type Recorder, record } from "../core/agent/run.ts";
import { SessionState } from "../core/agent/state.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import { type Input, toMessages } from "../core/message/input.ts";
import { type Message, toolCallsOf, type UserBlock } from "../core/message/message.ts";

/** A message of a conversation with its id and marks. */
export interface MemoryItem {
  /** Stays the same as long as the journal exists, even when it is read again. */
  readonly id: string;
  readonly message: Message;
  /** Labels put on it, e.g. `hint`, `compressed`. Never sent to a model. */
  readonly marks: readonly string[];
}

/** Selects messages. */
export interface MemoryFilter {
  /** Only those with this mark. */
  readonly mark?: string;
  /** Only those without this mark. */
  readonly excludeMark?: string;
}

/** Messages of the memory: as returned by {@link InMemoryMemory.getMemory}, or by their ids. */
export type MemoryChoice = string | Message | readonly (string | Message)[];

/** Where a memory records its changes; an agent passes this for its own conversation. */
export interface MemoryHost {
  readonly recorder: () => Pick<Recorder, "journal" | "state">;
  /** Awaited before every change. Rejects if the conversation cannot be edited now. */
  readonly beforeChange: () => Promise<void>;
}

/**
 * The messages of a conversation, to look at and to edit: a fold over its journal, in which every change is
 * an entry, so that reading the journal again gives the same messages and marks. Every tool call keeps
 * exactly one result. Stands alone, or is the {@link import("../agent/agent.ts").Agent.conversation} of an
 * agent, which accepts changes only between runs (`invalid_argument`).
 */
export class InMemoryMemory {
  readonly #host: MemoryHost;

  /** `journal`: records everything; the memory begins with its contents. Default: in memory, empty. */
  constructor({ journal, host }: { readonly journal?: LocalJournal; readonly host?: MemoryHost } = {}) {
    this.#host = host ?? standaloneHost(journal ?? new MemoryJournal());
  }

  /** Number of messages. */
  get size(): number {
    return this.#state.transcript.messages.length;
  }

  /**
   * Adds messages; does nothing for `null` and `undefined`. Results answer the open calls of the message
   * before them; an answer whose results are still to come may be added. Rejects with `invalid_argument` for
   * a role other than user and assistant, and for a call id that is in use.
   */
  async add(
    messages: Input | null | undefined,
    { marks = [] }: { readonly marks?: readonly string[] } = {},
  ): Promise<void> {
    if (messages === null || messages === undefined) return;
    await this.#host.beforeChange();
    const given = toMessages(messages, "messages");
    for (const message of given) assertAddable(message, this.#state.transcript.callIds);
    const before = new Set(this.#state.transcript.messages);
    for (const message of given) await this.#addOne(message);
    if (marks.length === 0) return;
    const added = this.items().filter(({ message }) => !before.has(message));
    await this.#edit(
      "mark",
      added.map(({ id }) => id),
      marks,
    );
  }

  /** The messages, in order. */
  getMemory(filter: MemoryFilter = {}): readonly Message[] {
    return this.items(filter).map(({ message }) => message);
  }

  /** The messages with their ids and marks, in order. */
  items({ mark, excludeMark }: MemoryFilter = {}): readonly MemoryItem[] {
    const { transcript, labels } = this.#state;
    return transcript.messages
      .map((message) => ({ id: labels.idOf(message), message, marks: labels.marksOf(message) }))
      .filter(({ marks }) => mark === undefined || marks.includes(mark))
      .filter(({ marks }) => excludeMark === undefined || !marks.includes(excludeMark));
  }

  /**
   * Leaves messages out of later requests. Tool calls and their results go together. Resolves to the number
   * removed; missing messages are not an error.
   */
  async delete(choice: MemoryChoice): Promise<number> {
    return this.#remove(this.#idsOf(choice));
  }

  /** Leaves out the messages with a mark, as `delete` does. */
  async deleteByMark(mark: string): Promise<number> {
    return this.#remove(this.items({ mark }).map(({ id }) => id));
  }

  /** Puts marks on messages. */
  async mark(choice: MemoryChoice, ...marks: readonly string[]): Promise<void> {
    await this.#edit("mark", this.#idsOf(choice), marks);
  }

  /** Removes marks from messages. */
  async unmark(choice: MemoryChoice, ...marks: readonly string[]): Promise<void> {
    await this.#edit("unmark", this.#idsOf(choice), marks);
  }

  /** Removes all messages. The journal keeps them. */
  async clear(): Promise<void> {
    await this.#host.beforeChange();
    if (this.size > 0) await this.#record({ type: "memory_edit", edit: "remove" });
  }

  get #state(): SessionState {
    return this.#host.recorder().state;
  }

  #idsOf(choice: MemoryChoice): readonly string[] {
    const chosen: readonly (string | Message)[] = Array.isArray(choice) ? choice : [choice];
    const { labels } = this.#state;
    const ids = new Set(chosen.map((each) => (typeof each === "string" ? each : labels.idOf(each))));
    return this.items()
      .map(({ id }) => id)
      .filter((id) => ids.has(id));
  }

  async #remove(ids: readonly string[]): Promise<number> {
    const before = this.size;
    await this.#edit("remove", ids);
    return before - this.size;
  }

  async #edit(
    edit: MemoryEditEntry["edit"],
    ids: readonly string[],
    marks?: readonly string[],
  ): Promise<void> {
    await this.#host.beforeChange();
    if (ids.length === 0) return;
    await this.#record({
      type: "memory_edit",
      edit,
      messages: ids,
      ...omitUndefined({ marks }),
    });
  }

  async #addOne(message: Message): Promise<void> {
    if (message.content.length === 0) return;
    if (message.role === "assistant") {
      if (toolCallsOf(message).length === 0) await this.#record({ type: "history", messages: [message] });
      else
        await this.#record({
          type: "assistant_message",
          message,
          model: "unknown/added",
          finishReason: { unified: "tool_use", raw: "added" },
          usage: { inputTokens: 0, outputTokens: 0 },
          costUsd: 0,
          durationMs: 0,
        });
      return;
    }
    const pending = new Map(this.#state.transcript.pending.map(({ id, name }) => [id, name]));
    const rest: UserBlock[] = [];
    for (const block of message.content) {
      if (block.type !== "tool_result") {
        rest.push(block);
        continue;
      }
      const name = pending.get(block.tool_use_id);
      // A result without its call could not be sent.
      if (name === undefined) continue;
      const status = block.is_error === true ? "error" : "ok";
      await this.#record({
        type: "tool_result",
        callId: block.tool_use_id,
        name,
        status,
        result: block,
        durationMs: 0,
      });
    }
    if (rest.length > 0) await this.#record({ type: "history", messages: [{ ...message, content: rest }] });
  }

  async #record(entry: Parameters<typeof record>[1]): Promise<void> {
    await record({ ...this.#host.recorder(), scope: undefined, emit: () => undefined }, entry);
  }
}

function standaloneHost(journal: LocalJournal): MemoryHost {
  const state = new SessionState();
  for (const entry of journal.entries()) state.apply(entry);
  return { recorder: () => ({ journal, state }), beforeChange: async () => undefined };
}

function assertAddable(message: Message, used: ReadonlySet<string>): void {
  for (const { id } of toolCallsOf(message))
    if (used.has(id))
      throw invalidArgument(`The call id "${id}" is in use already: give each tool call a unique id.`);
}
