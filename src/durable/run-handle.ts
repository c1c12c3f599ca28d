import type { JournalEntry } from "../core/agent/entry.ts";
import type { ApprovalAnswer } from "../core/agent/gate.ts";
import { pendingCalls } from "../core/agent/open-calls.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { SessionState } from "../core/agent/session-state.ts";
import { misuse, type NanoAgentError } from "../core/base/errors.ts";
import { newUuid } from "../core/base/ids.ts";
import { isRecord } from "../core/base/json.ts";
import { endedByItself } from "../core/base/stop-reason.ts";
import type { UserBlock } from "../core/message/block.ts";
import { spokenMessages } from "../core/message/input-messages.ts";
import { writeSessionFile } from "../session/write-session-file.ts";
import type { Sql } from "./database.ts";
import type { DurableRun, RunStatus } from "./durable-run.ts";
import { type EntryStore, entriesIn } from "./entry-store.ts";
import { endIdle, foldOf, resultOfReport } from "./run-ending.ts";
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
}

type Message = Pick<Signal, "kind" | "call"> & { readonly data: unknown };

/** A message to a call. */
interface Reply extends Message {
  /** True for a conversation in which the call waits for it. */
  readonly isOpen: (state: SessionState) => boolean;
}

/** Throws for something that must not be sent, as the run stands now. */
type SignalCheck = (sql: Sql, signal: Pick<Signal, "id">) => Promise<void> | undefined;

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
    assertChoice(choice);
    await this.#reply({
      kind: "approve",
      call: callId,
      data: choice,
      isOpen: ({ approvals }) => approvals.has(callId),
    });
  }

  async answer(callId: string, value: unknown): Promise<void> {
    const text = typeof value === "string" ? value : jsonOf(value);
    if (text === undefined)
      throw misuse("The answer cannot be written as JSON: pass a text, a number, an object or a list.");
    await this.#reply({
      kind: "answer",
      call: callId,
      data: text,
      isOpen: (state) =>
        state.isWaiting &&
        pendingCalls(state).some((call) => call.callId === callId && call.waitsFor === "result"),
    });
  }

  async steer(message: string | readonly UserBlock[]): Promise<void> {
    const blocks = spokenMessages(message, "steer()").flatMap(({ content }) => content);
    await this.#send({ kind: "steer", call: null, data: blocks });
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
  async #reply({ isOpen, ...message }: Reply): Promise<void> {
    const { runs, entries, watch } = this.#host;
    // While a worker goes on with it, what it is going to wait for is not known yet.
    if (!isOpen(foldOf(await this.#entries())))
      await watch.when(this.id, { isThere: ({ state }) => state === "waiting" || state === "ended" });
    await this.#send(message, async (sql, { id }) => {
      const state = foldOf(entriesIn(await entries.read(sql, this.id)));
      const sent = await runs.waitingSignals(this.id, sql);
      const isAnswered = sent.some((signal) => signal.call === message.call && signal.id !== id);
      if (isAnswered || !isOpen(state)) throw this.#doesNotWait(message, state, isAnswered);
    });
  }

  #doesNotWait({ kind, call }: Message, state: SessionState, isAnswered: boolean): NanoAgentError {
    const waiting = (state.isWaiting ? pendingCalls(state) : []).map(
      (open) => `${open.name} (${open.callId}) for ${open.waitsFor}`,
    );
    const why = isAnswered
      ? "has been answered already"
      : `does not wait for ${kind === "approve" ? "approval" : "a result"}`;
    return misuse(
      `The call ${JSON.stringify(call)} of the run ${this.id} ${why}. Waiting: ${waiting.length === 0 ? "none" : waiting.join(", ")}.`,
    );
  }

  /** Sends something, and has a run that waits for it taken up again. */
  async #send({ kind, call, data }: Message, check: SignalCheck = () => undefined): Promise<void> {
    const { runs, queue, patiently, onChanged } = this.#host;
    const found = await this.#row();
    const signal = { id: newUuid(), kind, call, data: JSON.stringify(data) };
    await patiently(() => queue.prepare([found]));
    await patiently(() =>
      runs.database.transaction(async (sql) => {
        const row = await runs.lock(this.id, sql);
        if (row === undefined) throw unknownRun(this.id);
        if (row.state === "ended") throw hasEnded(row);
        await check(sql, signal);
        await runs.signal(sql, this.id, signal);
        if (row.state !== "waiting" || kind === "steer") return;
        await runs.requeue(sql, this.id, row.version);
        await queue.add(sql, [row]);
      }),
    );
    onChanged(this.id);
  }
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

function assertFailed(row: RunRow): void {
  const { id, state, seq, version } = row;
  const report = reportOf(row);
  if (state === "queued" && seq > 0 && version !== null) return;
  if (state === "ended" && report !== undefined && !endedByItself(report.stopReason)) return;
  const stands = report === undefined ? state : report.stopReason;
  throw misuse(`The run ${id} has not failed (${stands}), so there is nothing to retry.`);
}

function assertChoice(choice: unknown): void {
  if (typeof choice === "boolean") return;
  if (isRecord(choice) && typeof choice["approved"] === "boolean") return;
  throw misuse(
    `The choice is ${JSON.stringify(choice)}: pass true, false, or { approved, reason?, input?, stop? }.`,
  );
}
