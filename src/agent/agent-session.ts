import type { AgentEvent, JournalEntry, NewEntry } from "../core/agent/entries.ts";
import { type Journal, MemoryJournal } from "../core/agent/journal.ts";
import {
  hasConversation,
  hasNewInput,
  isConversation,
  recordHistory,
  recordInterruption,
  resultsIn,
} from "../core/agent/perform.ts";
import type { Approvals, Fold } from "../core/agent/ports.ts";
import type { PendingCall } from "../core/agent/result.ts";
import { foldsOf, type Recorder, type RunPlugin, record } from "../core/agent/run.ts";
import { pendingCalls, SessionState } from "../core/agent/state.ts";
import { errorMessage, invalidArgument, isNanoAgentError, NanoAgentError } from "../core/base/errors.ts";
import { type NewId, newId } from "../core/base/ids.ts";
import {
  type Message,
  type ToolResultBlock,
  toolCallsOf,
  type UserBlock,
  type UserMessage,
} from "../core/message/message.ts";
import { repairTranscript } from "../core/message/transcript.ts";
import { isExternal, type ToolRegistry } from "../core/tool/tool.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { AgentOptions } from "./options.ts";

/**
 * Throws `invalid_argument` for approvals that match no call, results of calls that are not open, a run that
 * leaves open calls unanswered, and one with nothing to answer.
 */
export function assertRunnable(
  { state, history }: AgentSession,
  messages: readonly Message[],
  approvals: Approvals | undefined,
  tools: ToolRegistry,
  needsAnswer: boolean,
): void {
  assertApprovals(state, approvals, hasNewInput(messages));
  if (!isConversation(messages)) assertOpen(state, resultsIn(messages));
  if (messages.length > 0) return;
  // A resumed run first makes the calls that can run, then waits for the others.
  if (state.isWaiting) assertAnswered(state, tools, approvals);
  if (needsAnswer) assertResumable(state, history);
}

function assertResumable({ transcript, progress }: SessionState, history: readonly Message[]): void {
  const last = transcript.messages.at(-1) ?? history.at(-1);
  if (last?.role === "user" || transcript.hasPending) return;
  // The run was cut right after its answer and only has to end.
  if (progress.isOpen && progress.answer !== undefined) return;
  throw invalidArgument("There is nothing for the model to answer: pass an input.");
}

function assertAnswered(state: SessionState, tools: ToolRegistry, approvals: Approvals = {}): void {
  if (Object.keys(approvals).length > 0) return;
  const open = pendingCalls(state).filter(
    ({ name, waitsFor }) => waitsFor === "approval" || isExternal(tools, name),
  );
  if (open.length === 0) return;
  throw invalidArgument(
    `Tool calls wait for your answer: ${open.map(describe).join(", ")}. Pass ${howToAnswer(open)}.`,
  );
}

function assertApprovals(state: SessionState, approvals: Approvals | undefined, hasInput: boolean): void {
  const ids = Object.keys(approvals ?? {});
  if (ids.length === 0) return;
  const answered = answeredCalls(state);
  const unknown = ids.filter((id) => !state.approvals.has(id) && !answered.has(id));
  if (unknown.length > 0) {
    const open = [...state.approvals.values()].map(describe).join(", ");
    throw invalidArgument(
      `approvals answers ${unknown.map((id) => JSON.stringify(id)).join(", ")}, which does not wait for approval. Waiting: ${open === "" ? "none" : open}.`,
    );
  }
  if (!hasInput) return;
  throw invalidArgument(
    "approvals and a message: a message closes the calls that wait. Pass the approvals alone, and say the rest with steer().",
  );
}

/**
 * The calls of the newest answer that are decided, running or done. Answers about them are ignored, so a
 * caller may repeat stored answers.
 */
function answeredCalls(state: SessionState): ReadonlySet<string> {
  const { messages, pending } = state.transcript;
  const answer = messages.findLast(({ role }) => role === "assistant");
  const calls = new Set(answer === undefined ? [] : toolCallsOf(answer).map(({ id }) => id));
  for (const { id } of pending) {
    const { begun, decision } = state.open.get(id) ?? {};
    if ((begun ?? decision) === undefined) calls.delete(id);
  }
  return calls;
}

function describe({ name, callId }: { readonly name: string; readonly callId: string }): string {
  return `${name} (${callId})`;
}

function howToAnswer(open: readonly PendingCall[]): string {
  const ways = [
    ...(open.some(({ waitsFor }) => waitsFor === "approval")
      ? ["approvals: { [callId]: true } as an option"]
      : []),
    ...(open.some(({ waitsFor }) => waitsFor === "result") ? ["their tool_result blocks as input"] : []),
  ];
  return ways.join(", or ");
}

function assertOpen({ transcript }: SessionState, results: readonly ToolResultBlock[]): void {
  const open = new Set(transcript.pending.map(({ id }) => id));
  for (const { tool_use_id: id } of results) {
    if (open.delete(id)) continue;
    const ids = transcript.pending.map((call) => call.id).join(", ") || "none";
    throw invalidArgument(`The input answers the tool call "${id}", which is not open. Open calls: ${ids}.`);
  }
}

/** A message of {@link import("./agent.ts").Agent.steer} that no run has taken in yet. */
export interface SteeringMessage {
  readonly id: string;
  readonly content: readonly UserBlock[];
}

/** The messages waiting for the next model request, in order. */
export class SteeringQueue {
  readonly #newId: NewId;
  #waiting: SteeringMessage[] = [];

  constructor(ids: NewId = newId) {
    this.#newId = ids;
  }

