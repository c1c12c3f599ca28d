import { createIds, type NewId } from "../base/ids.ts";
import type { JournalEntry, NewEntry } from "./entry.ts";
import type { LocalJournal } from "./journal.ts";

/** A journal that lives as long as its agent. */
export class MemoryJournal implements LocalJournal {
  readonly sessionId: string;
  readonly #entries: JournalEntry[];
  readonly #ids: NewId;
  readonly #now: () => number;

  /** `now` gives the time of entries in ms since the epoch, `newId` their ids; `entries` are those so far. */
  constructor(
    options: {
      readonly sessionId?: string | undefined;
      readonly now?: () => number;
      readonly newId?: NewId | undefined;
      readonly entries?: readonly JournalEntry[] | undefined;
    } = {},
  ) {
    this.#entries = [...(options.entries ?? [])];
    this.#ids = options.newId ?? createIds();
    this.sessionId = options.sessionId ?? this.#ids("session");
    this.#now = options.now ?? Date.now;
  }

  entries(): Iterable<JournalEntry> {
    return this.#entries;
  }

  append(entry: NewEntry): JournalEntry {
    const parent = this.#entries.at(-1)?.id ?? null;
    const stored = { id: this.#ids("entry"), parent, time: this.#now(), ...entry } as JournalEntry;
    this.#entries.push(stored);
    return stored;
  }
}
