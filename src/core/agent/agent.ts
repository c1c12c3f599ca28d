import { type LinkedController, linkController } from "../base/abort.ts";
import { compileSchema } from "../base/compile-schema.ts";
import { type Json, NanoAgentError } from "../base/errors.ts";
import type { CompiledSchema, SchemaInput } from "../base/schema.ts";
import type { ToolInput, UserBlock } from "../message/block.ts";
import type { Input } from "../message/given-message.ts";
import type { Message } from "../message/message.ts";
import type { Effort, Model } from "../model/model.ts";
import { ToolRegistry } from "../tool/registry.ts";
import type { Tool, ToolResult } from "../tool/tool.ts";
import { ActiveRun } from "./active-run.ts";
import { AgentSession, type AgentState } from "./agent-session.ts";
import { type AgentStream, streamRun } from "./agent-stream.ts";
import { assertRunnable, goesOn } from "./begin-run.ts";
import { type Callbacks, callbackOptions } from "./callbacks.ts";
import { assertOptions, assertRunOptions } from "./check-options.ts";
import type { CompactionPreview } from "./compactor.ts";
import { runLoop } from "./converse.ts";
import { DirectCalls } from "./direct-calls.ts";
import type { CompactionEntry, NoteEntry } from "./entry.ts";
import type { AgentEvent } from "./event.ts";
import { finishTool } from "./finish-tool.ts";
import { ClassHooks, HookRegistry } from "./hook-registry.ts";
import { Hooks } from "./hooks.ts";
import { InMemoryMemory } from "./in-memory-memory.ts";
import { inputMessages, runMessages } from "./input-messages.ts";
import { LongTermControl } from "./long-term-control.ts";
import { compactOnRequest, previewCompaction, undoNewestCompaction } from "./make-room.ts";
import { chosenBy, makeRun, modelChange, rechosen } from "./make-run.ts";
import type {
  AgentOptions,
  CallToolOptions,
  CompactOptions,
  OutputOf,
  ResolvedOptions,
  RunOptions,
} from "./options.ts";
import { publisher } from "./publish.ts";
import { reply } from "./reply.ts";
import { isAnswered, RunError, type RunResult } from "./result.ts";
import { type ModelChoice, type Recorder, type RunContext, record } from "./run-context.ts";
import { type SteeringMessage, SteeringQueue } from "./steering.ts";

/**
 * A model, tools and a conversation. `run` and `stream` add to the conversation and work until an answer; they are the same loop.
 * One run at a time; any number of agents side by side.
 */
export class Agent {
  #options: ResolvedOptions;
  readonly #tools: ToolRegistry;
  readonly #hooks: HookRegistry;
  readonly #longTerm: LongTermControl | undefined;
  readonly #session: AgentSession;
  readonly #steering: SteeringQueue;
  /** The models that are asked, each wrapped once. */
  #choice: ModelChoice;
  /** What is to be told to the reader of the next run. */
  readonly #warnings: string[] = [];
  #running: ActiveRun | undefined;
  #conversation: InMemoryMemory | undefined;
  readonly #calls = new DirectCalls((...parts) => this.#context(...parts));

