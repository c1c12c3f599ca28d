import type { Agent } from "../agent/agent.ts";
import type { ApprovalRequestEntry, JournalEntry } from "../core/agent/entries.ts";
import type { ApprovalAnswer, Approvals } from "../core/agent/ports.ts";
import { MaxIterationsError, type PendingCall } from "../core/agent/result.ts";
import { pendingCalls, type SessionState } from "../core/agent/state.ts";
import { raceAbort, startTimer, systemClock } from "../core/base/async.ts";
import {
  errorMessage,
  invalidArgument,
  isNanoAgentError,
  NanoAgentError,
  toNanoAgentError,
} from "../core/base/errors.ts";
import { ownValue } from "../core/base/json.ts";
import { isWaiting } from "../core/base/stop-reason.ts";
import { hasMethods } from "../core/base/validate-json.ts";
import type { GivenMessage } from "../core/message/input.ts";
import type { Message, UserBlock } from "../core/message/message.ts";
import type { Budget } from "../core/model/budget.ts";
import type { Model } from "../core/model/model.ts";
import type { DurableAgent, RunRow, StoredReport } from "./durable-run.ts";
import {
  cancelledEnd,
  endEntry,
  entriesIn,
  foldOf,
  type OutsideEnd,
  overdueEnd,
  RunJournal,
  reportOfEnd,
  reportOfResult,
} from "./run-journal.ts";
import { type EntryBatch, MAX_LOSSES, type RunStore, type Signal, type StoredRecord } from "./run-store.ts";

export interface ClaimedRunHost {
  readonly runs: RunStore;
  readonly agents: { readonly [name: string]: DurableAgent };
  readonly wrapModel: (model: Model) => Model;
  readonly withRetry: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called when more of the run has been stored. */
  readonly onStored: (run: string) => void;
}

/** How work on a run came to an end. `end`: the final entry, still to be stored. */
export type WorkOutcome =
  | { readonly type: "ended"; readonly report: StoredReport; readonly end: EntryBatch | undefined }
  | {
      readonly type: "waiting";
      readonly pending: readonly PendingCall[];
      readonly end?: EntryBatch | undefined;
    }
  | { readonly type: "released" }
  /** Another worker has it, or nothing more can be stored. */
  | { readonly type: "lost"; readonly error: unknown };

export class ClaimedRun {
  readonly row: RunRow;
  readonly #host: ClaimedRunHost;
  /** Aborted by a cancel or the deadline. */
  readonly #abort = new AbortController();
  /** Aborted when this worker must stop working on the run. */
  readonly #dropped = new AbortController();
  readonly #delivered = new Set<string>();
  #journal: RunJournal | undefined;
  #agent: Agent | undefined;
  #seenSignals: number;
  #isReleasing = false;
  #isReleased = false;
  readonly #stopTimers: (() => void)[] = [];

  constructor(host: ClaimedRunHost, row: RunRow) {
    this.#host = host;
    this.row = row;
    this.#seenSignals = row.signals;
  }

