import type { JournalEntry, NewEntry } from "../core/agent/entries.ts";
import type { Journal, LocalJournal } from "../core/agent/journal.ts";

/** A journal that tells of each entry, and has all of them at hand. */
export class WatchedJournal implements LocalJournal {
  readonly sessionId: string;
  readonly #create: () => Journal | Promise<Journal>;
  readonly #entries: JournalEntry[] = [];
  #journal: Journal | Promise<Journal> | undefined;
  onEntry: (entry: JournalEntry) => void = () => undefined;

  private constructor(sessionId: string, create: () => Journal | Promise<Journal>) {
    this.sessionId = sessionId;
    this.#create = create;
  }

  static async over(journal: Journal): Promise<WatchedJournal> {
    const watched = new WatchedJournal(journal.sessionId, () => journal);
    for await (const entry of journal.entries()) watched.#entries.push(entry);
    await watched.keep();
    return watched;
  }

  /** A new one, which is made with its first entry, or by {@link keep}. */
  static begun(sessionId: string, create: () => Journal | Promise<Journal>): WatchedJournal {
    return new WatchedJournal(sessionId, create);
  }

  /** Makes it where that has not happened yet. Rejects where it cannot be made. */
  async keep(): Promise<void> {
    this.#journal = await this.#kept();
  }

  get file(): string | undefined {
    return this.#journal instanceof Promise ? undefined : this.#journal?.file;
  }

  entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  append(entry: NewEntry): JournalEntry | Promise<JournalEntry> {
    const journal = this.#kept();
    const stored =
      journal instanceof Promise ? journal.then((kept) => kept.append(entry)) : journal.append(entry);
    if (stored instanceof Promise) return stored.then((each) => this.#tell(each));
    return this.#tell(stored);
  }

  async flush(): Promise<void> {
    await (await this.#journal)?.flush?.();
  }

  #kept(): Journal | Promise<Journal> {
    return (this.#journal ??= this.#create());
  }

  #tell(entry: JournalEntry): JournalEntry {
    this.#entries.push(entry);
    this.onEntry(entry);
    return entry;
  }
}
