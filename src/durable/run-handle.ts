import type { JournalEntry } from "../core/agent/entries.ts";
import type { ApprovalAnswer } from "../core/agent/ports.ts";
import type { PendingCall, RunResult } from "../core/agent/result.ts";
import { type Clock, startTimer, systemClock } from "../core/base/async.ts";
import { check, ownSchema, type Properties } from "../core/base/check.ts";
import { misuse, type NanoAgentError } from "../core/base/errors.ts";
import { newUuid } from "../core/base/ids.ts";
import { endedByItself } from "../core/base/stop-reason.ts";
import { spokenMessages } from "../core/message/input.ts";
import type { UserBlock } from "../core/message/message.ts";
import { writeSessionFile } from "../session/session-store.ts";
import type { Sql } from "./database.ts";
import type { DurableRun, RunStatus } from "./durable-run.ts";
import { type EntryStore, entriesIn } from "./entry-store.ts";
import { awaitedCalls, endIdle, resultOfReport } from "./run-ending.ts";
import type { RunQueue } from "./run-queue.ts";
import { type RunRow, reportOf, statusOf } from "./run-row.ts";
import type { RunStore, Signal } from "./run-store.ts";
import { type RunWatch, unknownRun } from "./run-watch.ts";

/** The surroundings that handles of runs share. */
export interface RunHandleHost {
  readonly runs: RunStore;
  readonly entries: EntryStore;
  readonly queue: RunQueue;
  readonly watch: RunWatch;
  readonly patiently: <T>(work: () => Promise<T>) => Promise<T>;
  /** Told when a run was put into the queue, or something was sent to one. */
  readonly onChanged: (run: string) => void;
  readonly clock?: Clock;
}

/** Something that is sent to a run. `data`: its JSON. */
type Message = Omit<Signal, "id" | "number">;

/** A message to a call, which waits for that. */
interface Reply extends Message {
  readonly kind: "approve" | "answer";
}

const WAITS_FOR = { approve: "approval", answer: "result" } as const;

/** How long an answer waits until it can be told whether the run takes it, in milliseconds. */
const REPLY_PATIENCE_MS = 15_000;

/** Tells whether something can be sent as the run stands now. Throws for what must not be sent at all. */
type SignalCheck = (sql: Sql, row: RunRow, signal: Pick<Signal, "id">) => Promise<boolean>;

/** A run, wherever it is worked on. */
export class RunHandle implements DurableRun {
  readonly id: string;
  readonly #host: RunHandleHost;

  constructor(host: RunHandleHost, id: string) {
    this.#host = host;
    this.id = id;
  }

