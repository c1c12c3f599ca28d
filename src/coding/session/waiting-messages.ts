import { misuse } from "../../core/base/errors.ts";
import { createIds } from "../../core/base/ids.ts";
import type { ImageBlock } from "../../core/message/block.ts";
import type { Input } from "../../core/message/input.ts";
import type { MessageQueue, QueuedMessage } from "../../view/message-queue.ts";

/** Options of {@link WaitingMessages}. */
export interface WaitingMessagesOptions {
  readonly onChange: () => void;
  readonly onReady: () => void;
  readonly sendNow: (input: Input) => void;
  readonly isCommand: (text: string) => boolean;
  readonly isStored: () => Promise<boolean>;
}

/** The {@link MessageQueue} of a session. */
export class WaitingMessages implements MessageQueue {
  readonly #options: WaitingMessagesOptions;
  readonly #ids = createIds();
  #items: readonly QueuedMessage[] = [];
  #held = false;

  constructor(options: WaitingMessagesOptions) {
    this.#options = options;
  }

  get items(): readonly QueuedMessage[] {
    return this.#items;
  }

  get held(): boolean {
    return this.#held;
  }

  add(text: string, images: readonly ImageBlock[] = []): string {
    if (images.length === 0) assertText(text);
    const id = this.#ids("message");
    this.#set([...this.#items, { id, text, ...(images.length === 0 ? {} : { images }) }]);
    this.#options.onReady();
    return id;
  }

  edit(id: string, text: string): void {
    assertText(text);
    const at = this.#at(id);
    this.#set(this.#items.with(at, { ...this.#items[at], id, text }));
  }

  move(id: string, index: number): void {
    const item = this.#items[this.#at(id)];
    const others = this.#items.filter((each) => each !== item);
    if (item !== undefined) this.#set(others.toSpliced(Math.max(0, index), 0, item));
  }

  remove(id: string): string {
    const at = this.#at(id);
    const text = this.#items[at]?.text ?? "";
    this.#set(this.#items.toSpliced(at, 1));
    return text;
  }

  hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#options.onChange();
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#options.onChange();
    this.#options.onReady();
  }

  isStored(): Promise<boolean> {
    return this.#options.isStored();
  }

  sendNow(id: string): void {
    const [item] = this.#items.slice(this.#at(id));
    this.remove(id);
    if (item !== undefined) this.#options.sendNow(joined([item]));
  }

  /** Takes out what goes next: the messages up to the first command as one, or that command. */
  next(): Input | undefined {
    const { isCommand } = this.#options;
    const [first] = this.#items;
    if (this.#held || first === undefined) return undefined;
    const command = this.#items.findIndex(({ text }) => isCommand(text));
    const count = command === 0 ? 1 : command === -1 ? this.#items.length : command;
    const taken = this.#items.slice(0, count);
    this.#set(this.#items.slice(count));
    return joined(taken);
  }

  #at(id: string): number {
    const at = this.#items.findIndex((item) => item.id === id);
    if (at !== -1) return at;
    throw misuse(`No message ${JSON.stringify(id)} waits: it was sent or taken back. See queue.items.`);
  }

  #set(items: readonly QueuedMessage[]): void {
    this.#items = items;
    this.#options.onChange();
  }
}

function joined(messages: readonly QueuedMessage[]): Input {
  const text = messages.map((each) => each.text).join("\n\n");
  const images = messages.flatMap((each) => each.images ?? []);
  return images.length === 0
    ? text
    : [...(text.trim() === "" ? [] : [{ type: "text", text } as const]), ...images];
}

function assertText(text: string): void {
  if (typeof text === "string" && text.trim() !== "") return;
  throw misuse("A message of the queue is empty: write what is to be sent.");
}
