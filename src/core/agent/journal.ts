import type { JournalEntry, NewEntry } from "./entry.ts";

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