  /** Works on the run until it ends, waits, or is released. Never rejects. */
  async work(): Promise<WorkOutcome> {
    try {
      return await this.#work();
    } catch (error) {
      if (this.#isReleased && isNanoAgentError(error, "aborted")) return { type: "released" };
      return { type: "lost", error };
    } finally {
      for (const stop of this.#stopTimers) stop();
    }
  }

  /** Releases it: immediately if no call is running, else when the calls have ended or the time is over. */
  releaseSoon(graceMs: number): void {
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    if (this.#canRelease) return this.#release();
    this.#startTimer(graceMs, () => this.#release());
  }

  /** Stops the work here, since another worker has the run. Nothing of it is recorded. */
  drop(): void {
    const error = new NanoAgentError("journal", `The run ${this.row.id} is held by another worker.`);
    this.#journal?.close(error);
    this.#dropped.abort(error);
    this.#agent?.release();
  }

  /** Reads new signals if more were sent than it has seen. */
  async receiveSignals(signals: number): Promise<void> {
    if (signals <= this.#seenSignals) return;
    const sent = await this.#host.runs.waitingSignals(this.row.id);
    // Only now: after a database error, or without an agent, the next check must read them again.
    if (this.#agent !== undefined) this.#seenSignals = Math.max(this.#seenSignals, signals);
    this.#deliver(sent);
  }

  get #canRelease(): boolean {
    return (this.#journal?.openCalls ?? 0) === 0;
  }

  #release(): void {
    this.#isReleased = true;
    this.#dropped.abort(new NanoAgentError("aborted", "The run was released."));
    this.#agent?.release();
  }

  async #work(): Promise<WorkOutcome> {
    const { row } = this;
    const { runs, withRetry } = this.#host;
    const records = await this.#orDropped(this.#records());
    const signals = await this.#orDropped(withRetry(() => runs.waitingSignals(row.id)));
    const known = entriesIn(records);
    const state = foldOf(known);
    const journal = this.#open(known, records.length);
    const end = this.#endBefore(signals);
    if (end !== undefined) return this.#end(journal, state, end);
    const answers = answersIn(signals, state);
    await this.#orDropped(withRetry(() => runs.dropSignals(row, answers.stale)));
    if (state.isWaiting && answers.isEmpty) return { type: "waiting", pending: pendingCalls(state) };
    this.#watchDeadline();
    try {
      this.#agent = await this.#orStopped(this.#makeAgent(journal));
    } catch (error) {
      this.#dropped.signal.throwIfAborted();
      return this.#end(journal, state, this.#endInstead(error));
    }
    this.#dropped.signal.throwIfAborted();
    if (this.#isReleasing) return { type: "released" };
    for (const [call, sent] of Map.groupBy(signals, (signal) => signal.call))
      if (call !== null) journal.expectSignals(call, sent);
    this.#deliver(signals);
    return this.#run(this.#agent, journal, state, answers, known);
  }

  async #run(
    agent: Agent,
    journal: RunJournal,
    state: SessionState,
    answers: Answers,
    known: readonly JournalEntry[],
  ): Promise<WorkOutcome> {
    const messages = answers.messages.length > 0 ? answers.messages : remainingInput(this.row, known);
    const isSilent = messages.length === 0 && Object.keys(answers.approvals).length === 0;
    if (isSilent && agent.pendingSteering.length === 0 && isAnswered(state)) agent.steer("Go on.");
    try {
      const result = await agent.run(messages.length === 0 ? undefined : messages, {
        approvals: answers.approvals,
        signal: this.#abort.signal,
      });
      const end = await journal.end();
      if (isWaiting(result.stopReason)) return { type: "waiting", pending: result.pending ?? [], end };
      return { type: "ended", report: reportOfResult(result), end };
    } catch (error) {
      if (error instanceof MaxIterationsError)
        return { type: "ended", report: reportOfResult(error.result), end: await journal.end() };
      if (this.#isReleased || isNanoAgentError(error, "journal")) throw error;
      await journal.flush();
      const now = foldOf(entriesIn(await this.#records()));
      return this.#end(journal, now, { stopReason: "error", error: toNanoAgentError(error) });
    }
  }

  #records(): Promise<readonly StoredRecord[]> {
    const { runs, withRetry } = this.#host;
    return withRetry(() => runs.records(this.row.id));
  }

  #open(known: readonly JournalEntry[], seq: number): RunJournal {
    const { row } = this;
    const { runs, withRetry, onStored } = this.#host;
    this.#journal = new RunJournal({
      run: row.id,
      epoch: row.epoch,
      entries: known,
      seq,
      newest: row.newest,
      store: (batch) => withRetry(() => runs.append(batch)),
      onStored: (signals) => {
        onStored(row.id);
        if (this.#isReleasing && this.#canRelease) this.#release();
        else this.receiveSignals(signals).catch(() => undefined);
      },
    });
    return this.#journal;
  }

  #endBefore(signals: readonly Signal[]): OutsideEnd | undefined {
    const { deadline, losses, agent } = this.row;
    const cancel = signals.find(({ kind }) => kind === "cancel");
    if (cancel !== undefined) return cancelledEnd(cancel.data);
    if (deadline !== null && deadline <= Date.now()) return overdueEnd(deadline);
    if (losses < MAX_LOSSES) return undefined;
    const error = new NanoAgentError(
      "internal",
      `${losses} workers were lost while they worked on this run, and it came no further: something in the agent ${agent} ends its process. Fix that, then retry the run.`,
      { details: { reason: "worker_lost", losses } },
    );
    return { stopReason: "error", error };
  }

  async #end(journal: RunJournal, state: SessionState, end: OutsideEnd): Promise<WorkOutcome> {
    await journal.append(endEntry(state, end));
    return { type: "ended", report: reportOfEnd(state, end), end: await journal.end() };
  }

  async #makeAgent(journal: RunJournal): Promise<Agent> {
    const { id, agent: name, budget } = this.row;
    const make = ownValue(this.#host.agents, name);
    if (make === undefined) throw new NanoAgentError("internal", `This worker has no agent ${name}.`);
    const agent = await make(
      {
        journal,
        openCalls: "run",
        onAsk: "pause",
        wrapModel: this.#host.wrapModel,
        ...(budget !== null && { budget: JSON.parse(budget) as Budget }),
      },
      { id, agent: name },
    );
    assertAgentOf(this.row, agent);
    await agent.ready();
    return agent;
  }

  /** Settles with `reading`; rejects if the run is released first. */
  async #orDropped<T>(reading: Promise<T>): Promise<T> {
    const found = await reading;
    this.#dropped.signal.throwIfAborted();
    return found;
  }

