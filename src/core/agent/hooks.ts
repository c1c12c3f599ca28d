import { orAborted } from "../base/abort.ts";
import { startTimer } from "../base/clock.ts";
import { errorMessage, NanoAgentError } from "../base/errors.ts";
import type { AgentEvent } from "./event.ts";
import type { HookArguments, HookedAgent, HookMoment, HookOutputs, HookPoint } from "./hook.ts";
import type { HookRegistry, RegisteredHook } from "./hook-registry.ts";
import { assertReplacement } from "./hook-replacement.ts";

/** What hooks run with. */
export interface HooksContext {
  readonly agent: HookedAgent;
  /** Those of classes, the base first: they run before `own`. */
  readonly classes: readonly HookRegistry[];
  /** Those of the agent itself. */
  readonly own: HookRegistry;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

/**
 * Runs the hooks of one run, each in turn, every one seeing what those before it made. Any number of moments may be under way at the
 * same time. A hook that throws throws here as `internal`; one that is aborted with the run throws that.
 */
export class Hooks {
  readonly #agent: HookedAgent;
  readonly #signal: AbortSignal;
  readonly #warn: (message: string) => void;
  readonly #own: HookRegistry;
  /** Absent when no class has any. */
  readonly #classes: readonly HookRegistry[] | undefined;
  #failure: NanoAgentError | undefined;

  constructor({ agent, signal, warn, own, classes }: HooksContext) {
    this.#agent = agent;
    this.#signal = signal;
    this.#warn = warn;
    this.#own = own;
    this.#classes = classes.length === 0 ? undefined : classes;
  }

  /** The first failure of a hook that had no other way to end the run. */
  get failure(): NanoAgentError | undefined {
    return this.#failure;
  }

  /** Keeps a failure that cannot be thrown where it happened. */
  fail(error: NanoAgentError): void {
    this.#failure ??= error;
  }

  /** Asked at every event of every run, where most agents have no hooks: a look at one field. */
  has(point: HookPoint): boolean {
    return this.#own.has(point) || this.#classes?.some((registry) => registry.has(point)) === true;
  }

  /** The arguments as the hooks leave them. */
  async pre<M extends HookMoment>(moment: M, args: HookArguments[M]): Promise<HookArguments[M]> {
    let current = args;
    for (const registered of this.#at(`pre_${moment}`)) {
      const made = await this.#call(`pre_${moment}`, registered, [current]);
      if (made !== undefined) current = made as HookArguments[M];
    }
    return current;
  }

  /** The output as the hooks leave it. */
  async post<M extends HookMoment>(
    moment: M,
    args: HookArguments[M],
    output: HookOutputs[M],
  ): Promise<HookOutputs[M]> {
    let current = output;
    for (const registered of this.#at(`post_${moment}`)) {
      const made = await this.#call(`post_${moment}`, registered, [args, current]);
      if (made !== undefined) current = made as HookOutputs[M];
    }
    return current;
  }

  /** Shows an event, through the print hooks where there are any. A hook that throws is kept as {@link Hooks.failure}, and the event is shown as it was. */
  print(event: AgentEvent, show: (event: AgentEvent) => void): void {
    if (this.#classes === undefined && this.#own.isEmpty) return show(event);
    if (!this.has("pre_print") && !this.has("post_print")) return show(event);
    let current: AgentEvent | undefined = event;
    for (const registered of this.#at("pre_print")) {
      const made = this.#callNow("pre_print", registered, [{ event: current }]);
      if (made !== undefined) current = (made as HookArguments["print"]).event;
      if (current === undefined) return;
    }
    show(current);
    for (const registered of this.#at("post_print")) {
      this.#callNow("post_print", registered, [{ event: current }, undefined]);
    }
  }

  /** Those that are there now: what a hook registers or removes counts from the next moment on. */
  #at(point: HookPoint): readonly RegisteredHook[] {
    const own = [...this.#own.at(point)];
    return this.#classes === undefined
      ? own
      : [...this.#classes.flatMap((registry) => [...registry.at(point)]), ...own];
  }

  /** What a hook returned, `undefined` when nothing is to be replaced. */
  async #call(point: HookPoint, registered: RegisteredHook, args: readonly unknown[]): Promise<unknown> {
    const signal = this.#signal;
    const { name, observer, timeoutMs } = registered;
    try {
      const work = this.#invoke(registered, args);
      if (!observer) return fitting(point, await orAborted(work, signal), args[0]);
      await orAborted(inTime(work, timeoutMs), signal);
    } catch (error) {
      if (signal.aborted || !observer) throw signal.aborted ? error : failureOf(point, name, error);
      this.#warn(`The hook "${name}" of ${point} failed: ${errorMessage(error)}`);
    }
    return undefined;
  }

  #callNow(point: HookPoint, registered: RegisteredHook, args: readonly unknown[]): unknown {
    const { name, observer } = registered;
    const failed = (error: unknown): void => {
      if (observer) this.#warn(`The hook "${name}" of ${point} failed: ${errorMessage(error)}`);
      else this.fail(failureOf(point, name, error));
    };
    try {
      const made = registered.hook(...([this.#agent, ...args] as never[])) ?? undefined;
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
    return hook(...([this.#agent, ...args] as never[]));
  }
}

/** What a hook gave back, if anything, for `current`. Throws for what its point has no use for. */
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

function inTime(work: Promise<unknown>, timeoutMs: number): Promise<unknown> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = startTimer(timeoutMs, () => reject(new Error(`it took longer than ${timeoutMs} ms`)));
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
