import type { CompactionEntry, JournalEntry, NewEntry, NoteEntry } from "../core/agent/entries.ts";
import { loop } from "../core/agent/loop.ts";
import { endRun } from "../core/agent/perform.ts";
import { RunError, type RunResult, type StructuredResult } from "../core/agent/result.ts";
import { type ModelSelection, type Run, record } from "../core/agent/run.ts";
import { LinkedAbort } from "../core/base/async.ts";
import type { Json } from "../core/base/errors.ts";
import type { CompiledSchema, SchemaInput } from "../core/base/schema.ts";
import { endedByItself } from "../core/base/stop-reason.ts";
import { type Input, runMessages, spokenMessages } from "../core/message/input.ts";
import type { ToolInput, UserBlock } from "../core/message/message.ts";
import type { Effort, Model } from "../core/model/model.ts";
import { type Tool, ToolRegistry, type ToolResult } from "../core/tool/tool.ts";
import { finishTool } from "../hooks/finish-tool.ts";
import { ClassHooks, HookRegistry } from "../hooks/hook-registry.ts";
import {
  type CompactionPreview,
  type CompactOptions,
  undoNewestCompaction,
} from "../memory/context/compactor.ts";
import { InMemoryMemory } from "../memory/in-memory-memory.ts";
import { namedModel } from "../providers/named-model.ts";
import { AgentRuns, agentPlugins, chosenBy, modelChange, rechosen } from "./agent-runs.ts";
import { AgentSession, type AgentState, type SteeringMessage, SteeringQueue } from "./agent-session.ts";
import { type AgentStream, type Callbacks, callbackOptions, RunStream } from "./agent-stream.ts";
import {
  type AgentOptions,
  assertOptions,
  assertRunOptions,
  type CallToolOptions,
  type OutputOf,
  type ResolvedOptions,
  type RunOptions,
} from "./options.ts";

/**
 * A model, tools and a conversation. `run` and `stream` add to the conversation and work until an answer;
 * they are the same loop. One run at a time; any number of agents side by side. The model may be given by its
 * name, `provider/id[:effort]`: a name is checked when the agent is made (`invalid_argument`,
 * `unknown_provider`) and takes its key from the environment, at the first request.
 */
export class Agent {
  #options: ResolvedOptions;
  readonly #tools: ToolRegistry;
  readonly #hooks: HookRegistry;
  readonly #session: AgentSession;
  readonly #steering: SteeringQueue;
  readonly #runs: AgentRuns;
  /** The models that are asked, each wrapped once. */
  #choice: ModelSelection;
  #conversation: InMemoryMemory | undefined;

