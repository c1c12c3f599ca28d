import type { Agent } from "../../agent/agent.ts";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { defined } from "../../core/base/defined.ts";
import type { Json } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import type { ImageBlock } from "../../core/message/block.ts";
import type { QueuedMessage } from "../../view/message-queue.ts";
import type { OpenSession } from "../setup/open-session.ts";

/** The kind of the `note` entry that holds the messages that wait; each one stands for all before it. */
export const QUEUE_NOTE = "queue";

/** A message of the queue, as the journal keeps it. */
export type KeptMessage = Omit<QueuedMessage, "id">;

/** Options of a {@link KeptQueue}. */
export interface KeptQueueOptions {
  readonly agent: () => Pick<Agent, "note" | "sessionId">;
  readonly onFault: (error: unknown) => void;
}

/** Keeps waiting messages in the journal: they are there when the session is opened again. */
export class KeptQueue {
  readonly #options: KeptQueueOptions;
  #kept = "[]";
  #writing: Promise<boolean> = Promise.resolve(true);

  constructor(options: KeptQueueOptions) {
    this.#options = options;
  }

  /** Keeps what waits once it has settled: a message that goes out at once has never waited. */
  keep(items: () => readonly QueuedMessage[]): void {
    this.#writing = this.#writing
      .then(() => this.#write(items()))
      .then(
        () => true,
        (error: unknown) => {
          this.#options.onFault(error);
          return false;
        },
      );
  }

  /** Resolves when everything is stored; false: it could not be. */
  get stored(): Promise<boolean> {
    return this.#writing;
  }

  /** The messages that waited when the session was left. A copy of a session has its own queue. */
  restored({ journal, newestOf }: Pick<OpenSession, "journal" | "newestOf">): readonly KeptMessage[] {
    if (newestOf("note") === undefined) return [];
    const { sessionId } = this.#options.agent();
    let messages: readonly KeptMessage[] = [];
    for (const entry of journal.entries()) messages = keptMessages(entry, sessionId) ?? messages;
    this.#kept = JSON.stringify(messages);
    return messages;
  }

  async #write(items: readonly QueuedMessage[]): Promise<void> {
    const messages = items.map(({ text, images }): KeptMessage => ({ text, ...defined({ images }) }));
    const kept = JSON.stringify(messages);
    if (kept === this.#kept) return;
    const agent = this.#options.agent();
    await agent.note(QUEUE_NOTE, { session: agent.sessionId, messages: messages as unknown as Json });
    this.#kept = kept;
  }
}

/** The messages that an entry holds; `undefined` for one that is no note of this queue. */
export function keptMessages(entry: JournalEntry, sessionId: string): readonly KeptMessage[] | undefined {
  if (entry.type !== "note" || entry.kind !== QUEUE_NOTE || !isRecord(entry.data)) return undefined;
  const { session, messages } = entry.data;
  if (session !== sessionId || !Array.isArray(messages)) return undefined;
  return messages.filter(isRecord).map(({ text, images }) => ({
    text: String(text ?? ""),
    ...(Array.isArray(images) ? { images: images as ImageBlock[] } : {}),
  }));
}
