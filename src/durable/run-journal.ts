import type { JournalEntry, NewEntry } from "../core/agent/entries.ts";
import type { Journal } from "../core/agent/journal.ts";
import type { PendingCall, RunResult } from "../core/agent/result.ts";
import { pendingCalls, SessionState } from "../core/agent/state.ts";
import { NanoAgentError, recordedError } from "../core/base/errors.ts";
import { createIds } from "../core/base/ids.ts";
import { omitUndefined } from "../core/base/json.ts";
import { isNormalEnd } from "../core/base/stop-reason.ts";
import { isJournalEntry, parseRecord } from "../session/read-session.ts";
import { encodeRecord } from "../session/record.ts";
import type { Sql } from "./database.ts";
import type { RunRow, StoredReport } from "./durable-run.ts";
import type { EntryBatch, RunStore, Signal, StoredRecord } from "./run-store.ts";

interface RunJournalOptions {
  readonly run: string;
  readonly epoch: number;
  readonly entries: readonly JournalEntry[];
  /** Number of the newest record, including those of unknown types. */
  readonly seq: number;
  readonly newest: string | null;
  /** Stores entries. Resolves to the number of signals sent to the run so far. */
  readonly store: (batch: EntryBatch) => Promise<number>;
  /** Called for every stored batch with the number of signals sent to the run so far. */
  readonly onStored: (signals: number) => void;
}

/** Nothing depends on these: the next other entry, or {@link RunJournal.flush}, stores them too. */
const STORED_LATER: ReadonlySet<string> = new Set([
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
 * The journal of a run on one worker. Entries appended together are stored together: an answer and the
 * intents it leads to are one insert. The first failure ends it, with the same error for everything later; a
 * worker whose run was taken over can store nothing more. The end of the run is held back for {@link
 * RunJournal.end}.
 */
export class RunJournal implements Journal {
  readonly sessionId: string;
  readonly holdsOneRun = true;
  readonly #options: RunJournalOptions;
  readonly #ids = createIds();
  readonly #begun = new Set<string>();
  readonly #waiting = new Map<string, readonly Signal[]>();
  /** Ids of steering messages received inside phases: a phase that starts over receives them again. */
  readonly #phaseSteering: string[] = [];
  #entries: readonly JournalEntry[];
  #newest: string | null;
  #stored: number;
  #unstored: PendingRecord[] = [];
  /** The end of the run, if it is the newest entry. */
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

  get openCalls(): number {
    return this.#begun.size;
  }

  /** Signals to mark as taken with the entry of the call or steering message that has this id. */
  expectSignals(id: string, signals: readonly Signal[]): void {
    this.#waiting.set(id, signals);
  }

  append(entry: NewEntry): JournalEntry | Promise<JournalEntry> {
    this.#assertUsable();
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
    return STORED_LATER.has(entry.type) ? stored : this.flush().then(() => stored);
  }

  async flush(): Promise<void> {
    const last = this.#unstored.at(-1);
    const isWaiting = (): boolean => last !== undefined && this.#unstored.includes(last);
    while (isWaiting()) {
      this.#assertUsable();
      await (this.#storing ??= this.#store());
    }
    await this.#storing;
    this.#assertUsable();
  }

  /**
   * Stores everything but the end of the run, which is returned to be stored together with the state of the
   * run: if a worker died in between, the run would be both ended and not ended.
   */
  async end(): Promise<EntryBatch | undefined> {
    await this.flush();
    return this.#end && this.#batchOf([this.#end]);
  }

  /** Accepts nothing more, as the run was released. */
  close(error: unknown): void {
    this.#failure ??= { error };
  }

  async #store(): Promise<void> {
    // Calls of one answer begin in the same turn of the event loop, so their intents become one insert.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const batch = this.#batchOf(this.#unstored);
    try {
      this.#assertUsable();
      this.#unstored = [];
      const signals = await this.#options.store(batch);
      this.#stored += batch.ids.length;
      this.#options.onStored(signals);
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
      isProgress: entries.some(isProgress),
      took: entries.flatMap((entry) => this.#taken(entry)),
    };
  }

  #assertUsable(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #count(entry: JournalEntry): void {
    if (entry.type === "tool_intent") this.#begun.add(entry.callId);
    if (entry.type === "tool_result") this.#begun.delete(entry.callId);
    if (entry.type === "user_message" && entry.scope !== undefined && entry.steeringId !== undefined)
      this.#phaseSteering.push(entry.steeringId);
  }

  #taken(entry: JournalEntry): readonly number[] {
    if (entry.scope !== undefined) return [];
    const isAnswer = entry.type === "run_end" && isNormalEnd(entry.stopReason);
    const ids = isAnswer ? this.#phaseSteering : [addresseeOf(entry)];
    return ids.flatMap((id) => this.#signalsTo(id)).map(({ number }) => number);
  }

  #signalsTo(id: string | undefined): readonly Signal[] {
    return id === undefined ? [] : (this.#waiting.get(id) ?? []);
  }
}

/** The call or steering message that, according to an entry, has reached the conversation. */
function addresseeOf(entry: JournalEntry): string | undefined {
  if (entry.type === "user_message") return entry.steeringId;
  // A call that is asked about again has changed since: its answer was to another question.
  if (entry.type === "approval_request") return entry.callId;
  // A call that the caller runs does not begin: it waits for its result from here on.
  if (entry.type === "permission_decision" && entry.external === true) return entry.callId;
  const isCall = entry.type === "tool_intent" || entry.type === "tool_result";
  return isCall && entry.parentCallId === undefined ? entry.callId : undefined;
}

/** The record of an entry, without the line end. */
export function lineOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length - 1).toString();
}

