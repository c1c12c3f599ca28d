import type { Message } from "../message/message.ts";

/**
 * Ids and marks of the messages of one conversation. Ids follow from the entries the messages came from, so a journal that is read
 * again gives the same ones.
 */
export class MessageLabels {
  readonly #ids = new WeakMap<Message, string>();
  readonly #marks = new Map<string, ReadonlySet<string>>();

  /** The message under this id: itself, or a copy when it stands in the conversation under another one. */
  named<M extends Message>(message: M, id: string): M {
    const own = this.#ids.has(message) ? { ...message } : message;
    this.#ids.set(own, id);
    return own;
  }

  nameUnnamed(message: Message | undefined, id: string): void {
    if (message !== undefined && !this.#ids.has(message)) this.#ids.set(message, id);
  }

  /** Empty for a message that was never named. */
  idOf(message: Message): string {
    return this.#ids.get(message) ?? "";
  }

  /** In the order they were put on. */
  marksOf(message: Message): readonly string[] {
    return [...(this.#marks.get(this.idOf(message)) ?? [])];
  }

  mark(ids: readonly string[], marks: readonly string[]): void {
    for (const id of ids) this.#marks.set(id, new Set([...(this.#marks.get(id) ?? []), ...marks]));
  }

  unmark(ids: readonly string[], marks: readonly string[]): void {
    for (const id of ids) {
      const left = [...(this.#marks.get(id) ?? [])].filter((mark) => !marks.includes(mark));
      if (left.length === 0) this.#marks.delete(id);
      else this.#marks.set(id, new Set(left));
    }
  }
}
