import type { JournalEntry, NewEntry } from "../core/agent/entry.ts";
import type { Journal, LocalJournal } from "../core/agent/journal.ts";

/** A journal that tells of each entry, and has all of them at hand. */
export class WatchedJournal implements LocalJournal {
  readonly sessionId: string;
  readonly #journal: Journal;
  readonly #entries: JournalEntry[];
  onEntry: (entry: JournalEntry) => void = () => undefined;

  private constructor(journal: Journal, entries: JournalEntry[]) {
    this.sessionId = journal.sessionId;
    this.#journal = journal;
    this.#entries = entries;
  }

  static async over(journal: Journal): Promise<WatchedJournal> {
    const entries: JournalEntry[] = [];
    for await (const entry of journal.entries()) entries.push(entry);
    return new WatchedJournal(journal, entries);
  }

  get file(): string | undefined {
    return this.#journal.file;
  }

  entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  append(entry: NewEntry): JournalEntry | Promise<JournalEntry> {
    const stored = this.#journal.append(entry);
    if (stored instanceof Promise) return stored.then((each) => this.#tell(each));
    return this.#tell(stored);
  }

  async flush(): Promise<void> {
    await this.#journal.flush?.();
  }

  #tell(entry: JournalEntry): JournalEntry {
    this.#entries.push(entry);
    this.onEntry(entry);
    return entry;
  }
}
