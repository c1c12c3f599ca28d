import type { Message } from "./message.ts";

/** Messages and ids that are looked through one by one. */
const FEW = 16;

/**
 * Ids and marks of the messages of one conversation. Ids follow from the entries the messages came from, so a journal that is read
 * again gives the same ones.
 */
export class MessageLabels {
  /** Made when somebody asks: weak maps are dear, and most conversations end before. */
  #ids: WeakMap<Message, string> | undefined;
  /** Messages that are not in there yet, each with its id behind it. */
  readonly #later: (Message | string)[] = [];
  #marks: Map<string, ReadonlySet<string>> | undefined;

  /** The message under this id: itself, or a copy when it stands in the conversation under another one. */
  named<M extends Message>(message: M, id: string): M {
    const own = this.#isNamed(message) ? { ...message } : message;
    this.nameNew(own, id);
    return own;
  }

  /** Names a message that cannot have a name, for it was made a moment ago. */
  nameNew(message: Message, id: string): void {
    this.#later.push(message, id);
  }

  nameUnnamed(message: Message, id: string): void {
    if (!this.#isNamed(message)) this.nameNew(message, id);
  }

  /** Empty for a message that was never named. */
  idOf(message: Message): string {
    return this.#named().get(message) ?? "";
  }

  #isNamed(message: Message): boolean {
    if (this.#ids === undefined && this.#later.length < FEW) return this.#later.includes(message);
    return this.#named().has(message);
  }

  #named(): WeakMap<Message, string> {
    const ids = (this.#ids ??= new WeakMap<Message, string>());
    let message: Message | undefined;
    for (const each of this.#later) {
      if (typeof each !== "string") message = each;
      else if (message !== undefined) ids.set(message, each);
    }
    this.#later.length = 0;
    return ids;
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
