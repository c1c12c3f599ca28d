import type { JournalEntry } from "../core/agent/entries.ts";
import type { ApprovalAnswer } from "../core/agent/ports.ts";
import type { PendingCall, RunResult } from "../core/agent/result.ts";
import { type Clock, raceAbort, systemClock } from "../core/base/async.ts";
import { check, optionSchema, type Properties } from "../core/base/check-options.ts";
import { errorMessage, invalidArgument, invalidConfig, NanoAgentError } from "../core/base/errors.ts";
import { newUuid } from "../core/base/ids.ts";
import { isNormalEnd } from "../core/base/stop-reason.ts";
import { toUserMessages } from "../core/message/input.ts";
import type { UserBlock } from "../core/message/message.ts";
import { writeSessionFile } from "../session/session-store.ts";
import type { Sql } from "./database.ts";
import { type DurableRun, type RunRow, type RunStatus, reportOf, statusOf } from "./durable-run.ts";
import { awaitedCalls, endIdle, entriesIn, resultOfReport } from "./run-journal.ts";
import type { RunQueue } from "./run-queue.ts";
import type { RunStore, RunView, Signal } from "./run-store.ts";

export interface RunHandleHost {
  readonly runs: RunStore;
  readonly queue: RunQueue;
  readonly watch: RunWatch;
  readonly withRetry: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called when a run was queued or received a signal. */
  readonly onChanged: (run: string) => void;
}

/** A signal to a run. `data`: its JSON. */
type Message = Omit<Signal, "id" | "number">;

interface Reply extends Message {
  readonly kind: "approve" | "answer";
}

/** Milliseconds to wait for the run to need the answer. */
const REPLY_TIMEOUT_MS = 15_000;

const WAITS_FOR = { approve: "approval", answer: "result" } as const;

export class RunHandle implements DurableRun {
  readonly id: string;
  readonly #host: RunHandleHost;

  constructor(host: RunHandleHost, id: string) {
    this.#host = host;
    this.id = id;
  }

  async result(): Promise<RunResult> {
    const isReached = ({ state }: Pick<RunRow, "state">): boolean => state === "ended";
    await this.#host.watch.when(this.id, { isReached, isForEnd: true });
    const [row, entries] = [await this.#row(), await this.#entries()];
    const report = reportOf(row);
    // It was restarted meanwhile.
    return report === undefined ? this.result() : resultOfReport(this.id, report, entries);
  }

  async status(): Promise<RunStatus> {
    return statusOf(await this.#row());
  }

  async *events({
    after,
    signal,
  }: {
    readonly after?: string;
    readonly signal?: AbortSignal;
  } = {}): AsyncIterable<JournalEntry> {
    const { runs, watch, withRetry } = this.#host;
    let seen = after === undefined ? 0 : await this.#numberOf(after);
    for (;;) {
      const isReached = ({ seq, state }: Pick<RunRow, "seq" | "state">): boolean =>
        seq > seen || state === "ended";
      const { seq } = await watch.when(this.id, { isReached, signal });
      if (seq <= seen) return;
      const records = await withRetry(() => runs.records(this.id, seen));
      seen = records.at(-1)?.seq ?? seq;
      yield* entriesIn(records);
    }
  }

  async approve(callId: string, choice: Exclude<ApprovalAnswer, "later">): Promise<void> {
    await this.#reply({ kind: "approve", call: callId, data: choiceJson(choice) });
  }

  async answer(callId: string, value: unknown): Promise<void> {
    const text = typeof value === "string" ? value : jsonOf(value);
    if (text === undefined)
      throw invalidArgument(
        "The answer cannot be written as JSON: pass a text, a number, an object or a list.",
      );
    await this.#reply({ kind: "answer", call: callId, data: JSON.stringify(text) });
  }

  async steer(message: string | readonly UserBlock[]): Promise<void> {
    const blocks = toUserMessages(message, "steer()").flatMap(({ content }) => content);
    await this.#send({ kind: "steer", call: null, data: JSON.stringify(blocks) });
  }

  async cancel(reason = "The run was cancelled."): Promise<void> {
    if (typeof reason !== "string") throw invalidArgument("The reason of a cancel is not a text.");
    const { runs } = this.#host;
    const end = { stopReason: "aborted", detail: reason } as const;
    const signal = { id: newUuid(), kind: "cancel", call: null, data: JSON.stringify(reason) } as const;
    await this.#change(async (sql, { state }) => {
      if (state === "ended" || (await endIdle(runs, sql, this.id, () => end))) return;
      await runs.signal(sql, this.id, signal);
    });
  }