  /** Throws `invalid_argument` for options that cannot work. Makes no request and writes nothing. */
  constructor(given: AgentOptions) {
    const options = { ...given, model: modelOf(given?.model) };
    assertOptions(options);
    this.#options = options;
    const plugins = agentPlugins(options);
    this.#tools = new ToolRegistry([
      ...(options.tools ?? []),
      ...plugins.flatMap(({ tools }) => tools ?? []),
    ]);
    this.#hooks = new HookRegistry(options.hooks);
    this.#steering = new SteeringQueue(options.newId);
    this.#choice = chosenBy(options);
    this.#session = new AgentSession(options, plugins);
    this.#runs = new AgentRuns({
      agent: this,
      options: () => this.#options,
      choice: () => this.#choice,
      session: this.#session,
      steering: this.#steering,
      plugins,
      hooks: this.#hooks,
      classHooks: () => Agent.#classHooks.chainOf(this.constructor),
      finishToolFor: (schema) => this.finishToolFor(schema),
      conduct: (run) => this.conduct(run),
    });
  }

  static readonly #classHooks = new ClassHooks();

  /** Hooks of all agents of this class and what extends it, live ones too. They run before an agent's own. */
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

  /**
   * Resolves when the conversation can be looked at: at once, unless `entries()` of the journal is
   * asynchronous. Runs and changes wait for that by themselves; `getState()`, `mode` and the messages of
   * `conversation` throw `invalid_argument` before. Rejects when the journal cannot be read.
   */
  ready(): Promise<void> {
    return this.#session.whenRead(async () => undefined);
  }

  /** The agent's tools; what is added or removed counts from the next model request on. */
  get tools(): ToolRegistry {
    return this.#tools;
  }

  /** The messages of the conversation, to look at, and between runs to edit. */
  get conversation(): InMemoryMemory {
    return (this.#conversation ??= new InMemoryMemory({
      host: {
        recorder: () => this.#runs.recorder,
        beforeChange: () =>
          this.#session.whenRead(() => {
            this.#runs.assertIdle("Editing the conversation");
            return this.#session.begin();
          }),
      },
    }));
  }

  /** True while a run is in progress. */
  get isRunning(): boolean {
    return this.#runs.current !== undefined;
  }

  /**
   * Runs until an answer or a stop reason; see {@link RunResult}. `input` may be left out to go on with a
   * conversation that waits for the model. Rejects for misuse, a journal that cannot be written, and
   * `onMaxIterations: "throw"`.
   */
  async run<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options: RunOptions<S> = {},
  ): Promise<RunResult<OutputOf<S>>> {
    assertRunOptions(options);
    const messages = runMessages(input);
    const result = this.#session.whenRead(() =>
      this.#runs.perform(messages, options, { linked: new LinkedAbort(options.signal), push: NOBODY }),
    );
    return result as Promise<RunResult<OutputOf<S>>>;
  }

  /**
   * The same as {@link Agent.run} for code that wants exceptions: rejects with {@link RunError} for every run
   * without an answer, and with a `schema` for every run without the value.
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
        ? endedByItself(result.stopReason)
        : result.stopReason === "structured_output";
    if (!isThere) throw new RunError(result);
    return result;
  }

  /** Like {@link Agent.run}, event by event. Nothing happens before an event or `result` is asked for. */
  stream<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options: RunOptions<S> = {},
  ): AgentStream<OutputOf<S>> {
    assertRunOptions(options);
    const messages = runMessages(input);
    return new RunStream(options.signal, (linked, push) =>
      this.#session.whenRead(() => this.#runs.perform(messages, options, { linked, push })),
    );
  }

  /**
   * A message that reaches the model at its next request, while a run is in progress; between runs, with the
   * next run. Text that arrives when the model is about to end makes it go on. Returns an id, which the
   * entry bears that is written when the message is taken in. Throws `invalid_argument` for a message that
   * is empty, of the assistant, or the result of a call.
   */
  steer(message: string | readonly UserBlock[]): string {
    return this.#steering.add(spokenMessages(message, "steer()").flatMap(({ content }) => content));
  }

  /** Messages of {@link Agent.steer} that no run has taken in yet, in order. */
  get pendingSteering(): readonly SteeringMessage[] {
    return this.#steering.messages;
  }

  /** Takes a message of {@link Agent.steer} back. False when a run has it, or there was none of that id. */
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
   * Another model, effort or both, from the next model request on: also while a run is in progress. Without
   * `effort` it is the provider's default; `setModel(agent.model, { effort })` changes the effort alone. A
   * run records what it begins with; a change after the first run began is an entry, stored when the promise
   * resolves. Rejects with `invalid_argument` for what is no model or effort and for a model of unknown price
   * under a budget in money, and for the journal.
   */
  async setModel(
    model: string | Model,
    { effort }: { readonly effort?: Effort | undefined } = {},
  ): Promise<void> {
    this.#options = rechosen(this.#options, modelOf(model), effort);
    this.#choice = chosenBy(this.#options);
    await this.#session.whenRead(async () => {
      if (this.#session.state.isTouched) await record(this.#runs.recorder, modelChange(this.#options));
    });
  }

  /** The mode in the newest `mode_change` of the conversation. */
  get mode(): string | undefined {
    return this.#session.state.mode;
  }

  /** Records that the host works in another mode. The loop does not depend on it. Rejects for the journal. */
  async setMode(mode: string): Promise<void> {
    await this.#record({ type: "mode_change", mode });
  }

  /**
   * Keeps something of the host's own in the journal, at any time: `kind` names what `data` is. Resolves to
   * the entry once it is stored; a run in progress publishes it. Rejects for the journal.
   */
  async note(kind: string, data: Json): Promise<NoteEntry> {
    return (await this.#record({ type: "note", kind, data })) as NoteEntry;
  }

  /**
   * Makes one call of a tool without a model, as a server of tools does: known?, valid?, hooks, permission,
   * checkpoints and journal are those of any call; the conversation does not change. Calls that are made side
   * by side overlap unless they conflict. What goes wrong in the call is an error result. Rejects with
   * `invalid_argument` while a run is in progress, and for the journal.
   */
  async callTool(name: string, input: ToolInput, options: CallToolOptions = {}): Promise<ToolResult> {
    return this.#session.whenRead(() => this.#runs.callTool(name, input, options));
  }

  /**
   * Adds what others said to the conversation without asking the model; it is there when the next run begins.
   * While a run is in progress it waits for the end of that run. Rejects for a message of the assistant, an
   * empty one, the result of a call, a hook that throws or is aborted with `signal`, and a journal that
   * cannot be written.
   */
  async observe(message: Input, { signal }: Pick<RunOptions, "signal"> = {}): Promise<void> {
    const messages = spokenMessages(message, "observe()");
    return this.#session.whenRead(() => this.#runs.observe(messages, signal ?? new AbortController().signal));
  }

  /**
   * Ends the run in progress with `aborted`: its request and tools are aborted. Between runs nothing
   * happens.
   */
  stop(reason = "The run was stopped."): void {
    this.#runs.current?.stop(reason);
  }

  /**
   * Lets go of the run in progress without an ending: request and tools are aborted, nothing more is
   * recorded, and the run rejects with `aborted`. Its journal is that of a run that was cut: `run()` without
   * an input goes on with it, here or elsewhere.
   */
  release(): void {
    this.#runs.current?.release();
  }

  /**
   * Sends a message and returns the answer's text; the five-event view of {@link Agent.run}. A run that
   * failed, or was stopped without a text, rejects with {@link RunError}, which says how to go on.
   */
  async sendMessage(content: string, callbacks: Callbacks = {}): Promise<string> {
    const result = await this.run(content, callbackOptions(callbacks));
    if (result.error !== undefined || (result.text === "" && !endedByItself(result.stopReason)))
      throw new RunError(result);
    return result.text;
  }

  /** The conversation and what it has used up so far. */
  getState(): AgentState {
    return this.#session.summary;
  }

  /** Tells what {@link Agent.compact} would do; asks no model. Rejects when the agent has no `compaction`. */
  async previewCompaction(): Promise<CompactionPreview> {
    return this.#session.whenRead(() => this.#runs.previewCompaction());
  }

  /**
   * Makes the conversation fit now, whatever its size. Resolves to the record of it; `undefined` when the
   * conversation stays as it is, a `warning` event saying why. Rejects while a run is in progress, when the
   * agent has no `compaction`, and for the journal.
   */
  async compact(options: CompactOptions = {}): Promise<CompactionEntry | undefined> {
    return this.#session.whenRead(() => this.#runs.compact(options));
  }

  /**
   * Takes the newest compaction back: the conversation is what it was, with what came after. From then on one
   * is made only on request or when the provider refuses a request as too long. Rejects when there is none to
   * take back, while a run is in progress, and for the journal.
   */
  async undoCompaction(): Promise<void> {
    this.#runs.assertIdle("undoCompaction()");
    await this.#session.whenRead(() => undoNewestCompaction(this.#runs.recorder));
  }

  /** Begins anew. Throws `invalid_argument` while a run is in progress, and with a `journal` of the host. */
  reset(): void {
    this.#runs.assertIdle("reset()");
    this.#session.reset();
    this.#steering.take();
  }

  #record(entry: NewEntry): Promise<JournalEntry> {
    return this.#session.whenRead(() => record(this.#runs.recorder, entry));
  }

  /**
   * Does the work of a run between the record of its input and its `done` event: the loop. A pattern
   * overrides it with several nested runs and ends with `endRun`; events, journal, limits, permission and
   * abort are in `run` and stay as they are. {@link Agent.run} calls it.
   */
  conduct(run: Run): Promise<RunResult> {
    return loop(run).then((ending) => endRun(run, ending));
  }

  /** The tool a run must end with, given the schema of the value wanted; `undefined` when a text ends it. */
  protected finishToolFor(schema: CompiledSchema | undefined): Tool | undefined {
    return schema === undefined ? undefined : finishTool(schema);
  }
}

const NOBODY = (): void => undefined;

/** A model, or the one a name stands for. The check of the options refuses anything else. */
function modelOf(model: string | Model): Model {
  return typeof model === "string" ? namedModel(model) : model;
}
