import type { JournalEntry, NewEntry } from "../core/agent/entries.ts";
import type { LocalJournal } from "../core/agent/journal.ts";
import { misuse } from "../core/base/errors.ts";
import { createIds } from "../core/base/ids.ts";
import { spendingSetAside } from "./set-aside-spending.ts";

/** Options of {@link UnkeptJournal}. */
export interface UnkeptJournalOptions {
  readonly sessionId: string;
  /** The conversation so far. Default: none. */
  readonly entries?: readonly JournalEntry[];
}

/** The journal of a session that is not kept on the disk, which can be rewound like one that is. */
export class UnkeptJournal implements LocalJournal {
  readonly sessionId: string;
  readonly #ids = createIds();
  #setAside: readonly JournalEntry[] = [];
  #entries: JournalEntry[];

  constructor({ sessionId, entries = [] }: UnkeptJournalOptions) {
    this.sessionId = sessionId;
    this.#entries = [...entries];
  }

  *entries(): Iterable<JournalEntry> {
    yield* this.#setAside;
    yield* this.#entries;
  }

  append(entry: NewEntry): JournalEntry {
    const parent = this.#entries.at(-1)?.id ?? null;
    const stored = { id: this.#ids("entry"), parent, time: Date.now(), ...entry } as JournalEntry;
    this.#entries.push(stored);
    return stored;
  }

  /**
   * Goes back: the next entry follows the one of this id, or is the first (`null`); what came after is set
   * aside, but for what it cost. Throws `invalid_argument` for an id that is not there.
   */
  rewind(id: string | null): void {
    const at = id === null ? -1 : this.#entries.findIndex((entry) => entry.id === id);
    if (id !== null && at === -1) throw misuse(`The entry ${id} is not part of the conversation.`);
    const left = this.#entries.slice(at + 1);
    this.#setAside = [...this.#setAside, ...left.flatMap((entry) => spendingSetAside(entry) ?? [])];
    this.#entries = this.#entries.slice(0, at + 1);
  }
}
