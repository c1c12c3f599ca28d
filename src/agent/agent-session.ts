import { hasConversation, recordHistory, recordInterruption } from "../core/agent/begin-run.ts";
import type { JournalEntry, NewEntry } from "../core/agent/entry.ts";
import type { AgentEvent } from "../core/agent/event.ts";
import type { Journal } from "../core/agent/journal.ts";
import { MemoryJournal } from "../core/agent/memory-journal.ts";
import type { Fold } from "../core/agent/plugin.ts";
import { foldsOf } from "../core/agent/plugins.ts";
import { type Recorder, type RunPlugin, record } from "../core/agent/run-context.ts";
import { SessionState } from "../core/agent/session-state.ts";
import { errorMessage, isNanoAgentError, misuse, NanoAgentError } from "../core/base/errors.ts";
import type { Message, UserMessage } from "../core/message/message.ts";
import { repairTranscript } from "../core/message/transcript.ts";
import type { Hooks } from "../plugins/hooks.ts";
import type { AgentOptions } from "./options.ts";

/** The answer of {@link import("./agent.ts").Agent.getState}. */
export interface AgentState {
  readonly messages: readonly Message[];
  readonly totalTokens: { readonly input: number; readonly output: number };
  /** USD over all runs; `undefined` when a price is unknown. */
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
  /** The entries so far of a journal that takes time to read, until they are read. */
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

  /** Throws `invalid_argument` as long as the journal is not read. */
  get state(): SessionState {
    if (this.#unread === undefined) return this.#state;
    throw misuse(
      "The journal of this agent is not read yet: await agent.ready() before you look at the conversation.",
    );
  }

  /** Does something once the conversation is read. Rejects with `journal` when it cannot be. */
  whenRead<T>(work: () => Promise<T>): Promise<T> {
    if (this.#unread === undefined) return work();
    this.#reading ??= this.#read(this.#unread).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading.then(work);
  }

  /** The messages a conversation begins with, as long as the journal has nothing. */
  get history(): readonly Message[] {
    return this.#history;
  }

  /** The conversation and what it has used up so far. */
  get summary(): AgentState {
    const { state } = this;
    const { usage, costUsd } = state.session;
    return {
      messages: (hasConversation(state) ? state.transcript.messages : this.#history).slice(),
      totalTokens: { input: usage.inputTokens, output: usage.outputTokens },
      totalCost: costUsd,
    };
  }

  /** Records into the conversation; `emit` publishes what was recorded. */
  recorder(emit: (event: AgentEvent) => void = () => undefined): Recorder {
    return { journal: this.#journal, state: this.state, scope: undefined, emit };
  }

  /** Records what the conversation begins with, unless it has begun. */
  begin(): Promise<void> {
    return recordHistory(this.recorder(), this.#history);
  }

  /** Takes in what others said, for {@link AgentSession.storeObserved}. Throws what a hook throws. */
  async observe(messages: readonly UserMessage[], hooks: Hooks): Promise<void> {
    for (const message of messages) {
      const args = await hooks.pre("observe", { message });
      this.#observed.push({ type: "user_message", message: args.message, source: "observed" });
      await hooks.post("observe", args, undefined);
    }
  }

  /**
   * Records what was observed. It would close calls that wait: unless something else does (`closing`), it
   * waits until they are answered. `openCalls`: how a run would go on with them.
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

  /** True while calls are open that can still come to their end, also of a run that was killed. */
  #waits(openCalls: AgentOptions["openCalls"]): boolean {
    const state = this.#state;
    const isOutside = (id: string): boolean =>
      state.approvals.has(id) || state.isHandedOut(id) || state.decision(id)?.external === true;
    return state.transcript.pending.some(({ id }) => openCalls === "run" || isOutside(id));
  }

  /** Begins anew. Throws `invalid_argument` when the journal was passed in. */
  reset(): void {
    if (this.#options.journal !== undefined)
      throw misuse("reset() would split the journal that was passed in: make a new agent instead.");
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
      // Whoever tries again begins at the first entry.
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
