import type { AgentEvent, CompactionEntry, NewEntry } from "../core/agent/entries.ts";
import { isContinuation, perform, saysSomething, wallTimeDetail } from "../core/agent/perform.ts";
import type { RunResult } from "../core/agent/result.ts";
import {
  type ModelSelection,
  newRun,
  type Recorder,
  type Run,
  type RunParts,
  type RunPlugin,
  type SharedParts,
} from "../core/agent/run.ts";
import { callMaker, Scheduler } from "../core/agent/run-calls.ts";
import { type Clock, LinkedAbort, startTimer, systemClock } from "../core/base/async.ts";
import { compileSchema } from "../core/base/compile-schema.ts";
import { misuse, NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { newId } from "../core/base/ids.ts";
import { defined } from "../core/base/json.ts";
import type { CompiledSchema } from "../core/base/schema.ts";
import { didYouMean } from "../core/base/text.ts";
import type { Message, ToolInput, UserMessage } from "../core/message/message.ts";
import type { Effort, Model, RequestDefaults, ToolChoice } from "../core/model/model.ts";
import type { Tool, ToolRegistry, ToolResult } from "../core/tool/tool.ts";
import type { HookedAgent } from "../hooks/hook.ts";
import type { HookRegistry } from "../hooks/hook-registry.ts";
import { Hooks, type HooksContext } from "../hooks/hooks.ts";
import { loopGuardPlugin } from "../hooks/loop-guard-plugin.ts";
import { stopWhenPlugin } from "../hooks/stop-when.ts";
import { compactionPlugin, compactOnRequest, previewCompaction } from "../memory/context/compaction.ts";
import type { CompactionPreview, CompactOptions } from "../memory/context/compactor.ts";
import { LongTermPlugin } from "../memory/long-term-plugin.ts";
import { type AgentSession, assertRunnable, type SteeringQueue } from "./agent-session.ts";
import {
  type AgentOptions,
  assertOptions,
  assertPriced,
  type CallToolOptions,
  type ResolvedOptions,
  type RunOptions,
} from "./options.ts";
import { runSubagent } from "./run-subagent.ts";

/**
 * Lets the observers of a run see each event before its reader. What one of them throws stops nothing and
 * keeps nothing from the others: it is told as a warning, to `onEvent` too where that is not what threw.
 */
export function publisher(
  { onEvent, onToken }: Pick<RunOptions, "onEvent" | "onToken">,
  push: (event: AgentEvent) => void,
): (event: AgentEvent) => void {
  if (onEvent === undefined && onToken === undefined) return push;
  const show = (event: AgentEvent): void => {
    if (onEvent !== undefined) observe(onEvent, event, (error) => push(warning(error)));
    push(event);
  };
  if (onToken === undefined) return show;
  return (event) => {
    if (event.type === "text_delta") observe(onToken, event.text, (error) => show(warning(error)));
    show(event);
  };
}

/** Observers may be asynchronous. They are not awaited, and a rejection must not end the process. */
function observe<T>(observer: (value: T) => unknown, value: T, onFailure: (error: unknown) => void): void {
  try {
    const pending = observer(value);
    if (pending instanceof Promise) pending.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}

function warning(error: unknown): AgentEvent {
  return { type: "warning", message: `An observer threw: ${toNanoAgentError(error).message}` };
}

/** The plugins of an agent's runs, hooks aside. Throws `invalid_argument` for options that cannot work. */
export function agentPlugins({ longTermMemory, loopGuard, compaction }: AgentOptions): readonly RunPlugin[] {
  const plugins: RunPlugin[] = [];
  if (longTermMemory !== undefined) plugins.push(new LongTermPlugin(longTermMemory));
  if (loopGuard !== false) plugins.push(loopGuardPlugin(loopGuard));
  if (compaction !== undefined && compaction !== false) plugins.push(compactionPlugin(compaction));
  return plugins;
}

/** The parts of a run that come from its agent, beside the options. */
export interface RunPorts extends Omit<RunParts, "request" | "finishTool" | "startSubagent"> {
  readonly finish: Tool | undefined;
}

/** Everything a run works with. Throws `invalid_argument` for tools that do not fit. */
export function makeRun(own: ResolvedOptions, options: RunOptions, ports: RunPorts): Run {
  assertPriced(own);
  const { finish, ...given } = ports;
  const settings = { ...own, ...defined(options) };
  return newRun(settings, {
    ...given,
    request: requestDefaults(own, ports.journal.sessionId),
    tools: runTools(ports.tools, { finish, choice: settings.toolChoice }),
    finishTool: finish?.name,
    startSubagent: runSubagent,
  });
}

/** The request fields an agent's options stand for. */
function requestDefaults(options: AgentOptions, sessionId: string): RequestDefaults {
  const { systemPrompt: system, maxOutputTokens, temperature, topP, stopSequences, effort } = options;
  const { providerOptions } = options;
  const parallelToolCalls = options.parallelToolCalls === false ? false : undefined;
  return {
    sessionId,
    ...defined({ system, maxOutputTokens, temperature, topP, stopSequences, effort }),
    ...defined({ providerOptions, parallelToolCalls }),
  };
}

/** The model and effort that the options select. */
export function chosenBy({ model, effort, wrapModel }: ResolvedOptions): ModelSelection {
  const asked = wrapModel === undefined ? model : wrapModel(model);
  return { model: asked, ...defined({ effort }) };
}

/** The options with another model and effort. Throws `invalid_argument` for what cannot work. */
export function rechosen(
  options: ResolvedOptions,
  model: Model,
  effort: Effort | undefined,
): ResolvedOptions {
  const { effort: _before, ...others } = options;
  const changed: ResolvedOptions = { ...others, model, ...defined({ effort }) };
  assertOptions(changed);
  assertPriced(changed);
  return changed;
}

/** The entry that records it. */
export function modelChange({ model, effort }: ResolvedOptions): NewEntry {
  const name = `${model.provider}/${model.id}`;
  return { type: "model_change", model: name, ...defined({ effort }) };
}

/**
 * The tools of a run: those of the agent, with the one that is to end it. Throws `invalid_argument` when a
 * tool has the name of that one, and when a forced tool is not there, which no provider takes.
 */
function runTools(
  tools: ToolRegistry,
  { finish, choice }: { readonly finish: Tool | undefined; readonly choice: ToolChoice | undefined },
): ToolRegistry {
  const all = finish === undefined ? tools : withFinish(tools, finish);
  if (typeof choice === "object" && all.get(choice.name) === undefined)
    throw noSuchTool(choice.name, all.names());
  return all;
}

function withFinish(tools: ToolRegistry, finish: Tool): ToolRegistry {
  if (tools.get(finish.name) === undefined) return tools.with(finish);
  throw misuse(
    `A run that ends by tool needs the name "${finish.name}", which one of the tools has: rename it.`,
  );
}

function noSuchTool(name: string, known: readonly string[]): NanoAgentError {
  return misuse(
    `toolChoice names the tool "${name}", which the agent does not have.${didYouMean(name, known)} Tools: ${known.join(", ") || "none"}.`,
  );
}

/** The parts of an agent that its runs use. Functions give what it is at that moment. */
export interface RunHost {
  readonly agent: HookedAgent;
  readonly options: () => ResolvedOptions;
  readonly choice: () => ModelSelection;
  readonly session: AgentSession;
  readonly steering: SteeringQueue;
  readonly plugins: readonly RunPlugin[];
  readonly hooks: HookRegistry;
  /** Those of its class and of what that extends, the base first. */
  readonly classHooks: () => readonly HookRegistry[];
  readonly finishToolFor: (schema: CompiledSchema | undefined) => Tool | undefined;
  readonly conduct: (run: Run) => Promise<RunResult>;
}

const MAX_CALLS = 64;

type Publish = (event: AgentEvent) => void;

/** The run in progress, as its agent sees it: its stop signal and where it is published. */
export class ActiveRun {
  /** Shows an event to hooks and then to the reader. */
  emit: Publish = NOBODY;
  /** Shows an event to the reader. */
  readonly publish: Publish;
  readonly #linked: LinkedAbort;
  #stopTimer: () => void = NOBODY;
  isReleased = false;

  constructor(linked: LinkedAbort, publish: Publish) {
    this.#linked = linked;
    this.publish = publish;
  }

  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  stop(reason: string): void {
    this.#linked.abort(new NanoAgentError("aborted", reason));
  }

  /** Stops it, and nothing more of it is recorded. */
  release(): void {
    this.isReleased = true;
    this.stop("The run was let go of.");
  }

  /** Stops it when it takes longer than `wallTimeMs`, `workedMs` of which are over. */
  limitWallTime(wallTimeMs: number, workedMs: number, clock: Clock): void {
    const reached = new NanoAgentError("timeout", wallTimeDetail(wallTimeMs));
    this.#stopTimer = startTimer(clock, wallTimeMs - workedMs, () => this.#linked.abort(reached));
  }

  /** To be called when it is over, whatever became of it. */
  end(): void {
    this.#stopTimer();
    this.#linked.unlink();
  }
}

/** The runs of one agent, one at a time, and what else is done with everything that a run has. */
export class AgentRuns {
  readonly #host: RunHost;
  /** Warnings for the reader of the next run. */
  readonly #warnings: string[] = [];
  /** Calls without a model: those that conflict run one after the other. */
  readonly #calls = new Scheduler(MAX_CALLS);
  #current: ActiveRun | undefined;

  constructor(host: RunHost) {
    this.#host = host;
  }

  get current(): ActiveRun | undefined {
    return this.#current;
  }

  /** Records into the conversation; a run in progress publishes it. */
  get recorder(): Recorder {
    return this.#host.session.recorder(this.#current?.emit);
  }

  assertIdle(what: string): void {
    if (this.#current === undefined) return;
    throw misuse(`${what} while a run is at work: stop() it first.`);
  }

  /** Begins a run. Throws for misuse; what comes later rejects. */
  perform(
    messages: readonly Message[],
    options: RunOptions,
    { linked, push }: { readonly linked: LinkedAbort; readonly push: Publish },
  ): Promise<RunResult> {
    const { session, steering, agent } = this.#host;
    const { state, history } = session;
    const active = new ActiveRun(linked, publisher(options, push));
    const workedMs = isContinuation(session, messages) ? state.progress.activeMs : 0;
    let run: Run;
    try {
      assertRunnable(state, {
        messages,
        approvals: options.approvals,
        tools: agent.tools,
        history,
        hasSteering: !steering.isEmpty,
        isRunning: this.#current !== undefined,
      });
      run = this.#context(options, active, workedMs);
    } catch (error) {
      active.end();
      throw error;
    }
    this.#current = active;
    const { wallTimeMs } = run.settings.budget;
    if (wallTimeMs !== undefined) active.limitWallTime(wallTimeMs, workedMs, run.settings.clock);
    for (const message of this.#warnings.splice(0)) active.publish({ type: "warning", message });
    return this.#work(run, messages, active);
  }

  /** Makes one call without a model. Throws only for the journal, and for options that do not fit. */
  async callTool(name: string, input: ToolInput, options: CallToolOptions): Promise<ToolResult> {
    this.assertIdle("callTool()");
    const active = new ActiveRun(new LinkedAbort(options.signal), publisher(options, NOBODY));
    try {
      const { approve, context } = options;
      const run = this.#context(defined({ approve, context }), active);
      // Calls inside another one are no part of the conversation, and these are inside none.
      return await callMaker(run, newId("call"), this.#calls)(name, input);
    } finally {
      active.end();
    }
  }

  async previewCompaction(): Promise<CompactionPreview> {
    const { session, options } = this.#host;
    await session.begin();
    const active = new ActiveRun(new LinkedAbort(undefined), NOBODY);
    return previewCompaction(this.#context({}, active), options().compaction);
  }

  async compact(options: CompactOptions): Promise<CompactionEntry | undefined> {
    this.assertIdle("compact()");
    const active = new ActiveRun(new LinkedAbort(options.signal), publisher(options, NOBODY));
    this.#current = active;
    try {
      await this.#host.session.begin();
      return await compactOnRequest(
        this.#context({}, active),
        this.#host.options().compaction,
        options.instructions,
      );
    } finally {
      active.end();
      this.#current = undefined;
    }
  }

  /** Takes in what others said, for the next run. */
  async observe(messages: readonly UserMessage[], signal: AbortSignal): Promise<void> {
    const { session } = this.#host;
    const warn = (text: string): void => {
      this.#warnings.push(text);
    };
    await session.observe(messages, this.#hooks({ signal, warn, fail: NOBODY }));
    if (this.#current === undefined) await session.storeObserved(false);
  }

  async #work(run: Run, messages: readonly Message[], active: ActiveRun): Promise<RunResult> {
    const { session, conduct } = this.#host;
    try {
      await session.storeObserved(saysSomething(messages), run.settings.openCalls);
      const result = await perform(run, { messages, history: session.history }, conduct);
      await session.storeObserved(false);
      active.publish({ type: "done", result });
      return result;
    } finally {
      active.end();
      this.#current = undefined;
    }
  }

  #context(options: RunOptions, active: ActiveRun, workedMs = 0): Run {
    const { agent, session, steering, choice, finishToolFor } = this.#host;
    const { signal, publish } = active;
    const { journal, state } = session;
    const schema = options.schema === undefined ? undefined : compileSchema(options.schema);
    const failure: SharedParts["failure"] = {};
    const hooks = this.#hooks({
      signal,
      warn: (message) => publish({ type: "warning", message }),
      fail: (error) => {
        failure.error ??= error;
      },
    });
    const own = { ...this.#host.options(), ...choice() };
    const { stopWhen = own.stopWhen } = options;
    const plugins = [hooks, ...(stopWhen ? [stopWhenPlugin(stopWhen)] : []), ...this.#host.plugins];
    active.emit = (event) => hooks.show(event, publish);
    return makeRun(own, options, {
      finish: finishToolFor(schema),
      workedMs,
      isReleased: () => active.isReleased,
      tools: agent.tools,
      model: choice,
      journal,
      state,
      signal,
      plugins,
      failure,
      takeSteering: () => steering.take(),
      emit: active.emit,
    });
  }

  #hooks(context: Pick<HooksContext, "signal" | "warn" | "fail">): Hooks {
    const { agent, hooks, classHooks } = this.#host;
    const { clock = systemClock } = this.#host.options();
    return new Hooks({ ...context, clock, agent, classes: classHooks(), own: hooks });
  }
}

const NOBODY = (): void => undefined;
