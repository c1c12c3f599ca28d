import { createIds, type NewId } from "../base/ids.ts";
import type { JournalEntry, NewEntry } from "./entries.ts";

/**
 * The port a run records everything through. `append` gives the entry its id, parent and time. When it
 * returns, or its promise resolves, the entry is stored as durably as this journal can. If it throws, the run
 * stops with code `journal`.
 */
export interface Journal {
  readonly sessionId: string;
  /** Path of its file, if it is kept in one. */
  readonly file?: string | undefined;
  /**
   * True for a journal of exactly one run: running its agent again always resumes that run, however it ended,
   * and its spending, requests and time carry on. Default: a run that has ended is over.
   */
  readonly holdsOneRun?: boolean;
  /** All entries, oldest first: at once, or as they are read from storage. */
  entries(): Iterable<JournalEntry> | AsyncIterable<JournalEntry>;
  append(entry: NewEntry): JournalEntry | Promise<JournalEntry>;
  /**
   * Resolves when every entry is stored; rejects when one cannot be. A journal with `flush` may return from
   * `append` of an answer at once: the entries that follow from the answer come right after it, and one wait
   * serves both.
   */
  flush?(): Promise<void>;
}

/** A journal whose entries can be read synchronously. */
export interface LocalJournal extends Journal {
  entries(): Iterable<JournalEntry>;
}

/** A journal in memory. */
export class MemoryJournal implements LocalJournal {
  readonly sessionId: string;
  readonly #entries: JournalEntry[];
  readonly #ids: NewId;
  readonly #now: () => number;

  /** `now` is the clock for entries in ms since the epoch, `newId` makes their ids, `entries` come first. */
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
