import type { AgentEvent } from "../core/agent/entries.ts";
import type { Answer, CallVerdict, Change, RequestedCall, RunBeginning } from "../core/agent/ports.ts";
import type { RunResult } from "../core/agent/result.ts";
import { type Run, type RunPlugin, recorded } from "../core/agent/run.ts";
import { type Clock, inTime, orAborted } from "../core/base/async.ts";
import { errorMessage, NanoAgentError } from "../core/base/errors.ts";
import { runMessages } from "../core/message/input.ts";
import type { ModelRequest } from "../core/model/model.ts";
import type { ToolResult } from "../core/tool/tool.ts";
import type { HookArguments, HookedAgent, HookMoment, HookOutputs, HookPoint } from "./hook.ts";
import type { HookRegistry, RegisteredHook } from "./hook-registry.ts";
import { assertReplacement } from "./hook-replacement.ts";

/** The surroundings that hooks run with. */
export interface HooksContext {
  readonly agent: HookedAgent;
  /** Those of classes, the base first: they run before `own`. */
  readonly classes: readonly HookRegistry[];
  readonly own: HookRegistry;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  /** Keeps a failure that cannot be thrown where it happened. */
  readonly fail: (error: NanoAgentError) => void;
}

/**
 * Runs the hooks of one run, each in turn, every one seeing what those before it made. Any number of moments
 * may be under way at the same time. A hook that throws throws here as `internal`; one that is aborted with
 * the run throws that.
 */
export class Hooks implements RunPlugin {
  readonly #context: HooksContext;

  constructor(context: HooksContext) {
    this.#context = context;
  }

  async beforeRun(_run: Run, beginning: RunBeginning): Promise<RunBeginning> {
    const { messages } = await this.pre("reply", { messages: beginning.messages });
    return messages === beginning.messages ? beginning : { ...beginning, messages: runMessages(messages) };
  }

  async afterRun(_run: Run, result: RunResult, { messages }: RunBeginning): Promise<RunResult> {
    return this.post("reply", { messages }, result);
  }

  beforeRequest(_run: Run, request: ModelRequest): Change<ModelRequest> {
    if (!this.#has("pre_reasoning")) return undefined;
    return this.pre("reasoning", { request }).then((made) => made.request);
  }

  afterRequest(_run: Run, answer: Answer, request: ModelRequest): Change<Answer> {
    return this.#has("post_reasoning") ? this.post("reasoning", { request }, answer) : undefined;
  }

  beforeCall(run: Run, call: RequestedCall): Change<CallVerdict> {
    return this.#has("pre_acting") ? this.#judge(run, call) : undefined;
  }

  afterCall(_run: Run, result: ToolResult, call: RequestedCall): Change<ToolResult> {
    return this.#has("post_acting") ? this.post("acting", call, result) : undefined;
  }

  /** Shows an event as hooks leave it, if they do. One that throws is a failure and changes nothing. */
  show(event: AgentEvent, publish: (event: AgentEvent) => void): void {
    if (this.#isEmpty) return publish(event);
    let current: AgentEvent | undefined = event;
    for (const registered of this.#at("pre_print")) {
      const made = this.#callNow("pre_print", registered, [{ event: current }]);
      if (made !== undefined) current = (made as HookArguments["print"]).event;
      if (current === undefined) return;
    }
    publish(current);
    for (const registered of this.#at("post_print"))
      this.#callNow("post_print", registered, [{ event: current }, undefined]);
  }

  async pre<M extends HookMoment>(moment: M, args: HookArguments[M]): Promise<HookArguments[M]> {
    return this.#through(`pre_${moment}`, args, (current) => [current]);
  }

  async post<M extends HookMoment>(
    moment: M,
    args: HookArguments[M],
    output: HookOutputs[M],
  ): Promise<HookOutputs[M]> {
    return this.#through(`post_${moment}`, output, (current) => [args, current]);
  }

  async #through<T>(point: HookPoint, first: T, argumentsOf: (current: T) => readonly unknown[]): Promise<T> {
    let current = first;
    for (const registered of this.#at(point)) {
      const made = await this.#call(point, registered, argumentsOf(current));
      if (made !== undefined) current = made as T;
    }
    return current;
  }

  async #judge(run: Run, call: RequestedCall): Promise<CallVerdict> {
    await recorded(run);
    const { input, refuse } = await this.pre("acting", call);
    return refuse === undefined ? { input } : { refuse, rule: "pre_acting" };
  }

  #has(point: HookPoint): boolean {
    return !this.#isEmpty && this.#at(point).length > 0;
  }

  /** Asked at every event of every run, where most agents have no hooks. */
  get #isEmpty(): boolean {
    const { classes, own } = this.#context;
    return classes.length === 0 && own.isEmpty;
  }

  /** Those that are there now: what a hook registers or removes counts from the next moment on. */
  #at(point: HookPoint): readonly RegisteredHook[] {
    const { classes, own } = this.#context;
    if (classes.length === 0) return own.at(point);
    return [...classes, own].flatMap((registry) => registry.at(point));
  }

  /** The value a hook returned, `undefined` when nothing is to be replaced. */
  async #call(point: HookPoint, registered: RegisteredHook, args: readonly unknown[]): Promise<unknown> {
    const { clock, signal, warn } = this.#context;
    const { name, observer, timeoutMs } = registered;
    try {
      const work = (): Promise<unknown> => this.#invoke(registered, args);
      if (!observer) return fitting(point, await orAborted(work(), signal), args[0]);
      await inTime(work, { ms: timeoutMs, clock, signal });
    } catch (error) {
      if (signal.aborted || !observer) throw signal.aborted ? error : failureOf(point, name, error);
      warn(`The hook "${name}" of ${point} failed: ${errorMessage(error)}`);
    }
    return undefined;
  }

  #callNow(point: HookPoint, registered: RegisteredHook, args: readonly unknown[]): unknown {
    const { agent, warn, fail } = this.#context;
    const { name, observer } = registered;
    const failed = (error: unknown): void => {
      if (observer) warn(`The hook "${name}" of ${point} failed: ${errorMessage(error)}`);
      else fail(failureOf(point, name, error));
    };
    try {
      const made = registered.hook(...([agent, ...args] as never[])) ?? undefined;
      if (!(made instanceof Promise)) return observer ? undefined : fitting(point, made, args[0]);
      made.catch(failed);
      if (!observer) throw new TypeError("it returned a promise, and the stream waits for nobody");
    } catch (error) {
      failed(error);
    }
    return undefined;
  }

  /** Calls the hook; what it throws at once becomes a rejection, like what it throws later. */
  async #invoke({ hook }: RegisteredHook, args: readonly unknown[]): Promise<unknown> {
    return hook(...([this.#context.agent, ...args] as never[]));
  }
}

/** The value a hook gave back, if any, for `current`. Throws for what its point has no use for. */
function fitting(point: HookPoint, made: unknown, current: unknown): unknown {
  if (made === undefined || made === null) return undefined;
  assertReplacement(point, made, current);
  return made;
}

function failureOf(point: HookPoint, name: string, error: unknown): NanoAgentError {
  return new NanoAgentError("internal", `The hook "${name}" of ${point} failed: ${errorMessage(error)}`, {
    cause: error,
  });
}