  async result(): Promise<RunResult> {
    const isThere = ({ state }: Pick<RunRow, "state">): boolean => state === "ended";
    await this.#host.watch.when(this.id, { isThere, isForEnd: true });
    const [row, entries] = [await this.#row(), await this.#entries()];
    const report = reportOf(row);
    // Somebody has had it begun again meanwhile.
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
    const { runs, entries, watch, patiently } = this.#host;
    let seen = after === undefined ? 0 : await this.#numberOf(after);
    for (;;) {
      const isThere = ({ seq, state }: Pick<RunRow, "seq" | "state">): boolean =>
        seq > seen || state === "ended";
      const { seq } = await watch.when(this.id, { isThere, signal });
      if (seq <= seen) return;
      const records = await patiently(() => entries.read(runs.database, this.id, seen));
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
      throw misuse("The answer cannot be written as JSON: pass a text, a number, an object or a list.");
    await this.#reply({ kind: "answer", call: callId, data: JSON.stringify(text) });
  }

  async steer(message: string | readonly UserBlock[]): Promise<void> {
    const blocks = spokenMessages(message, "steer()").flatMap(({ content }) => content);
    await this.#send({ kind: "steer", call: null, data: JSON.stringify(blocks) });
  }

  async cancel(reason = "The run was cancelled."): Promise<void> {
    if (typeof reason !== "string") throw misuse("The reason of a cancel is not a text.");
    const { runs, patiently, onChanged } = this.#host;
    await patiently(() =>
      runs.database.transaction(async (sql) => {
        const row = await runs.lock(this.id, sql);
        if (row === undefined) throw unknownRun(this.id);
        if (row.state === "ended") return;
        const end = { stopReason: "aborted", detail: reason } as const;
        if (await endIdle(this.#host, sql, { id: this.id, end: () => end })) return;
        const signal = { id: newUuid(), kind: "cancel", call: null, data: JSON.stringify(reason) } as const;
        await runs.signal(sql, this.id, signal);
      }),
    );
    onChanged(this.id);
  }

  async retry(): Promise<void> {
    const { runs, queue, patiently, onChanged } = this.#host;
    const found = await this.#row();
    assertFailed(found);
    await patiently(() => queue.prepare([{ agent: found.agent, version: null }]));
    await patiently(() =>
      runs.database.transaction(async (sql) => {
        const row = await runs.lock(this.id, sql);
        if (row === undefined) throw unknownRun(this.id);
        if (row.epoch !== found.epoch || row.state !== found.state) return;
        if (row.state === "working" && (await runs.claimIdle(this.id, sql)) === undefined)
          throw notFailed(row);
        await runs.forgive(sql, this.id);
        await runs.requeue(sql, this.id, null);
        await queue.add(sql, [{ ...row, version: null }]);
      }),
    );
    onChanged(this.id);
  }

  async export(path: string): Promise<void> {
    const { runs, entries, patiently } = this.#host;
    await this.#row();
    const records = await patiently(() => entries.read(runs.database, this.id));
    writeSessionFile(path, { sessionId: this.id, cwd: "", records: records.map(({ record }) => record) });
  }

  async #row(): Promise<RunRow> {
    const { runs, patiently } = this.#host;
    const row = await patiently(() => runs.find(this.id));
    if (row === undefined) throw unknownRun(this.id);
    return row;
  }

  async #entries(): Promise<readonly JournalEntry[]> {
    const { runs, entries, patiently } = this.#host;
    return entriesIn(await patiently(() => entries.read(runs.database, this.id)));
  }

  async #numberOf(entry: string): Promise<number> {
    const { runs, entries, patiently } = this.#host;
    await this.#row();
    const seq = await patiently(() => entries.numberOf(runs.database, this.id, entry));
    if (seq !== undefined) return seq;
    throw misuse(
      `The run ${this.id} has no entry ${JSON.stringify(entry)}: pass the id of one of its entries.`,
    );
  }

  /** Answers a call, or refuses to: one answer is all that a call takes. */
  async #reply(reply: Reply): Promise<void> {
    const { watch, clock = systemClock } = this.#host;
    const patience = new AbortController();
    const stop = startTimer(clock, REPLY_PATIENCE_MS, () => patience.abort());
    const check: SignalCheck = (sql, row, { id }) =>
      this.#isAwaited(reply, { sql, row, id, isLast: patience.signal.aborted });
    const isThere = ({ state }: Pick<RunRow, "state">): boolean => !isAtWork(state);
    try {
      while (!(await this.#send(reply, check)))
        await watch.when(this.id, { isThere, signal: patience.signal }).catch((error: unknown) => {
          if (!patience.signal.aborted) throw error;
        });
    } finally {
      stop();
    }
  }

  /** While somebody is at work on a run, what it is going to wait for is not known yet. */
  async #isAwaited({ kind, call }: Reply, { sql, row, id, isLast }: Look): Promise<boolean> {
    const { runs, entries } = this.#host;
    const waiting = awaitedCalls(entriesIn(await entries.read(sql, this.id)));
    const sent = await runs.waitingSignals(this.id, sql);
    const isAnswered = sent.some((signal) => signal.call === call && signal.id !== id);
    const isOpen = waiting.some(({ callId, waitsFor }) => callId === call && waitsFor === WAITS_FOR[kind]);
    if (isOpen && !isAnswered) return true;
    if (!isAnswered && !isLast && isAtWork(row.state)) return false;
    const why = isAnswered
      ? "has been answered already"
      : `does not wait for ${kind === "approve" ? "approval" : "a result"}`;
    const open = waiting.filter(({ callId }) => sent.every((signal) => signal.call !== callId));
    const called = `The call ${JSON.stringify(call)} of the run ${this.id}`;
    throw misuse(`${called} ${why}. The run is ${row.state}. Waiting: ${namesOf(open)}.`);
  }

  /** Sends something, and has a run that waits for it taken up again. False where the check says: not now. */
  async #send(message: Message, check: SignalCheck = async () => true): Promise<boolean> {
    const { runs, queue, patiently, onChanged } = this.#host;
    const found = await this.#row();
    const signal = { id: newUuid(), ...message };
    await patiently(() => queue.prepare([found]));
    const isSent = await patiently(() =>
      runs.database.transaction(async (sql) => {
        const row = await runs.lock(this.id, sql);
        if (row === undefined) throw unknownRun(this.id);
        // It was sent, and only the word of that was lost: by now the run may have heard it, and have ended.
        if (await runs.hasSignal(sql, signal.id)) return true;
        if (row.state === "ended") throw hasEnded(row);
        if (!(await check(sql, row, signal))) return false;
        await runs.signal(sql, this.id, signal);
        if (row.state !== "waiting" || signal.kind === "steer") return true;
        await runs.requeue(sql, this.id, row.version);
        await queue.add(sql, [row]);
        return true;
      }),
    );
    if (isSent) onChanged(this.id);
    return isSent;
  }
}

