import type { CompactionEntry, JournalEntry, NewEntry, NoteEntry } from "../core/agent/entries.ts";
import { loop } from "../core/agent/loop.ts";
import { endRun, hasNewInput, isContinuation, perform } from "../core/agent/perform.ts";
import { RunError, type RunResult, type StructuredResult } from "../core/agent/result.ts";
import {
  type ModelSelection,
  newRun,
  type Recorder,
  type Run,
  type RunPlugin,
  record,
  type SharedParts,
} from "../core/agent/run.ts";
import { nestedCaller, Scheduler } from "../core/agent/run-calls.ts";
import { LinkedAbort, systemClock } from "../core/base/async.ts";
import { compileSchema } from "../core/base/compile-schema.ts";
import { invalidArgument, type Json } from "../core/base/errors.ts";
import { newId } from "../core/base/ids.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { CompiledSchema, SchemaInput } from "../core/base/schema.ts";
import { isNormalEnd } from "../core/base/stop-reason.ts";
import { type Input, runMessages, toUserMessages } from "../core/message/input.ts";
import type { Message, ToolInput, UserBlock } from "../core/message/message.ts";
import type { Effort, Model } from "../core/model/model.ts";
import { type Tool, ToolRegistry, type ToolResult } from "../core/tool/tool.ts";
import { finishTool } from "../hooks/finish-tool.ts";
import { ClassHooks, HookRegistry, Hooks, type HooksContext } from "../hooks/hooks.ts";
import { stopWhenPlugin } from "../hooks/stop-when.ts";
import {
  type CompactionPreview,
  type CompactOptions,
  compactOnRequest,
  previewCompaction,
  undoNewestCompaction,
} from "../memory/context/compactor.ts";
import { InMemoryMemory } from "../memory/in-memory-memory.ts";
import { namedModel } from "../providers/named-model.ts";
import {
  ActiveRun,
  agentPlugins,
  modelSelectionOf,
  noop,
  type Publish,
  publisher,
  requestFields,
  runTools,
  withModel,
} from "./active-run.ts";
import {
  AgentSession,
  type AgentState,
  assertRunnable,
  type SteeringMessage,
  SteeringQueue,
} from "./agent-session.ts";
import { type AgentStream, type Callbacks, callbackOptions, RunStream } from "./agent-stream.ts";
import {
  type AgentOptions,
  assertOptions,
  assertPriced,
  assertRunOptions,
  type CallToolOptions,
  type OutputOf,
  type ResolvedOptions,
  type RunOptions,
} from "./options.ts";
import { runSubagent } from "./run-subagent.ts";

/**
 * A model, tools and a conversation. `run` and `stream` are the same loop: they add to the conversation and
 * work until there is an answer. An agent has one run at a time; any number of agents work side by side. The
 * model may be a name, `provider/id[:effort]`. The name is checked in the constructor (`invalid_argument`,
 * `unknown_provider`); its key is read from the environment at the first request.
 */
export class Agent {
  #options: ResolvedOptions;
  readonly #tools: ToolRegistry;
  readonly #hooks: HookRegistry;
  readonly #session: AgentSession;
  readonly #steering: SteeringQueue;
  readonly #plugins: readonly RunPlugin[];
  readonly #warnings: string[] = [];
  /** Orders calls made without a model; see {@link Agent.callTool}. */
  readonly #calls = new Scheduler(MAX_CALLS);
  /** The wrapped models, each wrapped once. */
  #choice: ModelSelection;
  #current: ActiveRun | undefined;
  #conversation: InMemoryMemory | undefined;

