import type { Message } from "./message.ts";

/**
 * Ids and marks of the messages of one conversation. Ids follow from the entries the messages came from, so a
 * journal that is read again gives the same ones.
 */
export class MessageLabels {
  readonly #ids = new WeakMap<Message, string>();
  #marks: Map<string, ReadonlySet<string>> | undefined;

  /** The message under this id: itself, or a copy when it stands in the conversation under another one. */
  named<M extends Message>(message: M, id: string): M {
    const own = this.#ids.has(message) ? { ...message } : message;
    this.nameNew(own, id);
    return own;
  }

  /** Names a message that cannot have a name, for it was made a moment ago. */
  nameNew(message: Message, id: string): void {
    this.#ids.set(message, id);
  }

  nameUnnamed(message: Message, id: string): void {
    if (!this.#ids.has(message)) this.nameNew(message, id);
  }

  /** Empty for a message that was never named. */
  idOf(message: Message): string {
    return this.#ids.get(message) ?? "";
  }

  /** In the order they were put on. */
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
