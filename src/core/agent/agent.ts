import { type LinkedController, linkController } from "../base/abort.ts";
import { compileSchema } from "../base/compile-schema.ts";
import { type Json, NanoAgentError } from "../base/errors.ts";
import type { CompiledSchema, SchemaInput } from "../base/schema.ts";
import type { UserBlock } from "../message/block.ts";
import type { Input } from "../message/given-message.ts";
import type { Message } from "../message/message.ts";
import { repairTranscript } from "../message/transcript.ts";
import type { Effort, Model } from "../model/model.ts";
import { ToolRegistry } from "../tool/registry.ts";
import type { Tool } from "../tool/tool.ts";
import { type AgentState, agentState } from "./agent-state.ts";
import { type AgentStream, streamRun } from "./agent-stream.ts";
import { assertRunnable, recordHistory, recordInterruption } from "./begin-run.ts";
import { type Callbacks, callbackOptions } from "./callbacks.ts";
import { assertOptions, assertPriced, assertRunOptions } from "./check-options.ts";
import { ClassHooks } from "./class-hooks.ts";
import type { CompactionPreview } from "./compactor.ts";
import { runLoop } from "./converse.ts";
import type { CompactionEntry, NewEntry, NoteEntry } from "./entry.ts";
import type { AgentEvent } from "./event.ts";
import { finishTool } from "./finish-tool.ts";
import { HookRegistry } from "./hook-registry.ts";
import { Hooks } from "./hooks.ts";
import { InMemoryMemory } from "./in-memory-memory.ts";
import { inputMessages, runMessages } from "./input-messages.ts";
import type { Journal } from "./journal.ts";
import { wallTimer } from "./limits.ts";
import { LongTermControl } from "./long-term-control.ts";
import { compactOnRequest, previewCompaction, undoNewestCompaction } from "./make-room.ts";
import { makeRun } from "./make-run.ts";
import { MemoryJournal } from "./memory-journal.ts";
import type { AgentOptions, CompactOptions, OutputOf, RunOptions } from "./options.ts";
import { publisher } from "./publish.ts";
import { reply } from "./reply.ts";
import type { RunResult } from "./result.ts";
import { type Recorder, type RunContext, record } from "./run-context.ts";
import { SessionState } from "./session-state.ts";
import { type SteeringMessage, SteeringQueue } from "./steering.ts";

/**
 * A model, tools and a conversation. `run` and `stream` add to the conversation and work until an answer; they are the same loop.
 * One run at a time; any number of agents side by side.
 */
export class Agent {
  #options: AgentOptions;
  readonly #tools: ToolRegistry;
  readonly #hooks: HookRegistry;
  readonly #longTerm: LongTermControl | undefined;
  #journal: Journal;
  #state: SessionState;
  /** What the conversation begins with, as long as the journal has nothing. */
  #history: readonly Message[];
  readonly #steering = new SteeringQueue();
  #observed: NewEntry[] = [];
  /** What is to be told to the reader of the next run. */
  readonly #warnings: string[] = [];
  #running: AbortController | undefined;
  /** Where entries are published that are recorded beside the run at work. */
  #emit: (event: AgentEvent) => void = NOBODY;
  #conversation: InMemoryMemory | undefined;

