import { createIds, type NewId } from "../base/ids.ts";
import type { JournalEntry, NewEntry } from "./entries.ts";

/**
 * The port everything a run does is written to. `append` gives the entry its id, parent and time; when it
 * returns (or its promise resolves), the entry is stored as safely as this journal stores anything. When it
 * throws, the run stops with code `journal`.
 */
export interface Journal {
  readonly sessionId: string;
  /** Path of the file it is kept in, where it is one. */
  readonly file?: string | undefined;
  /**
   * True for the journal of one run: whoever runs its agent again goes on with that, however it has ended,
   * and what it has spent, its model requests and its time count on. Default: a run that has ended is over.
   */
  readonly holdsOneRun?: boolean;
  /** Entries from the first to the newest, in order: at once, or as they come from where they are kept. */
  entries(): Iterable<JournalEntry> | AsyncIterable<JournalEntry>;
  append(entry: NewEntry): JournalEntry | Promise<JournalEntry>;
  /**
   * Resolves when every entry is stored, and rejects when one cannot be. A journal that has it may let
   * `append` of an answer return at once: what follows from the answer is recorded right behind it, and one
   * wait can serve both.
   */
  flush?(): Promise<void>;
}

/** A journal whose entries are at hand, in memory or in a file. */
export interface LocalJournal extends Journal {
  entries(): Iterable<JournalEntry>;
}

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