  /** Throws `invalid_argument` for invalid options. Makes no request and writes nothing. */
  constructor(given: AgentOptions) {
    const options = { ...given, model: modelOf(given?.model) };
    assertOptions(options);
    this.#options = options;
    this.#plugins = agentPlugins(options);
    this.#tools = new ToolRegistry([
      ...(options.tools ?? []),
      ...this.#plugins.flatMap(({ tools }) => tools ?? []),
    ]);
    this.#hooks = new HookRegistry(options.hooks);
    this.#steering = new SteeringQueue(options.newId);
    this.#choice = modelSelectionOf(options);
    this.#session = new AgentSession(options, this.#plugins);
  }

  static readonly #classHooks = new ClassHooks();

  /**
   * Hooks of all agents of this class and its subclasses, existing ones too. They run before an agent's own.
   */
  static get classHooks(): HookRegistry {
    return Agent.#classHooks.of(this);
  }

  /** Hooks of this agent only. They run after those of its class. */
  get hooks(): HookRegistry {
    return this.#hooks;
  }

  /** Id of the conversation. */
  get sessionId(): string {
    return this.#session.journal.sessionId;
  }

  /**
   * Resolves when the conversation is loaded: at once, unless `entries()` of the journal is asynchronous.
   * Runs and changes wait for it on their own; until then `getState()`, `mode` and the messages of
   * `conversation` throw `invalid_argument`. Rejects if the journal cannot be read.
   */
  ready(): Promise<void> {
    return this.#session.whenRead(async () => undefined);
  }

  /** The agent's tools; changes take effect with the next model request. */
  get tools(): ToolRegistry {
    return this.#tools;
  }

  /** The messages of the conversation; between runs they can be edited. */
  get conversation(): InMemoryMemory {
    return (this.#conversation ??= new InMemoryMemory({
      host: {
        recorder: () => this.#recorder,
        beforeChange: () =>
          this.#session.whenRead(() => {
            this.#assertIdle("Editing the conversation");
            return this.#session.begin();
          }),
      },
    }));
  }

  /** True while a run is in progress. */
  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /**
   * Runs until there is an answer or another stop reason; see {@link RunResult}. Without `input`, continues a
   * conversation in which the model is next. Rejects for misuse, if the journal cannot be written, and for
   * `onMaxIterations: "throw"`.
   */
  async run<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options: RunOptions<S> = {},
  ): Promise<RunResult<OutputOf<S>>> {
    assertRunOptions(options);
    const messages = runMessages(input);
    const result = this.#session.whenRead(() =>
      this.#begin(messages, options, new LinkedAbort(options.signal), noop),
    );
    return result as Promise<RunResult<OutputOf<S>>>;
  }

  /**
   * {@link Agent.run} with exceptions: rejects with {@link RunError} for every run without an answer, or,
   * given a `schema`, without the value.
   */
  runOrThrow<const S extends SchemaInput>(
    input: Input | undefined,
    options: RunOptions<S> & { readonly schema: S },
  ): Promise<StructuredResult<OutputOf<S>>>;
  runOrThrow(input?: Input, options?: RunOptions): Promise<RunResult>;
  async runOrThrow(input?: Input, options: RunOptions = {}): Promise<RunResult> {
    const result = await this.run(input, options);
    const isThere =
      options.schema === undefined
        ? isNormalEnd(result.stopReason)
        : result.stopReason === "structured_output";
    if (!isThere) throw new RunError(result);
    return result;
  }

  /** {@link Agent.run} event by event. Nothing happens until an event or `result` is requested. */
  stream<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options: RunOptions<S> = {},
  ): AgentStream<OutputOf<S>> {
    assertRunOptions(options);
    const messages = runMessages(input);
    return new RunStream(options.signal, (linked, push) =>
      this.#session.whenRead(() => this.#begin(messages, options, linked, push)),
    );
  }

  /**
   * Sends a message that reaches the model with the next request of the run in progress, or with the next
   * run. A message that arrives as the model is about to finish makes it continue. Returns an id, which is on
   * the entry written when the message is taken in. Throws `invalid_argument` for an empty message, an
   * assistant message, or the result of a call.
   */
  steer(message: string | readonly UserBlock[]): string {
    return this.#steering.add(toUserMessages(message, "steer()").flatMap(({ content }) => content));
  }

  /** Messages of {@link Agent.steer} that no run has taken in yet, in order. */
  get pendingSteering(): readonly SteeringMessage[] {
    return this.#steering.messages;
  }

  /** Takes back a message of {@link Agent.steer}. False if a run has it already, or if the id is unknown. */
  unsteer(id: string): boolean {
    return this.#steering.remove(id);
  }

  /** The current model. */
  get model(): Model {
    return this.#options.model;
  }

  /** The current effort; `undefined` for the provider's default. */
  get effort(): Effort | undefined {
    return this.#options.effort;
  }

  /**
   * Changes model, effort or both from the next model request on, even during a run. Without `effort` the
   * provider's default applies; `setModel(agent.model, { effort })` changes only the effort. A run records
   * what it starts with; a change after the first run started is an entry, stored when the promise resolves.
   * Rejects with `invalid_argument` for an invalid model or effort and for a model of unknown price under a
   * money budget, and if the journal fails.
   */
  async setModel(
    model: string | Model,
    { effort }: { readonly effort?: Effort | undefined } = {},
  ): Promise<void> {
    this.#options = withModel(this.#options, modelOf(model), effort);
    this.#choice = modelSelectionOf(this.#options);
    await this.#session.whenRead(async () => {
      if (!this.#session.state.isTouched) return;
      const { model: asked, effort: wanted } = this.#options;
      const name = `${asked.provider}/${asked.id}`;
      await record(this.#recorder, {
        type: "model_change",
        model: name,
        ...omitUndefined({ effort: wanted }),
      });
    });
  }

  /** The mode of the newest `mode_change` in the conversation. */
  get mode(): string | undefined {
    return this.#session.state.mode;
  }

  /** Records a change of the host's mode, on which the loop does not depend. Rejects if the journal fails. */
  async setMode(mode: string): Promise<void> {
    await this.#record({ type: "mode_change", mode });
  }

  /**
   * Keeps data of the host in the journal, at any time; `kind` says what `data` is. Resolves to the stored
   * entry; a run in progress publishes it. Rejects if the journal fails.
   */
  async note(kind: string, data: Json): Promise<NoteEntry> {
    return (await this.#record({ type: "note", kind, data })) as NoteEntry;
  }

  /**
   * Calls a tool without a model, as a server of tools does, with everything a call goes through: validation,
   * hooks, permission, checkpoints, journal. The conversation does not change. Parallel calls overlap unless
   * they conflict. A failing call yields an error result. Rejects with `invalid_argument` during a run, and
   * if the journal fails.
   */
  async callTool(name: string, input: ToolInput, options: CallToolOptions = {}): Promise<ToolResult> {
    return this.#session.whenRead(async () => {
      this.#assertIdle("callTool()");
      const active = new ActiveRun(new LinkedAbort(options.signal), publisher(options, noop));
      try {
        const { approve, context } = options;
        const run = this.#newRun(omitUndefined({ approve, context }), active);
        // The id of an outer call that does not exist keeps these calls out of the conversation.
        return await nestedCaller(run, newId("call"), this.#calls)(name, input);
      } finally {
        active.end();
      }
    });
  }

  /**
   * Adds what others said to the conversation without asking the model; the next run sees it. During a run it
   * waits for the end of that run. Rejects for an assistant message, an empty one, the result of a call, a
   * hook that throws or is aborted with `signal`, and a journal that fails.
   */
  async observe(message: Input, { signal }: Pick<RunOptions, "signal"> = {}): Promise<void> {
    const messages = toUserMessages(message, "observe()");
    return this.#session.whenRead(async () => {
      const warn = (text: string): void => void this.#warnings.push(text);
      const hooks = this.#hooksOf({ signal: signal ?? new AbortController().signal, warn, fail: noop });
      await this.#session.observe(messages, hooks);
      if (this.#current === undefined) await this.#session.storeObserved(false);
    });
  }

  /** Ends the run in progress with `aborted`, stopping its request and tools. Does nothing between runs. */
  stop(reason = "The run was stopped."): void {
    this.#current?.stop(reason);
  }

  /**
   * Releases the run in progress without an ending: request and tools are aborted, nothing more is recorded,
   * and the run rejects with `aborted`. Its journal looks like that of a killed run: `run()` without an input
   * resumes it, here or elsewhere.
   */
  release(): void {
    this.#current?.release();
  }

  /**
   * Sends a message and returns the text of the answer, with the five-event view of {@link Agent.run}. A run
   * that failed, or was stopped without a text, rejects with {@link RunError}, which says how to continue.
   */
  async sendMessage(content: string, callbacks: Callbacks = {}): Promise<string> {
    const result = await this.run(content, callbackOptions(callbacks));
    if (result.error !== undefined || (result.text === "" && !isNormalEnd(result.stopReason)))
      throw new RunError(result);
    return result.text;
  }

  /** The conversation and its use so far. */
  getState(): AgentState {
    return this.#session.summary;
  }

  /** A preview of {@link Agent.compact}; makes no request. Rejects if the agent has no `compaction`. */
  async previewCompaction(): Promise<CompactionPreview> {
    return this.#session.whenRead(async () => {
      await this.#session.begin();
      const active = new ActiveRun(new LinkedAbort(undefined), noop);
      return previewCompaction(this.#newRun({}, active), this.#options.compaction);
    });
  }

  /**
   * Compacts the conversation now, whatever its size. Resolves to the recorded entry, or to `undefined` if
   * the conversation stays as it is; a `warning` event says why. Rejects during a run, if the agent has no
   * `compaction`, and if the journal fails.
   */
  async compact(options: CompactOptions = {}): Promise<CompactionEntry | undefined> {
    return this.#session.whenRead(async () => {
      this.#assertIdle("compact()");
      const active = new ActiveRun(new LinkedAbort(options.signal), publisher(options, noop));
      this.#current = active;
      try {
        await this.#session.begin();
        const run = this.#newRun({}, active);
        return await compactOnRequest(run, this.#options.compaction, options.instructions);
      } finally {
        active.end();
        this.#current = undefined;
      }
    });
  }

  /**
   * Undoes the newest compaction: the conversation is restored, including what came after it. From then on it
   * is compacted only on request or if the provider refuses a request as too long. Rejects if there is
   * nothing to undo, during a run, and if the journal fails.
   */
  async undoCompaction(): Promise<void> {
    this.#assertIdle("undoCompaction()");
    await this.#session.whenRead(() => undoNewestCompaction(this.#recorder));
  }

  /**
   * Starts a new conversation. Throws `invalid_argument` during a run, and if the `journal` came from the
   * host.
   */
  reset(): void {
    this.#assertIdle("reset()");
    this.#session.reset();
    this.#steering.take();
  }

  #record(entry: NewEntry): Promise<JournalEntry> {
    return this.#session.whenRead(() => record(this.#recorder, entry));
  }

  get #recorder(): Recorder {
    return this.#session.recorder(this.#current?.emit);
  }

  #assertIdle(what: string): void {
    if (this.#current !== undefined)
      throw invalidArgument(`${what} while a run is in progress: stop() it first.`);
  }

  /** Starts a run. Throws for misuse; later failures reject. */
  #begin(
    messages: readonly Message[],
    options: RunOptions,
    linked: LinkedAbort,
    push: Publish,
  ): Promise<RunResult> {
    const session = this.#session;
    const active = new ActiveRun(linked, publisher(options, push));
    const workedMs = isContinuation(session, messages) ? session.state.progress.activeMs : 0;
    let run: Run;
    try {
      if (this.#current !== undefined)
        throw invalidArgument("This agent is already running: steer() it, wait, or use a second agent.");
      assertRunnable(session, messages, options.approvals, this.#tools, this.#steering.isEmpty);
      run = this.#newRun(options, active, workedMs);
    } catch (error) {
      active.end();
      throw error;
    }
    this.#current = active;
    active.limitWallTime(run.settings, workedMs);
    for (const message of this.#warnings.splice(0)) active.publish({ type: "warning", message });
    return this.#work(run, messages, active);
  }

  async #work(run: Run, messages: readonly Message[], active: ActiveRun): Promise<RunResult> {
    const session = this.#session;
    try {
      await session.storeObserved(hasNewInput(messages), run.settings.openCalls);
      const input = { messages, history: session.history };
      const result = await perform(run, input, (begun) => this.conduct(begun));
      await session.storeObserved(false);
      active.publish({ type: "done", result });
      return result;
    } finally {
      active.end();
      this.#current = undefined;
    }
  }

  #newRun(given: RunOptions, active: ActiveRun, workedMs = 0): Run {
    const { signal, publish } = active;
    const { journal, state } = this.#session;
    const own = { ...this.#options, ...this.#choice };
    assertPriced(own);
    const options = { ...own, ...omitUndefined(given) };
    const finish = this.finishToolFor(given.schema === undefined ? undefined : compileSchema(given.schema));
    const failure: SharedParts["failure"] = {};
    const hooks = this.#hooksOf({
      signal,
      warn: (message) => publish({ type: "warning", message }),
      fail: (error) => {
        failure.error ??= error;
      },
    });
    const { stopWhen } = options;
    active.emit = (event) => hooks.publish(event, publish);
    return newRun(options, {
      finishTool: finish?.name,
      workedMs,
      isReleased: () => active.isReleased,
      tools: runTools(this.#tools, finish, options.toolChoice),
      model: () => this.#choice,
      request: requestFields(own, journal.sessionId),
      journal,
      state,
      signal,
      plugins: [hooks, ...(stopWhen ? [stopWhenPlugin(stopWhen)] : []), ...this.#plugins],
      failure,
      takeSteering: () => this.#steering.take(),
      emit: active.emit,
      startSubagent: runSubagent,
    });
  }

  #hooksOf(context: Pick<HooksContext, "signal" | "warn" | "fail">): Hooks {
    const { clock = systemClock } = this.#options;
    const classes = Agent.#classHooks.chainOf(this.constructor);
    return new Hooks({ ...context, clock, agent: this, classes, own: this.#hooks });
  }

  /**
   * The work of a run between the record of its input and its `done` event: by default the loop. A pattern
   * overrides it with several nested runs and calls `endRun`. Events, journal, limits, permission and abort
   * come with `run`. Called by {@link Agent.run}.
   */
  conduct(run: Run): Promise<RunResult> {
    return loop(run).then((ending) => endRun(run, ending));
  }

  /** The tool that must end a run, given the schema of the wanted value; `undefined` if text ends it. */
  protected finishToolFor(schema: CompiledSchema | undefined): Tool | undefined {
    return schema === undefined ? undefined : finishTool(schema);
  }
}

const MAX_CALLS = 64;

/** A model, or the one a name stands for; the options were checked before. */
function modelOf(model: string | Model): Model {
  return typeof model === "string" ? namedModel(model) : model;
}
