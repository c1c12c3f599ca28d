import { createIds } from "../base/ids.ts";
import type { JournalEntry, NewEntry } from "./entry.ts";
import type { Journal } from "./journal.ts";

/** A journal that lives as long as its agent. */
export class MemoryJournal implements Journal {
  readonly sessionId: string;
  readonly #entries: JournalEntry[] = [];
  readonly #ids = createIds();
  readonly #now: () => number;

  constructor(options: { readonly sessionId?: string; readonly now?: () => number } = {}) {
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
