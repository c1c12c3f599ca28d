import { callMaker } from "../core/agent/act.ts";
import { goesOn, saysSomething } from "../core/agent/begin-run.ts";
import type { CompactionEntry } from "../core/agent/entry.ts";
import type { AgentEvent } from "../core/agent/event.ts";
import { wallTimeDetail } from "../core/agent/limits.ts";
import type { RunResult } from "../core/agent/result.ts";
import { performRun } from "../core/agent/run.ts";
import type { ModelChoice, Recorder, RunContext, RunPlugin } from "../core/agent/run-context.ts";
import { LinkedAbort } from "../core/base/abort.ts";
import { type Clock, startTimer, systemClock } from "../core/base/clock.ts";
import { compileSchema } from "../core/base/compile-schema.ts";
import { defined } from "../core/base/defined.ts";
import { misuse, NanoAgentError } from "../core/base/errors.ts";
import { newId } from "../core/base/ids.ts";
import type { CompiledSchema } from "../core/base/schema.ts";
import type { ToolInput } from "../core/message/block.ts";
import type { Message, UserMessage } from "../core/message/message.ts";
import { Scheduler } from "../core/tool/schedule.ts";
import type { Tool, ToolResult } from "../core/tool/tool.ts";
import { compactOnRequest, previewCompaction } from "../memory/context/compaction.ts";
import type { CompactionPreview, CompactOptions } from "../memory/context/compactor.ts";
import type { HookedAgent } from "../plugins/hook.ts";
import type { HookRegistry } from "../plugins/hook-registry.ts";
import { Hooks, type HooksContext } from "../plugins/hooks.ts";
import { stopWhenPlugin } from "../plugins/stop-when.ts";
import type { AgentSession } from "./agent-session.ts";
import { assertRunnable } from "./assert-runnable.ts";
import { makeRun } from "./make-run.ts";
import type { CallToolOptions, ResolvedOptions, RunOptions } from "./options.ts";
import { publisher } from "./publish.ts";
import type { SteeringQueue } from "./steering.ts";

/** The parts of an agent that its runs use. Functions give what it is at that moment. */
export interface RunHost {
  readonly agent: HookedAgent;
  readonly options: () => ResolvedOptions;
  readonly choice: () => ModelChoice;
  readonly session: AgentSession;
  readonly steering: SteeringQueue;
  readonly plugins: readonly RunPlugin[];
  readonly hooks: HookRegistry;
  /** Those of its class and of what that extends, the base first. */
  readonly classHooks: () => readonly HookRegistry[];
  readonly finishToolFor: (schema: CompiledSchema | undefined) => Tool | undefined;
  readonly conduct: (run: RunContext) => Promise<RunResult>;
}

const MAX_CALLS = 64;

type Publish = (event: AgentEvent) => void;

/** The run at work, as its agent sees it: its stop signal and where it is published. */
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

  /** Records into the conversation; a run at work publishes it. */
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
    const workedMs = goesOn(session, messages) ? state.progress.activeMs : 0;
    let run: RunContext;
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
    const { wallTimeMs } = run.budget;
    if (wallTimeMs !== undefined) active.limitWallTime(wallTimeMs, workedMs, run.clock);
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

  async #work(run: RunContext, messages: readonly Message[], active: ActiveRun): Promise<RunResult> {
    const { session, conduct } = this.#host;
    try {
      await session.storeObserved(saysSomething(messages), run.openCalls);
      const result = await performRun(run, { messages, history: session.history, conduct });
      await session.storeObserved(false);
      active.publish({ type: "done", result });
      return result;
    } finally {
      active.end();
      this.#current = undefined;
    }
  }

  #context(options: RunOptions, active: ActiveRun, workedMs = 0): RunContext {
    const { agent, session, steering, choice, finishToolFor } = this.#host;
    const { signal, publish } = active;
    const { journal, state } = session;
    const schema = options.schema === undefined ? undefined : compileSchema(options.schema);
    const failure: RunContext["failure"] = {};
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
      choice,
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
