import type { Agent } from "../../agent/agent.ts";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { errorMessage, invalidArgument, type Json } from "../../core/base/errors.ts";
import { createIds, newUuid } from "../../core/base/ids.ts";
import { isRecord, omitUndefined } from "../../core/base/json.ts";
import { type Input, toMessages } from "../../core/message/input.ts";
import { type ImageBlock, textOf, type UserBlock } from "../../core/message/message.ts";
import type { MessageQueue, QueuedMessage } from "../../view/message-queue.ts";
import type { Notice } from "../../view/notice.ts";
import type { SessionHooks } from "../plugins/session-hooks.ts";
import type { OpenSession } from "../setup/open-session.ts";

export interface QueueHost {
  readonly agent: () => Pick<Agent, "note" | "sessionId" | "steer" | "unsteer" | "pendingSteering">;
  readonly hooks: Pick<SessionHooks, "hasSubmit" | "submit"> | undefined;
  readonly isSaved: boolean;
  readonly isCommand: (text: string) => boolean;
  /** The signal of the current run; undefined between runs. */
  readonly runSignal: () => AbortSignal | undefined;
  /** Starts a run with a message. False if no run may begin now. */
  readonly start: (input: Input) => boolean;
  /** Called when messages may be sent, if nothing is running. */
  readonly onReady: () => void;
  readonly onChange: () => void;
  readonly onNotice: (notice: Notice) => void;
}

/** The kind of the `note` entry that holds the waiting messages; the newest one counts. */
const QUEUE_NOTE = "queue";

/** `waiting` for the end of the run, `judging` by hooks, or `steering`: the agent has it. */
interface QueueItem extends QueuedMessage {
  readonly state: "waiting" | "judging" | "steering";
  readonly sentId?: string;
}

export class SessionQueue implements MessageQueue {
  readonly #host: QueueHost;
  readonly #ids = createIds();
  #items: readonly QueueItem[] = [];
  #held = false;
  /** Hooks judge one message after the other. */
  #judging: Promise<void> = Promise.resolve();
  #storedText = "[]";
  #writing: Promise<boolean> = Promise.resolve(true);

  constructor(host: QueueHost) {
    this.#host = host;
  }

  get items(): readonly QueuedMessage[] {
    return this.#waiting.map(toQueuedMessage);
  }

  /** Messages that the current run gets with its next request, in the order they were written. */
  get steering(): readonly QueuedMessage[] {
    return this.#steered.map(toQueuedMessage);
  }

  get held(): boolean {
    return this.#held;
  }

  add(text: string, images: readonly ImageBlock[] = []): string {
    return this.#add(text, images, "waiting");
  }

  edit(id: string, text: string): void {
    assertText(text);
    const { images } = this.#item(id);
    this.#change(id, { id, text, ...omitUndefined({ images }), state: "waiting" });
  }

  move(id: string, index: number): void {
    const item = this.#item(id);
    const others = this.#waiting.filter((each) => each !== item);
    this.#set([...this.#steered, ...others.toSpliced(Math.max(0, index), 0, item)]);
  }

  remove(id: string): string {
    const { text } = this.#item(id);
    this.#change(id, undefined);
    return text;
  }

  hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#changed();
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#changed();
    this.#host.onReady();
  }

  async isStored(): Promise<boolean> {
    return this.#host.isSaved && (await this.#writing);
  }

  /** Resolves when everything that can be stored is stored. */
  get settled(): Promise<unknown> {
    return this.#writing;
  }

  sendNow(id: string): void {
    const item = this.#item(id);
    this.#change(id, undefined);
    const steered = this.steer(joinMessages([item]));
    if (this.#waiting.some((each) => each.id === steered)) this.move(steered, 0);
  }

  /** Steers the current run, or starts one. A command waits for its own run. */
  steer(input: Input): string {
    const { agent, hooks, isCommand, runSignal, start } = this.#host;
    const content = steeringContent(input);
    const [text, images] = partsOf(content);
    const signal = runSignal();
    if (signal === undefined && start(input)) return newUuid();
    if (signal === undefined || isCommand(text)) return this.#add(text, images, "waiting");
    if (hooks?.hasSubmit === true) {
      const id = this.#add(text, images, "judging");
      this.#judging = this.#judging.then(() => this.#judge(id, content, signal)).catch(() => undefined);
      return id;
    }
    const id = agent().steer(content);
    this.#set([
      ...this.#steered,
      ...this.#waiting,
      { ...toQueuedMessage({ id, text, images }), state: "steering", sentId: id },
    ]);
    return id;
  }

  /** Removes a message and returns its text; `undefined` if the model has it. */
  unsteer(id: string): string | undefined {
    const item = this.#items.find((each) => each.id === id);
    if (item?.sentId !== undefined && !this.#host.agent().unsteer(item.sentId)) return undefined;
    if (item !== undefined) this.#change(id, undefined);
    return item?.text;
  }

  /** Takes what is sent next: the messages before the first command, joined, or that command. */
  next(): Input | undefined {
    const waiting = this.#waiting;
    if (this.#held || waiting.length === 0) return undefined;
    const command = waiting.findIndex(({ text }) => this.#host.isCommand(text));
    const count = command === 0 ? 1 : command === -1 ? waiting.length : command;
    this.#set([...this.#steered, ...waiting.slice(count)]);
    return joinMessages(waiting.slice(0, count));
  }

  /** Holds everything after an interrupted run; messages meant for that run come first. */
  holdAll(): void {
    const { agent } = this.#host;
    const late = this.#steered.filter(({ sentId = "" }) => agent().unsteer(sentId));
    const waiting = this.#waiting;
    if (late.length + waiting.length === 0) return;
    this.#held = true;
    this.#set([
      ...late.map((each): QueueItem => ({ ...toQueuedMessage(each), state: "waiting" })),
      ...waiting,
    ]);
  }

  /** Puts a message that could not be stored at the front, and holds the queue. */
  requeue(input: Input): void {
    this.hold();
    this.move(this.add(...partsOf(steeringContent(input))), 0);
  }

  /** Restores the messages that waited when the session was closed, and holds them. */
  restore({ journal, newestOf }: Pick<OpenSession, "journal" | "newestOf">): void {
    if (newestOf("note") === undefined) return;
    const { sessionId } = this.#host.agent();
    let messages: readonly StoredMessage[] = [];
    for (const entry of journal.entries()) messages = storedMessages(entry, sessionId) ?? messages;
    this.#storedText = JSON.stringify(messages);
    if (messages.length > 0) this.hold();
    for (const { text, images } of messages) this.add(text, images);
  }

  get #waiting(): readonly QueueItem[] {
    return this.#items.filter(({ state }) => state !== "steering");
  }

  get #steered(): readonly QueueItem[] {
    const pending = new Set(this.#host.agent().pendingSteering.map(({ id }) => id));
    return this.#items.filter(({ sentId }) => sentId !== undefined && pending.has(sentId));
  }

  #item(id: string): QueueItem {
    const item = this.#waiting.find((each) => each.id === id);
    if (item !== undefined) return item;
    throw invalidArgument(
      `No message ${JSON.stringify(id)} is queued: it was sent or removed. See queue.items.`,
    );
  }

  #add(text: string, images: readonly ImageBlock[], state: QueueItem["state"]): string {
    if (images.length === 0) assertText(text);
    const id = this.#ids("message");
    this.#set([...this.#items, { ...toQueuedMessage({ id, text, images }), state }]);
    this.#host.onReady();
    return id;
  }

  async #judge(id: string, content: Content, signal: AbortSignal): Promise<void> {
    const { agent, hooks, runSignal, onNotice } = this.#host;
    // Edited, removed or too late: it is judged when it is sent.
    const findJudged = (): QueueItem | undefined =>
      runSignal() === signal
        ? this.#items.find((each) => each.id === id && each.state === "judging")
        : undefined;
    if (findJudged() === undefined) return;
    const blocks = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
    const verdict = await hooks?.submit(textOf(blocks), signal);
    const item = findJudged();
    if (verdict === undefined || item === undefined) return;
    const { blocked, context } = verdict;
    if (blocked !== undefined) {
      this.#change(id, undefined);
      onNotice({ level: "warning", code: "hook", message: `The message was not sent: ${blocked}` });
      return;
    }
    const added = context.map((text) => ({ type: "text", text: `\n\n${text}` }) as const);
    this.#change(id, { ...item, state: "steering", sentId: agent().steer([...blocks, ...added]) });
  }

  #change(id: string, item: QueueItem | undefined): void {
    this.#set(this.#items.flatMap((each) => (each.id === id ? (item ?? []) : each)));
  }

  #set(items: readonly QueueItem[]): void {
    this.#items = items;
    this.#changed();
  }

  #changed(): void {
    // After the queue has settled: a message that is sent at once never waited.
    this.#writing = this.#writing
      .then(() => this.#write())
      .then(
        () => true,
        (error: unknown) => {
          const message = `The queue is not stored and ends with this process. ${errorMessage(error)}`;
          this.#host.onNotice({ level: "warning", code: "other", message });
          return false;
        },
      );
    this.#host.onChange();
  }

  async #write(): Promise<void> {
    const messages = this.#waiting.map(({ text, images }) => ({ text, ...omitUndefined({ images }) }));
    const written = JSON.stringify(messages);
    if (written === this.#storedText) return;
    const agent = this.#host.agent();
    await agent.note(QUEUE_NOTE, { session: agent.sessionId, messages: messages as unknown as Json });
    this.#storedText = written;
  }
}

export type StoredMessage = Omit<QueuedMessage, "id">;

/** The messages that an entry holds; `undefined` if it is not a note of this queue. */
export function storedMessages(entry: JournalEntry, sessionId: string): readonly StoredMessage[] | undefined {
  if (entry.type !== "note" || entry.kind !== QUEUE_NOTE || !isRecord(entry.data)) return undefined;
  const { session, messages } = entry.data;
  if (session !== sessionId || !Array.isArray(messages)) return undefined;
  return messages.filter(isRecord).map(({ text, images }) => ({
    text: String(text ?? ""),
    ...(Array.isArray(images) ? { images: images as ImageBlock[] } : {}),
  }));
}

function toQueuedMessage({ id, text, images = [] }: QueuedMessage): QueuedMessage {
  return { id, text, ...(images.length === 0 ? {} : { images }) };
}

type Content = string | readonly UserBlock[];

function steeringContent(input: Input): Content {
  if (typeof input === "string") return input;
  const messages = toMessages(input);
  if (messages.some(({ role }) => role === "assistant"))
    throw invalidArgument("steer() takes messages of the user: set role to user.");
  return messages.flatMap(({ content }) => content as readonly UserBlock[]);
}

function partsOf(content: Content): [text: string, images: readonly ImageBlock[]] {
  const images = typeof content === "string" ? [] : content.filter((block) => block.type === "image");
  return [textOf(content), images];
}

function joinMessages(messages: readonly QueuedMessage[]): Input {
  const text = messages.map((each) => each.text).join("\n\n");
  const images = messages.flatMap((each) => each.images ?? []);
  return images.length === 0
    ? text
    : [...(text.trim() === "" ? [] : [{ type: "text", text } as const]), ...images];
}

function assertText(text: string): void {
  if (typeof text === "string" && text.trim() !== "") return;
  throw invalidArgument("A message of the queue is empty: write what is to be sent.");
}