/** A look at whether a call waits for an answer. */
interface Look {
  readonly sql: Sql;
  readonly row: RunRow;
  /** Id of the answer. */
  readonly id: string;
  /** True when nobody looks again. */
  readonly isLast: boolean;
}

function isAtWork(state: RunRow["state"]): boolean {
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
    // A circle, or a BigInt.
    return undefined;
  }
}

function hasEnded(row: RunRow): NanoAgentError {
  return misuse(
    `The run ${row.id} has ended (${reportOf(row)?.stopReason ?? "unknown"}): nothing can be said to it any more. Start another one.`,
  );
}

/** Throws for a run that is not to be begun again. One at work may have been left by its worker. */
function assertFailed(row: RunRow): void {
  const { state, seq, version } = row;
  const report = reportOf(row);
  if (isAtWork(state) && seq > 0 && version !== null) return;
  if (state === "ended" && report !== undefined && !endedByItself(report.stopReason)) return;
  throw notFailed(row);
}

function notFailed(row: RunRow): NanoAgentError {
  const stands = reportOf(row)?.stopReason ?? row.state;
  return misuse(`The run ${row.id} has not failed (${stands}), so there is nothing to retry.`);
}

const CHOICE_FIELDS: Properties<Exclude<ApprovalAnswer, boolean | "later">> = {
  approved: { type: "boolean" },
  input: { type: "object" },
  reason: { type: "string" },
  stop: { type: "boolean" },
  question: { type: "string" },
};
const CHOICE = ownSchema({
  type: "object",
  properties: CHOICE_FIELDS,
  required: ["approved"],
  additionalProperties: false,
  "x-say": "true, false, or { approved, reason?, input?, stop?, question? }",
});

/** The JSON of a choice. Throws `invalid_argument` for what is none. */
function choiceJson(choice: unknown): string {
  if (typeof choice === "boolean") return String(choice);
  check(choice, CHOICE, "choice");
  const json = jsonOf(choice);
  if (json === undefined)
    throw misuse(
      "The choice cannot be written as JSON: its input must be made of texts, numbers and the like.",
    );
  return json;
}