  async retry(): Promise<void> {
    const { runs, queue, withRetry } = this.#host;
    const found = await this.#row();
    assertFailed(found);
    await withRetry(() => queue.prepare([{ agent: found.agent, version: null }]));
    await this.#change(async (sql, row) => {
      if (row.epoch !== found.epoch || row.state !== found.state) return;
      if (row.state === "working" && (await runs.claimIdle(this.id, sql)) === undefined) throw notFailed(row);
      await runs.resetLosses(sql, this.id);
      await runs.requeue(sql, this.id, null);
      await queue.add(sql, [{ ...row, version: null }]);
    });
  }

  async export(path: string): Promise<void> {
    const { runs, withRetry } = this.#host;
    await this.#row();
    const records = await withRetry(() => runs.records(this.id));
    writeSessionFile(
      path,
      this.id,
      "",
      records.map(({ record }) => record),
    );
  }

  async #row(): Promise<RunRow> {
    const { runs, withRetry } = this.#host;
    const row = await withRetry(() => runs.find(this.id));
    if (row === undefined) throw unknownRun(this.id);
    return row;
  }

  async #entries(): Promise<readonly JournalEntry[]> {
    const { runs, withRetry } = this.#host;
    return entriesIn(await withRetry(() => runs.records(this.id)));
  }

  async #numberOf(entry: string): Promise<number> {
    const { runs, withRetry } = this.#host;
    await this.#row();
    const seq = await withRetry(() => runs.numberOf(this.id, entry));
    if (seq !== undefined) return seq;
    throw invalidArgument(
      `The run ${this.id} has no entry ${JSON.stringify(entry)}: pass the id of one of its entries.`,
    );
  }

  /**
   * Answers a call; each call takes one answer. While a run is in progress it is unknown what it will wait
   * for, so an answer is refused only after a timeout.
   */
  async #reply({ kind, call, data }: Reply): Promise<void> {
    const { runs, watch } = this.#host;
    const timeout = AbortSignal.timeout(REPLY_TIMEOUT_MS);
    let isEarly: boolean;
    const check = async (sql: Sql, row: RunRow): Promise<void> => {
      const waiting = awaitedCalls(entriesIn(await runs.records(this.id, 0, sql)));
      const sent = await runs.waitingSignals(this.id, sql);
      const isAnswered = sent.some((signal) => signal.call === call);
      const isOpen = waiting.some((each) => each.callId === call && each.waitsFor === WAITS_FOR[kind]);
      if (isOpen && !isAnswered) return;
      isEarly = !isAnswered && isInProgress(row.state) && !timeout.aborted;
      const why = isAnswered
        ? "has been answered already"
        : `does not wait for ${kind === "approve" ? "approval" : "a result"}`;
      const open = waiting.filter(({ callId }) => sent.every((signal) => signal.call !== callId));
      const subject = `The call ${JSON.stringify(call)} of the run ${this.id}`;
      throw invalidArgument(`${subject} ${why}. The run is ${row.state}. Waiting: ${namesOf(open)}.`);
    };
    for (;;) {
      isEarly = false;
      try {
        return await this.#send({ kind, call, data }, check);
      } catch (error) {
        if (!isEarly) throw error;
      }
      const isReached = ({ state }: Pick<RunRow, "state">): boolean => !isInProgress(state);
      await watch.when(this.id, { isReached, signal: timeout }).catch((error: unknown) => {
        if (!timeout.aborted) throw error;
      });
    }
  }

  /** Sends a signal, and requeues a run that waits for it. `check` throws for a forbidden one. */
  async #send(message: Message, check?: (sql: Sql, row: RunRow) => Promise<void>): Promise<void> {
    const { runs, queue, withRetry } = this.#host;
    const found = await this.#row();
    const signal = { id: newUuid(), ...message };
    await withRetry(() => queue.prepare([found]));
    await this.#change(async (sql, row) => {
      // Already sent, only its confirmation was lost: the run may have received it, and may have ended.
      if (await runs.hasSignal(sql, signal.id)) return;
      if (row.state === "ended") throw hasEnded(row);
      await check?.(sql, row);
      await runs.signal(sql, this.id, signal);
      if (row.state !== "waiting" || signal.kind === "steer") return;
      await runs.requeue(sql, this.id, row.version);
      await queue.add(sql, [row]);
    });
  }

  /** Changes the run in one transaction that locks its row. May be repeated after a lost connection. */
  async #change(work: (sql: Sql, row: RunRow) => Promise<void>): Promise<void> {
    const { runs, withRetry, onChanged } = this.#host;
    await withRetry(() =>
      runs.database.transaction(async (sql) => {
        const row = await runs.lock(this.id, sql);
        if (row === undefined) throw unknownRun(this.id);
        await work(sql, row);
      }),
    );
    onChanged(this.id);
  }
}