  /** Settles with `making`, or rejects if the run is stopped or released: `making` may never settle. */
  #orStopped<T>(making: Promise<T>): Promise<T> {
    return raceAbort(making, AbortSignal.any([this.#dropped.signal, this.#abort.signal]));
  }

  #endInstead(error: unknown): OutsideEnd {
    const { signal } = this.#abort;
    if (!signal.aborted) return { stopReason: "error", error: toNanoAgentError(error) };
    const { deadline } = this.row;
    const { code, message } = toNanoAgentError(signal.reason);
    if (code === "timeout" && deadline !== null) return overdueEnd(deadline);
    return { stopReason: "aborted", detail: message };
  }

  /** Steering reaches the agent once, a cancel immediately; answers wait until the run asks for them. */
  #deliver(signals: readonly Signal[]): void {
    for (const signal of signals) {
      if (this.#delivered.has(signal.id)) continue;
      // Not stop(): a run that is about to begin must notice it too.
      if (signal.kind === "cancel")
        this.#abort.abort(new NanoAgentError("aborted", JSON.parse(signal.data) as string));
      if (signal.kind !== "steer" || this.#agent === undefined) continue;
      this.#delivered.add(signal.id);
      const id = this.#agent.steer(JSON.parse(signal.data) as string | readonly UserBlock[]);
      this.#journal?.expectSignals(id, [signal]);
    }
  }

  #watchDeadline(): void {
    const { deadline } = this.row;
    if (deadline === null) return;
    const { detail = "" } = overdueEnd(deadline);
    const stop = (): void => this.#abort.abort(new NanoAgentError("timeout", detail));
    this.#startTimer(deadline - Date.now(), stop);
  }

  #startTimer(ms: number, callback: () => void): void {
    this.#stopTimers.push(startTimer(systemClock, ms, callback));
  }
}

interface Answers {
  readonly approvals: Approvals;
  readonly messages: readonly Message[];
  /** Numbers of signals that answer nothing. */
  readonly stale: readonly number[];
  readonly isEmpty: boolean;
}

function answersIn(signals: readonly Signal[], state: SessionState): Answers {
  const open = new Map(pendingCalls(state).map((call) => [call.callId, call.waitsFor]));
  const approvals = new Map<string, ApprovalAnswer>();
  const results = new Map<string, UserBlock>();
  const stale: number[] = [];
  for (const { kind, call, data, number } of signals) {
    if (kind !== "approve" && kind !== "answer") continue;
    const waitsFor = call === null ? undefined : open.get(call);
    const question = call === null ? undefined : state.approvals.get(call);
    const isAsked =
      kind === "approve" ? question !== undefined && isAnswerTo(question, data) : waitsFor === "result";
    if (call === null || !isAsked) stale.push(number);
    else if ((kind === "approve" ? approvals : results).has(call)) continue;
    else if (kind === "approve") approvals.set(call, JSON.parse(data) as ApprovalAnswer);
    else results.set(call, { type: "tool_result", tool_use_id: call, content: JSON.parse(data) as string });
  }
  const content = [...results.values()];
  return {
    // The id of a call may be the name of a built-in object property.
    approvals: Object.fromEntries(approvals),
    messages: content.length === 0 ? [] : [{ role: "user", content }],
    stale,
    isEmpty: content.length === 0 && approvals.size === 0,
  };
}

/** True unless an answer names a different question from the open one. */
function isAnswerTo({ id }: ApprovalRequestEntry, data: string): boolean {
  const answer = JSON.parse(data) as ApprovalAnswer;
  return typeof answer !== "object" || (answer.question ?? id) === id;
}

/** The part of a run's input that is not in the journal yet. */
function remainingInput({ input }: RunRow, known: readonly JournalEntry[]): readonly GivenMessage[] {
  if (known.some(({ type }) => type === "history" || type === "assistant_message")) return [];
  const said = known.filter((entry) => entry.type === "user_message" && entry.source === "input").length;
  return (JSON.parse(input) as readonly GivenMessage[]).slice(said);
}

/** Throws `invalid_argument` if a function returned no agent, or one of another run. */
function assertAgentOf({ id, agent: name }: RunRow, agent: Agent | undefined): void {
  const problem = hasMethods(agent, ["ready", "run", "steer", "release"])
    ? agent?.sessionId !== id && "an agent with its own journal"
    : `${agent === undefined ? "nothing" : "something else"} instead of an Agent`;
  if (problem === false) return;
  throw invalidArgument(
    `agents.${name} gives ${problem}: write (host) => new Agent({ …, ...host }), with host last.`,
  );
}

/** True if it has ended and nothing was sent since; a retry continues it nevertheless. */
function isAnswered({ transcript, progress }: SessionState): boolean {
  return !progress.isOpen && !transcript.hasPending && transcript.messages.at(-1)?.role === "assistant";
}

export function releaseWarning(run: string, error: unknown): string {
  return `The run ${run} was released: ${errorMessage(error)}`;
}
