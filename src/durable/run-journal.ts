import type { JournalEntry, NewEntry } from "../core/agent/entries.ts";
import type { Journal } from "../core/agent/journal.ts";
import { createIds } from "../core/base/ids.ts";
import { endedByItself } from "../core/base/stop-reason.ts";
import { encodeRecord } from "../session/record.ts";
import type { EntryBatch } from "./entry-store.ts";
import type { Signal } from "./run-store.ts";

/** Where a journal of a run stands and goes. */
export interface RunJournalOptions {
  readonly run: string;
  readonly epoch: number;
  /** Its entries so far. */
  readonly entries: readonly JournalEntry[];
  /** Number of the newest record, those of unknown types counted. */
  readonly seq: number;
  /** Id of the newest record. */
  readonly newest: string | null;
  /** Stores entries; resolves to how much was sent to the run by now. */
  readonly store: (batch: EntryBatch) => Promise<number>;
  /** Told of every stored batch. */
  readonly onStored: (stored: { readonly isProgress: boolean; readonly signals: number }) => void;
}

/** They acknowledge nothing: the next entry that does, or {@link RunJournal.flush}, stores them too. */
const UNHURRIED: ReadonlySet<string> = new Set([
  "assistant_message",
  "history",
  "run_start",
  "run_resume",
  "permission_decision",
  "checkpoint",
]);

interface PendingRecord {
  readonly entry: JournalEntry;
  readonly record: string;
}

/**
 * The journal of a run on one worker. Entries that come together are stored together: an answer and the
 * intents it leads to are one insert. The first failure ends it, with the same error for all that follows;
 * a worker whose run was taken over can store nothing more. The end of the run is held back, for
 * {@link RunJournal.end}.
 */
export class RunJournal implements Journal {
  readonly sessionId: string;
  readonly holdsOneRun = true;
  readonly #options: RunJournalOptions;
  readonly #ids = createIds();
  readonly #begun = new Set<string>();
  readonly #waiting = new Map<string, readonly Signal[]>();
  /** Ids of steering messages that phases have heard: one that is cut begins anew, and hears them again. */
  readonly #heardInside: string[] = [];
  #entries: readonly JournalEntry[];
  #newest: string | null;
  #stored: number;
  #unstored: PendingRecord[] = [];
  /** The end of the run, where it is the newest entry. */
  #end: PendingRecord | undefined;
  #storing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: RunJournalOptions) {
    this.#options = options;
    this.sessionId = options.run;
    this.#entries = options.entries;
    this.#newest = options.newest;
    this.#stored = options.seq;
  }

  entries(): Iterable<JournalEntry> {
    return this.#entries;
  }

  /** Calls that have begun and have no result yet. */
  get openCalls(): number {
    return this.#begun.size;
  }

  /** Signals to be marked as taken with the entry of a call, or of a steering message, of this id. */
  expect(id: string, signals: readonly Signal[]): void {
    this.#waiting.set(id, signals);
  }

  append(entry: NewEntry): JournalEntry | Promise<JournalEntry> {
    this.#assertWhole();
    const base = { id: this.#ids("entry"), parent: this.#newest, time: Date.now() };
    const encoded = encodeRecord<JournalEntry>({ ...base, ...entry });
    const stored = encoded.entry;
    this.#newest = stored.id;
    this.#count(stored);
    if (this.#end !== undefined) this.#unstored.push(this.#end);
    this.#end = undefined;
    const pending = { entry: stored, record: lineOf(encoded.bytes) };
    if (stored.type === "run_end" && stored.scope === undefined) {
      this.#end = pending;
      return this.flush().then(() => stored);
    }
    this.#unstored.push(pending);
    return UNHURRIED.has(entry.type) ? stored : this.flush().then(() => stored);
  }

  /** Resolves when everything is stored that was appended before. */
  async flush(): Promise<void> {
    const last = this.#unstored.at(-1);
    const isWaiting = (): boolean => last !== undefined && this.#unstored.includes(last);
    while (isWaiting()) {
      this.#assertWhole();
      await (this.#storing ??= this.#store());
    }
    await this.#storing;
    this.#assertWhole();
  }

  /**
   * Stores everything but the end of the run, which is given back to be stored together with how the run
   * stands then: a worker that dies in between would leave a run that has ended and not ended.
   */
  async end(): Promise<EntryBatch | undefined> {
    await this.flush();
    return this.#end && this.#batchOf([this.#end]);
  }

  /** Nothing more is taken: whoever holds the run has let go of it. */
  close(error: unknown): void {
    this.#failure ??= { error };
  }

  async #store(): Promise<void> {
    // Calls of one answer begin in the same turn of the event loop: their intents are one insert.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const batch = this.#batchOf(this.#unstored);
    try {
      this.#assertWhole();
      this.#unstored = [];
      const signals = await this.#options.store(batch);
      this.#stored += batch.ids.length;
      this.#options.onStored({ isProgress: batch.isProgress, signals });
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      this.#storing = undefined;
    }
  }

  #batchOf(records: readonly PendingRecord[]): EntryBatch {
    const entries = records.map(({ entry }) => entry);
    return {
      run: this.#options.run,
      epoch: this.#options.epoch,
      after: this.#stored,
      ids: entries.map(({ id }) => id),
      records: records.map(({ record }) => record),
      isProgress: entries.some(comesFurther),
      took: entries.flatMap((entry) => this.#taken(entry)),
    };
  }

  #assertWhole(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #count(entry: JournalEntry): void {
    if (entry.type === "tool_intent") this.#begun.add(entry.callId);
    if (entry.type === "tool_result") this.#begun.delete(entry.callId);
    if (entry.type === "user_message" && entry.scope !== undefined && entry.steeringId !== undefined)
      this.#heardInside.push(entry.steeringId);
  }

  /** The signals that have reached the conversation with an entry. */
  #taken(entry: JournalEntry): readonly number[] {
    if (entry.scope !== undefined) return [];
    const isAnswer = entry.type === "run_end" && endedByItself(entry.stopReason);
    const ids = isAnswer ? this.#heardInside : [addresseeOf(entry)];
    return ids.flatMap((id) => this.#signalsTo(id)).map(({ number }) => number);
  }

  #signalsTo(id: string | undefined): readonly Signal[] {
    return id === undefined ? [] : (this.#waiting.get(id) ?? []);
  }
}

/** The call or steering message that an entry says has reached the conversation. */
function addresseeOf(entry: JournalEntry): string | undefined {
  if (entry.type === "user_message") return entry.steeringId;
  // A call that is asked about again was changed since: the answer it had was to another question.
  if (entry.type === "approval_request") return entry.callId;
  // A call of the caller's own does not begin: it waits for its result from here on.
  if (entry.type === "permission_decision" && entry.external === true) return entry.callId;
  const isCall = entry.type === "tool_intent" || entry.type === "tool_result";
  return isCall && entry.parentCallId === undefined ? entry.callId : undefined;
}

/** The record of an entry, without the end of its line. */
export function lineOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length - 1).toString();
}

/** True for what does not come back when a run is begun again: a result of a call, an end. */
function comesFurther(entry: JournalEntry): boolean {
  if (entry.type === "run_end") return true;
  return entry.type === "tool_result" && entry.status !== "aborted";
}