  /** Throws `invalid_argument` for options that cannot work. Makes no request and writes nothing. */
  constructor(options: AgentOptions) {
    assertOptions(options);
    this.#options = options;
    const { longTermMemory, messages } = options;
    this.#history = messages === undefined ? [] : repairTranscript(messages);
    this.#longTerm = longTermMemory === undefined ? undefined : new LongTermControl(longTermMemory);
    this.#tools = new ToolRegistry([...(options.tools ?? []), ...(this.#longTerm?.tools() ?? [])]);
    this.#hooks = new HookRegistry(options.hooks);
    this.#journal = options.journal ?? new MemoryJournal(options);
    this.#state = new SessionState();
    for (const entry of this.#journal.entries()) this.#state.apply(entry);
  }

  static readonly #classHooks = new ClassHooks();

  /** Hooks of every agent of this class and the classes that extend it, those of live agents included. They run before an agent's own. */
  static get classHooks(): HookRegistry {
    return Agent.#classHooks.of(this);
  }

  /** Hooks of this agent alone. They run after those of its class. */
  get hooks(): HookRegistry {
    return this.#hooks;
  }

  /** Name of the conversation. */
  get sessionId(): string {
    return this.#journal.sessionId;
  }

  /** The agent's tools; what is added or removed counts from the next model request on. */
  get tools(): ToolRegistry {
    return this.#tools;
  }

  /** The messages of the conversation, to look at, and between runs to edit. */
  get conversation(): InMemoryMemory {
    return (this.#conversation ??= new InMemoryMemory({
      host: { recorder: () => this.#recorder(), beforeChange: () => this.#beforeEdit() },
    }));
  }