function isInProgress(state: RunRow["state"]): boolean {
  return state === "queued" || state === "working";
}

function namesOf(calls: readonly PendingCall[]): string {
  const names = calls.map(({ name, callId, waitsFor }) => `${name} (${callId}) for ${waitsFor}`);
  return names.length === 0 ? "none" : names.join(", ");
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // A cycle, or a BigInt.
    return undefined;
  }
}

function hasEnded(row: RunRow): NanoAgentError {
  return invalidArgument(
    `The run ${row.id} has ended (${reportOf(row)?.stopReason ?? "unknown"}): nothing can be said to it any more. Start another one.`,
  );
}

/** Throws for a run that must not be restarted. A run in progress may have lost its worker. */
function assertFailed(row: RunRow): void {
  const { state, seq, version } = row;
  const report = reportOf(row);
  if (isInProgress(state) && seq > 0 && version !== null) return;
  if (state === "ended" && report !== undefined && !isNormalEnd(report.stopReason)) return;
  throw notFailed(row);
}

function notFailed(row: RunRow): NanoAgentError {
  const current = reportOf(row)?.stopReason ?? row.state;
  return invalidArgument(`The run ${row.id} has not failed (${current}), so there is nothing to retry.`);
}

const CHOICE_FIELDS: Properties<Exclude<ApprovalAnswer, boolean | "later">> = {
  approved: { type: "boolean" },
  input: { type: "object" },
  reason: { type: "string" },
  stop: { type: "boolean" },
  question: { type: "string" },
};
const CHOICE = optionSchema({
  type: "object",
  properties: CHOICE_FIELDS,
  required: ["approved"],
  additionalProperties: false,
  "x-say": "true, false, or { approved, reason?, input?, stop?, question? }",
});

/** The JSON of a choice. Throws `invalid_argument` for an invalid one. */
function choiceJson(choice: unknown): string {
  if (typeof choice === "boolean") return String(choice);
  check(choice, CHOICE, "choice");
  const json = jsonOf(choice);
  if (json === undefined)
    throw invalidArgument(
      "The choice cannot be written as JSON: its input must be made of texts, numbers and the like.",
    );
  return json;
}