  get messages(): readonly SteeringMessage[] {
    return this.#waiting.slice();
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(content: readonly UserBlock[]): string {
    const id = this.#newId("steering");
    this.#waiting.push({ id, content });
    return id;
  }

  remove(id: string): boolean {
    const at = this.#waiting.findIndex((each) => each.id === id);
    if (at !== -1) this.#waiting.splice(at, 1);
    return at !== -1;
  }

  take(): readonly NewEntry[] {
    return this.#waiting.splice(0).map(({ id, content }) => ({
      type: "user_message",
      message: { role: "user", content },
      source: "steering",
      steeringId: id,
    }));
  }
}

/** The result of {@link import("./agent.ts").Agent.getState}. */
export interface AgentState {
  readonly messages: readonly Message[];
  readonly totalTokens: { readonly input: number; readonly output: number };
  /** USD over all runs; `undefined` if a price is unknown. */
  readonly totalCost: number | undefined;
}

/** The conversation of one agent: its journal, the fold of it, and what waits to be recorded. */
export class AgentSession {
  readonly #options: AgentOptions;
  readonly #folds: readonly (new () => Fold)[];
  #journal: Journal;
  #state: SessionState;
  #history: readonly Message[];
  #observed: NewEntry[] = [];
  /** The entries of an asynchronous journal, until they are read. */
  #unread: AsyncIterable<JournalEntry> | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: AgentOptions, plugins: readonly RunPlugin[]) {
    this.#options = options;
    this.#folds = foldsOf(plugins);
    this.#state = new SessionState(this.#folds);
    this.#history = options.messages === undefined ? [] : repairTranscript(options.messages);
    this.#journal = options.journal ?? this.#newJournal(options.sessionId);
    try {
      const entries = this.#journal.entries();
      if (Symbol.iterator in entries) for (const entry of entries) this.#state.apply(entry);
      else this.#unread = entries;
    } catch (error) {
      throw notRead(error);
    }
  }

  get journal(): Journal {
    return this.#journal;
  }

  /** Throws `invalid_argument` until the journal is read. */
  get state(): SessionState {
    if (this.#unread === undefined) return this.#state;
    throw invalidArgument(
      "This agent has not read its journal yet: await agent.ready() before you look at the conversation.",
    );
  }

  /** Does something once the journal is read. Rejects with `journal` if it cannot be. */
  whenRead<T>(work: () => Promise<T>): Promise<T> {
    if (this.#unread === undefined) return work();
    this.#reading ??= this.#read(this.#unread).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading.then(work);
  }

  get history(): readonly Message[] {
    return this.#history;
  }

  get summary(): AgentState {
    const { state } = this;
    const { usage, costUsd } = state.session;
    return {
      messages: (hasConversation(state) ? state.transcript.messages : this.#history).slice(),
      totalTokens: { input: usage.inputTokens, output: usage.outputTokens },
      totalCost: costUsd,
    };
  }

  recorder(emit: (event: AgentEvent) => void = () => undefined): Recorder {
    return { journal: this.#journal, state: this.state, scope: undefined, emit };
  }

  begin(): Promise<void> {
    return recordHistory(this.recorder(), this.#history);
  }

  /**
   * Passes what others said through the hooks, for {@link AgentSession.storeObserved}. Throws what a hook
   * throws.
   */
  async observe(messages: readonly UserMessage[], hooks: Hooks): Promise<void> {
    for (const message of messages) {
      const args = await hooks.pre("observe", { message });
      this.#observed.push({ type: "user_message", message: args.message, source: "observed" });
      await hooks.post("observe", args, undefined);
    }
  }

  /**
   * Records observed messages. Recording would close calls that wait, so unless something else does that
   * (`closing`), it is postponed until they are answered. `openCalls`: how a resumed run would treat them.
   */
  async storeObserved(
    closing: boolean,
    openCalls: AgentOptions["openCalls"] = this.#options.openCalls,
  ): Promise<void> {
    if (this.#observed.length === 0 || (!closing && this.#waits(openCalls))) return;
    const observed = this.#observed.splice(0);
    await this.begin();
    await recordInterruption(this.recorder());
    for (const entry of observed) await record(this.recorder(), entry);
  }

  /** True while calls are open that may still be completed, including those of a run that was killed. */
  #waits(openCalls: AgentOptions["openCalls"]): boolean {
    const state = this.#state;
    const isOutside = (id: string): boolean => {
      const { question, handedOut, decision } = state.open.get(id) ?? {};
      return question !== undefined || handedOut === true || decision?.external === true;
    };
    return state.transcript.pending.some(({ id }) => openCalls === "run" || isOutside(id));
  }

  reset(): void {
    if (this.#options.journal !== undefined)
      throw invalidArgument("reset() would split the journal that was passed in: make a new agent instead.");
    this.#journal = this.#newJournal(undefined);
    this.#state = new SessionState(this.#folds);
    this.#history = [];
    this.#observed = [];
  }

  async #read(entries: AsyncIterable<JournalEntry>): Promise<void> {
    const state = new SessionState(this.#folds);
    try {
      for await (const entry of entries) state.apply(entry);
    } catch (error) {
      // A second attempt starts with the first entry.
      this.#unread = this.#journal.entries() as AsyncIterable<JournalEntry>;
      throw notRead(error);
    }
    this.#state = state;
    this.#unread = undefined;
  }

  #newJournal(sessionId: string | undefined): Journal {
    const { clock, newId } = this.#options;
    return new MemoryJournal({ sessionId, newId, ...(clock && { now: () => clock.now() }) });
  }
}

function notRead(error: unknown): NanoAgentError {
  if (isNanoAgentError(error)) return error;
  return new NanoAgentError("journal", `The journal could not be read: ${errorMessage(error)}`, {
    cause: error,
  });
}