/** True for entries that a restarted run does not repeat: the result of a call, an end. */
function isProgress(entry: JournalEntry): boolean {
  if (entry.type === "run_end") return true;
  return entry.type === "tool_result" && entry.status !== "aborted";
}

/** The entries in records, without types that this version does not know. */
export function entriesIn(records: readonly StoredRecord[]): readonly JournalEntry[] {
  return records.flatMap(({ record }) => {
    const parsed = parseRecord(record);
    return parsed !== undefined && isJournalEntry(parsed) ? [parsed] : [];
  });
}

export interface OutsideEnd {
  readonly stopReason: "aborted" | "budget" | "error";
  readonly limit?: "wall_time";
  readonly detail?: string;
  readonly error?: NanoAgentError;
}

export function foldOf(entries: readonly JournalEntry[]): SessionState {
  const state = new SessionState();
  for (const entry of entries) state.apply(entry);
  return state;
}

/** The calls that take an answer, even while a worker continues with those answered before. */
export function awaitedCalls(entries: readonly JournalEntry[]): readonly PendingCall[] {
  const state = new SessionState();
  let outside: readonly string[] = [];
  const isOutside = ({ waitsFor }: PendingCall): boolean => waitsFor === "result";
  for (const entry of entries) {
    state.apply(entry);
    if (state.isWaiting)
      outside = pendingCalls(state)
        .filter(isOutside)
        .map(({ callId }) => callId);
    else if (!state.transcript.hasPending) outside = [];
  }
  return pendingCalls(state).filter((call) => !isOutside(call) || outside.includes(call.callId));
}

export function overdueEnd(deadline: number): OutsideEnd {
  const detail = `Its deadline was ${new Date(deadline).toISOString()}.`;
  return { stopReason: "budget", limit: "wall_time", detail };
}

/** The end of a cancelled run; `reason` is JSON. */
export function cancelledEnd(reason: string): OutsideEnd {
  return { stopReason: "aborted", detail: JSON.parse(reason) as string };
}

export function endEntry(
  state: SessionState,
  end: OutsideEnd,
): Omit<Extract<JournalEntry, { readonly type: "run_end" }>, "id" | "parent" | "time"> {
  const { stopReason, limit, detail, error } = end;
  return {
    type: "run_end",
    stopReason,
    iterations: state.progress.iterations,
    ...omitUndefined({ limit, detail, error: error && { code: error.code, message: error.message } }),
  };
}

export function reportOfEnd(state: SessionState, end: OutsideEnd): StoredReport {
  const { stopReason, limit, detail, error } = end;
  return {
    text: state.progress.lastText,
    stopReason,
    ...omitUndefined({ limit, detail, error: error && recordedError(error) }),
    iterations: state.progress.iterations,
    usage: state.run.usage,
    cost: state.run.costUsd,
  };
}

export function reportOfResult(result: RunResult): StoredReport {
  const { text, stopReason, output, limit, circle, detail, error, iterations, usage, cost } = result;
  return {
    text,
    stopReason,
    ...omitUndefined({ output, limit, circle, detail, error: error && recordedError(error) }),
    iterations,
    usage,
    cost,
  };
}

export function resultOfReport(
  run: string,
  report: StoredReport,
  entries: readonly JournalEntry[],
): RunResult {
  const { error, cost, ...fields } = report;
  const { code, message, details, retryable } = error ?? {};
  return {
    ...fields,
    ...(code !== undefined && {
      error: new NanoAgentError(code, message ?? "", omitUndefined({ details, retryable })),
    }),
    cost,
    messages: foldOf(entries).transcript.messages.slice(),
    sessionId: run,
  } as RunResult;
}

/** Ends a run that no worker holds. Resolves to false if one does, or if it has ended. */
export async function endIdle(
  runs: RunStore,
  sql: Sql,
  id: string,
  end: (row: RunRow) => OutsideEnd,
): Promise<boolean> {
  const row = await runs.claimIdle(id, sql);
  if (row === undefined) return false;
  const state = foldOf(entriesIn(await runs.records(id, 0, sql)));
  const ending = end(row);
  const base = { id: createIds()("entry"), parent: row.newest, time: Date.now() };
  const { bytes } = encodeRecord({ ...base, ...endEntry(state, ending) });
  const batch = { run: id, epoch: row.epoch, after: row.seq, ids: [base.id], records: [lineOf(bytes)] };
  await runs.append({ ...batch, isProgress: true, took: [] }, sql);
  await runs.end(sql, id, reportOfEnd(state, ending));
  return true;
}