interface WatchedMoment {
  readonly isReached: (view: RunView) => boolean;
  /** True for a caller that waits for the end: it gets an error if no worker can bring the run there. */
  readonly isForEnd?: boolean;
  readonly signal?: AbortSignal | undefined;
}

interface Snapshot {
  readonly views: ReadonlyMap<string, RunView>;
  readonly stranded: ReadonlyMap<string, Pick<RunRow, "id" | "version" | "agent">>;
}

const POLL_MS = 200;
/** Snapshots between two checks for stranded runs. */
const STRANDED_EVERY = 25;

/** Waits for runs, using a single statement for any number of them. */
export class RunWatch {
  readonly #runs: RunStore;
  readonly #clock: Clock;
  readonly #onWarning: (message: string) => void;
  readonly #closing = new AbortController();
  /** Ids of the runs to include in the next snapshot. */
  #wanted = new Set<string>();
  #next: Promise<Snapshot | undefined> | undefined;
  #round = 0;
  #isPoked = false;
  #wake: () => void = () => undefined;

  constructor(runs: RunStore, onWarning: (message: string) => void, clock: Clock = systemClock) {
    this.#runs = runs;
    this.#onWarning = onWarning;
    this.#clock = clock;
  }

  /** Resolves when a run is in the wanted state. Rejects if it does not exist, and on close. */
  async when(run: string, { isReached, isForEnd = false, signal }: WatchedMoment): Promise<RunView> {
    const stop = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    for (let rounds = 0; ; rounds++) {
      stop.throwIfAborted();
      this.#wanted.add(run);
      this.#next ??= this.#readNext();
      if (rounds === 0) this.poke();
      const snapshot = await raceAbort(this.#next, stop).catch((error: unknown) => {
        stop.throwIfAborted();
        throw error;
      });
      if (snapshot === undefined) continue;
      const view = snapshot.views.get(run);
      if (view === undefined) throw unknownRun(run);
      if (isReached(view)) return view;
      const stranded = snapshot.stranded.get(run);
      if (isForEnd && stranded !== undefined) throw wrongVersion(stranded);
    }
  }

  poke(): void {
    this.#isPoked = true;
    this.#wake();
  }

  close(): void {
    this.#closing.abort(closed());
    this.#wake();
  }

  /** Undefined if the database cannot be reached; callers keep waiting. */
  async #readNext(): Promise<Snapshot | undefined> {
    const rest = new AbortController();
    this.#wake = () => rest.abort();
    if (this.#isPoked) rest.abort();
    // Never synchronously: the caller has yet to store the promise, which other callers share.
    await this.#clock.sleep(POLL_MS, rest.signal).catch(() => undefined);
    this.#isPoked = false;
    const ids = [...this.#wanted];
    this.#wanted = new Set();
    this.#next = undefined;
    const round = this.#round++;
    try {
      const isLong = round % STRANDED_EVERY === STRANDED_EVERY - 1;
      const views = await this.#runs.viewsOf(ids);
      const stranded = isLong ? await this.#runs.findStranded(ids) : [];
      return { views: byId(views), stranded: byId(stranded) };
    } catch (error) {
      if (round % STRANDED_EVERY === 0) this.#onWarning(`Runs cannot be looked at: ${errorMessage(error)}`);
      return undefined;
    }
  }
}

function byId<Row extends { readonly id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

function unknownRun(run: string): NanoAgentError {
  return invalidArgument(
    `There is no run ${JSON.stringify(run)} in this database: it was never started, or removed.`,
  );
}

function closed(): NanoAgentError {
  return new NanoAgentError("aborted", "The fleet was closed. Other workers continue the run.");
}

function wrongVersion({ id, version, agent }: Pick<RunRow, "id" | "version" | "agent">): NanoAgentError {
  return invalidConfig(
    `The run ${id} has begun with version ${JSON.stringify(version)} of the agent ${agent}, and no worker has that version: start one, or call retry() to continue with today's code.`,
    { details: { run: id, version: version ?? "", reason: "version" } },
  );
}