  /** Throws `invalid_argument` for options that cannot work. Makes no request and writes nothing. */
  constructor(given: AgentOptions) {
    const options = { ...given, model: this.#modelOf(given?.model) };
    assertOptions(options);
    this.#options = options;
    const { longTermMemory } = options;
    this.#longTerm = longTermMemory === undefined ? undefined : new LongTermControl(longTermMemory);
    this.#tools = new ToolRegistry([...(options.tools ?? []), ...(this.#longTerm?.tools() ?? [])]);
    this.#hooks = new HookRegistry(options.hooks);
    this.#steering = new SteeringQueue(options.newId);
    this.#choice = chosenBy(options);
    this.#session = new AgentSession(options);
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
    return this.#session.journal.sessionId;
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
  async setModel(
    model: string | Model,
    { effort }: { readonly effort?: Effort | undefined } = {},
  ): Promise<void> {
    this.#options = rechosen(this.#options, this.#modelOf(model), effort);
    this.#choice = chosenBy(this.#options);
    if (this.#session.state.isTouched) await record(this.#recorder(), modelChange(this.#options));
  }

  /** What the newest `mode_change` of the conversation says. */
  get mode(): string | undefined {
    return this.#session.state.mode;
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
   * Makes one call of a tool without a model, as a server of tools does: known?, valid?, hooks, permission, checkpoints and journal are those of
   * any call; the conversation does not change. Calls that are made side by side overlap unless they conflict. What goes wrong in the call is
   * an error result. Rejects with `invalid_argument` while a run is at work, and for the journal.
   */
  async callTool(name: string, input: ToolInput, options: CallToolOptions = {}): Promise<ToolResult> {
    this.#assertIdle("callTool()");
    return this.#calls.call(name, input, options);
  }

  /**
   * Adds what others said to the conversation without asking the model; it is there when the next run begins. While a run is at work
   * it waits for the end of that run. Rejects for a message of the assistant, an empty one, a hook that throws or is aborted with `signal`,
   * and a journal that cannot be written.
   */
  async observe(message: Input, { signal }: Pick<RunOptions, "signal"> = {}): Promise<void> {
    const hooks = this.#hooksOf(signal ?? new AbortController().signal, (text) => this.#warnings.push(text));
    await this.#session.observe(inputMessages(message), hooks);
    if (!this.isRunning) await this.#session.storeObserved(false);
  }

  /** Stops the run at work: model request and tools are aborted, the run ends with `aborted`. Nothing to do between runs. */
  stop(reason = "The run was stopped."): void {
    this.#running?.stop(reason);
  }

  /**
   * Lets go of the run at work without an ending: request and tools are aborted, nothing more is recorded, and the run rejects with
   * `aborted`. Its journal is that of a run that was cut: `run()` without an input goes on with it, here or elsewhere.
   */
  release(): void {
    this.#running?.release();
  }

  /**
   * Sends a message and returns the answer's text; the five-event view of {@link Agent.run}. A run that failed, or was stopped without
   * a text, rejects with {@link RunError}, which says how to go on.
   */
  async sendMessage(content: string, callbacks: Callbacks = {}): Promise<string> {
    const result = await this.run(content, callbackOptions(callbacks));
    if (result.error !== undefined || (result.text === "" && !isAnswered(result))) throw new RunError(result);
    return result.text;
  }

  /** The conversation and what it has used up so far. */
  getState(): AgentState {
    return this.#session.summary;
  }

  /** What {@link Agent.compact} would do. Asks no model and changes nothing. Rejects when the agent has no `compaction`. */
  async previewCompaction(): Promise<CompactionPreview> {
    await this.#session.begin();
    const idle = new ActiveRun(linkController(undefined));
    return previewCompaction(this.#context({}, idle, NOBODY));
  }

  /**
   * Makes the conversation fit now, whatever its size. Resolves to the record of it; `undefined` when the conversation stays as it is,
   * a `warning` event saying why. Rejects while a run is at work, when the agent has no `compaction`, and for the journal.
   */
  async compact(options: CompactOptions = {}): Promise<CompactionEntry | undefined> {
    this.#assertIdle("compact()");
    const active = new ActiveRun(linkController(options.signal));
    this.#running = active;
    try {
      await this.#session.begin();
      const run = this.#context({}, active, publisher(options, NOBODY));
      return await compactOnRequest(run, options.instructions);
    } finally {
      active.end();
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
    this.#session.reset();
    this.#steering.take();
  }

  /**
   * What a run does between the record of its input and its `done` event: the loop. A pattern overrides it with several nested runs and
   * ends with `endRun`; events, journal, limits, permission and abort are in `run` and stay as they are. {@link Agent.run} calls it.
   */
  conduct(run: RunContext): Promise<RunResult> {
    return runLoop(run);
  }

  /** The model a name stands for, and a model as it is. Here names stand for none: classes that know providers override it. */
  protected static modelOf(model: string | Model): Model {
    // The check of the options says what is wrong with a name.
    return model as Model;
  }

  #modelOf(model: string | Model): Model {
    return (this.constructor as typeof Agent).modelOf(model);
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
    const active = new ActiveRun(linked);
    const publish = publisher(options, push);
    const workedMs = goesOn(this.#session.state, messages) ? this.#session.state.progress.activeMs : 0;
    let run: RunContext;
    try {
      assertRunnable(this.#session.state, {
        messages,
        approvals: options.approvals,
        tools: this.#tools,
        history: this.#session.history,
        hasSteering: !this.#steering.isEmpty,
        isRunning: this.isRunning,
      });
      run = this.#context(options, active, publish, workedMs);
    } catch (error) {
      active.end();
      throw error;
    }
    this.#running = active;
    const { wallTimeMs } = run.budget;
    if (wallTimeMs !== undefined) active.limitWallTime(wallTimeMs, workedMs, run.clock);
    for (const message of this.#warnings.splice(0)) publish({ type: "warning", message });
    return reply(run, {
      messages,
      history: this.#session.history,
      longTerm: this.#longTerm,
      storeObserved: (closing) => this.#session.storeObserved(closing),
      conduct: (context) => this.conduct(context),
      publish,
      ended: () => {
        active.end();
        this.#running = undefined;
      },
    });
  }

  #assertIdle(what: string): void {
    if (!this.isRunning) return;
    throw new NanoAgentError("invalid_argument", `${what} while a run is at work: stop() it first.`);
  }

  #recorder(): Recorder {
    return this.#session.recorder(this.#running?.emit);
  }

  async #beforeEdit(): Promise<void> {
    this.#assertIdle("Editing the conversation");
    await this.#session.begin();
  }

  #context(
    options: RunOptions,
    active: ActiveRun,
    publish: (event: AgentEvent) => void,
    workedMs = 0,
  ): RunContext {
    const { signal } = active;
    const schema = options.schema === undefined ? undefined : compileSchema(options.schema);
    const hooks = this.#hooksOf(signal, (message) => publish({ type: "warning", message }));
    active.emit = (event) => hooks.print(event, publish);
    return makeRun({ ...this.#options, ...this.#choice }, options, {
      finish: this.finishToolFor(schema),
      workedMs,
      isReleased: () => active.isReleased,
      tools: this.#tools,
      choice: () => this.#choice,
      journal: this.#session.journal,
      state: this.#session.state,
      signal,
      hooks,
      takeSteering: () => this.#steering.take(),
      emit: active.emit,
    });
  }

  #hooksOf(signal: AbortSignal, warn: (message: string) => void): Hooks {
    const classes = Agent.#classHooks.chainOf(this.constructor);
    return new Hooks({ agent: this, classes, own: this.#hooks, signal, warn });
  }
}

const NOBODY = (): void => undefined;