  /** True while a run is at work. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Runs until an answer or a stop reason; see {@link RunResult}. `input` may be left out to go on with a conversation that waits
   * for the model. Rejects for misuse, a journal that cannot be written, and `onMaxIterations: "throw"`.
   */
  async run<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options: RunOptions<S> = {},
  ): Promise<RunResult<OutputOf<S>>> {
    assertRunOptions(options);
    const messages = runMessages(input);
    const result = this.#perform(messages, options, { linked: linkController(options.signal), push: NOBODY });
    return result as Promise<RunResult<OutputOf<S>>>;
  }

  /** The same as {@link Agent.run}, event by event. Nothing happens before the first event is asked for. */
  stream<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options: RunOptions<S> = {},
  ): AgentStream<OutputOf<S>> {
    assertRunOptions(options);
    const messages = runMessages(input);
    return streamRun(options.signal, (linked, push) => this.#perform(messages, options, { linked, push }));
  }

  /**
   * A message that reaches the model at its next request, while a run is at work; between runs, with the next run. Text that
   * arrives when the model is about to end makes it go on. Returns an id, which the entry bears that is written when the message is
   * taken in.
   */
  steer(message: string | readonly UserBlock[]): string {
    return this.#steering.add(
      inputMessages(message).flatMap(({ content }) => content as readonly UserBlock[]),
    );
  }

  /** Messages of {@link Agent.steer} that no run has taken in yet, in order. */
  get pendingSteering(): readonly SteeringMessage[] {
    return this.#steering.messages;
  }

  /** Takes a message of {@link Agent.steer} back. False when a run has taken it in, or there was none of that id. */
  unsteer(id: string): boolean {
    return this.#steering.remove(id);
  }

  /** The model that is asked. */
  get model(): Model {
    return this.#options.model;
  }

  /** How much reasoning it is asked for; `undefined` for the provider's default. */
  get effort(): Effort | undefined {
    return this.#options.effort;
  }

  /**
   * Another model, effort or both, from the next model request on: also while a run is at work. Without `effort` it is the provider's
   * default; `setModel(agent.model, { effort })` changes the effort alone. A run records what it begins with; a change after the first run
   * began is an entry, stored when the promise resolves. Rejects with `invalid_argument` for what is no model or effort and for a model
   * of unknown price under a budget in money, and for the journal.
   */
  async setModel(model: Model, { effort }: { readonly effort?: Effort | undefined } = {}): Promise<void> {
    const { effort: _before, ...others } = this.#options;
    const chosen = effort === undefined ? {} : { effort };
    const options: AgentOptions = { ...others, model, ...chosen };
    assertOptions(options);
    assertPriced(options);
    this.#options = options;
    if (!this.#state.isTouched) return;
    await record(this.#recorder(), {
      type: "model_change",
      model: `${model.provider}/${model.id}`,
      ...chosen,
    });
  }

  /** What the newest `mode_change` of the conversation says. */
  get mode(): string | undefined {
    return this.#state.mode;
  }

  /** Records that the host works in another mode. The loop does not depend on it. Rejects for the journal. */
  async setMode(mode: string): Promise<void> {
    await record(this.#recorder(), { type: "mode_change", mode });
  }

  /**
   * Keeps something of the host's own in the journal, at any time: `kind` names what `data` is. Resolves to the entry once it is stored; a
   * run at work publishes it. Rejects for the journal.
   */
  async note(kind: string, data: Json): Promise<NoteEntry> {
    return (await record(this.#recorder(), { type: "note", kind, data })) as NoteEntry;
  }

  /**
   * Adds what others said to the conversation without asking the model; it is there when the next run begins. While a run is at work
   * it waits for the end of that run. Rejects for a message of the assistant, an empty one, a hook that throws or is aborted with `signal`,
   * and a journal that cannot be written.
   */
  async observe(message: Input, { signal }: Pick<RunOptions, "signal"> = {}): Promise<void> {
    const hooks = this.#hooksOf(signal ?? new AbortController().signal, (text) => this.#warnings.push(text));
    for (const each of inputMessages(message)) {
      if (each.role !== "user")
        throw new NanoAgentError("invalid_argument", "observe() takes messages of users: set role to user.");
      const args = hooks.has("pre_observe")
        ? await hooks.pre("observe", { message: each })
        : { message: each };
      this.#observed.push({ type: "user_message", message: args.message, source: "observed" });
      if (hooks.has("post_observe")) await hooks.post("observe", args, undefined);
    }
    if (this.#running === undefined) await this.#storeObserved();
  }

  /** Stops the run at work: model request and tools are aborted, the run ends with `aborted`. Nothing to do between runs. */
  stop(reason = "The run was stopped."): void {
    this.#running?.abort(new NanoAgentError("aborted", reason));
  }

  /** Sends a message and returns the answer's text; the five-event view of {@link Agent.run}. Throws what made the run fail. */
  async sendMessage(content: string, callbacks: Callbacks = {}): Promise<string> {
    const result = await this.run(content, callbackOptions(callbacks));
    if (result.error !== undefined) throw result.error;
    return result.text;
  }

  /** The conversation and what it has used up so far. */
  getState(): AgentState {
    return agentState(this.#state, this.#history);
  }

  /** What {@link Agent.compact} would do. Asks no model and changes nothing. Rejects when the agent has no `compaction`. */
  async previewCompaction(): Promise<CompactionPreview> {
    await recordHistory(this.#recorder(), this.#history);
    return previewCompaction(this.#context({}, new AbortController().signal, () => undefined));
  }

  /**
   * Makes the conversation fit now, whatever its size. Resolves to the record of it; `undefined` when the conversation stays as it is,
   * a `warning` event saying why. Rejects while a run is at work, when the agent has no `compaction`, and for the journal.
   */
  async compact(options: CompactOptions = {}): Promise<CompactionEntry | undefined> {
    this.#assertIdle("compact()");
    const { controller, unlink } = linkController(options.signal);
    this.#running = controller;
    try {
      await recordHistory(this.#recorder(), this.#history);
      const publish = publisher(options, () => undefined);
      const run = this.#context({}, controller.signal, publish);
      return await compactOnRequest(run, options.instructions);
    } finally {
      unlink();
      this.#running = undefined;
    }
  }

  /**
   * Takes the newest compaction back: the conversation is what it was, with what came after. From then on one is made only on request
   * or when the provider refuses a request as too long. Rejects when there is none to take back, while a run is at work, and for the journal.
   */
  async undoCompaction(): Promise<void> {
    this.#assertIdle("undoCompaction()");
    await undoNewestCompaction(this.#recorder());
  }

  /** Starts a new, empty conversation. Throws `invalid_argument` while a run is at work, or when the journal was passed in. */
  reset(): void {
    this.#assertIdle("reset()");
    if (this.#options.journal !== undefined)
      throw new NanoAgentError(
        "invalid_argument",
        "reset() would split the journal that was passed in: make a new agent instead.",
      );
    this.#journal = new MemoryJournal();
    this.#state = new SessionState();
    this.#history = [];
    this.#steering.take();
    this.#observed = [];
  }

  /**
   * What a run does between the record of its input and its `done` event: the loop. A pattern does several nested runs instead and
   * ends with `endRun`; events, journal, limits, permission and abort are in `run` and stay as they are.
   */
  protected conduct(run: RunContext): Promise<RunResult> {
    return runLoop(run);
  }

  /** The tool a run must end with, given the schema of the value wanted; `undefined` when a text ends it. */
  protected finishToolFor(schema: CompiledSchema | undefined): Tool | undefined {
    return schema === undefined ? undefined : finishTool(schema);
  }

  /** Begins a run. Throws for misuse; what comes later rejects. */
  #perform(
    messages: readonly Message[],
    options: RunOptions,
    { linked, push }: { readonly linked: LinkedController; readonly push: (event: AgentEvent) => void },
  ): Promise<RunResult> {
    const { controller, unlink } = linked;
    const publish = publisher(options, push);
    let run: RunContext;
    try {
      assertRunnable(this.#state, {
        messages,
        approvals: options.approvals,
        tools: this.#tools,
        history: this.#history,
        hasSteering: !this.#steering.isEmpty,
        isRunning: this.isRunning,
      });
      run = this.#context(options, controller.signal, publish);
    } catch (error) {
      unlink();
      throw error;
    }
    this.#running = controller;
    this.#emit = run.emit;
    const wall = wallTimer(this.#options.budget?.wallTimeMs, controller);
    for (const message of this.#warnings.splice(0)) publish({ type: "warning", message });
    return reply(run, {
      messages,
      history: this.#history,
      longTerm: this.#longTerm,
      storeObserved: (closing) => (this.#observed.length > 0 ? this.#storeObserved(closing) : undefined),
      conduct: (context) => this.conduct(context),
      publish,
      ended: () => {
        clearTimeout(wall);
        unlink();
        this.#running = undefined;
        this.#emit = NOBODY;
      },
    });
  }

  #assertIdle(what: string): void {
    if (!this.isRunning) return;
    throw new NanoAgentError("invalid_argument", `${what} while a run is at work: stop() it first.`);
  }

  #recorder(): Recorder {
    return { journal: this.#journal, state: this.#state, scope: undefined, emit: this.#emit };
  }

  async #beforeEdit(): Promise<void> {
    this.#assertIdle("Editing the conversation");
    await recordHistory(this.#recorder(), this.#history);
  }

  /** A message would close calls that wait: unless something else does (`closing`), it waits until they are answered. */
  async #storeObserved(closing = false): Promise<void> {
    if (!closing && this.#state.isWaiting) return;
    const recorder = this.#recorder();
    const observed = this.#observed.splice(0);
    if (observed.length === 0) return;
    await recordHistory(recorder, this.#history);
    await recordInterruption(recorder);
    for (const entry of observed) await record(recorder, entry);
  }

  #context(options: RunOptions, signal: AbortSignal, emit: (event: AgentEvent) => void): RunContext {
    assertPriced(this.#options);
    const schema = options.schema === undefined ? undefined : compileSchema(options.schema);
    const hooks = this.#hooksOf(signal, (message) => emit({ type: "warning", message }));
    return makeRun(this.#options, options, {
      finish: this.finishToolFor(schema),
      tools: this.#tools,
      choice: () => this.#options,
      journal: this.#journal,
      state: this.#state,
      signal,
      hooks,
      takeSteering: () => this.#steering.take(),
      emit: (event) => hooks.print(event, emit),
    });
  }

  #hooksOf(signal: AbortSignal, warn: (message: string) => void): Hooks {
    const classes = Agent.#classHooks.chainOf(this.constructor);
    return new Hooks({ agent: this, classes, own: this.#hooks, signal, warn });
  }
}

const NOBODY = (): void => undefined;
