import type { AgentEvent } from "../core/agent/entries.ts";
import type { Answer, CallVerdict, Change, RequestedCall, RunBeginning } from "../core/agent/ports.ts";
import type { RunResult } from "../core/agent/result.ts";
import { type Run, type RunPlugin, whenRecorded } from "../core/agent/run.ts";
import { type Clock, raceAbort, withTimeout } from "../core/base/async.ts";
import { errorMessage, invalidArgument, NanoAgentError } from "../core/base/errors.ts";
import { type Fields, isRecord } from "../core/base/json.ts";
import { didYouMean } from "../core/base/text.ts";
import { type Input, runMessages, toMessages } from "../core/message/input.ts";
import type { ModelRequest } from "../core/model/model.ts";
import type { ToolResult } from "../core/tool/tool.ts";
import {
  HOOK_POINTS,
  type Hook,
  type HookArguments,
  type HookedAgent,
  type HookMoment,
  type HookOptions,
  type HookOutputs,
  type HookPoint,
} from "./hook.ts";

/** How a hook behaves. */
export interface HookSettings {
  /**
   * True for a hook that only observes: its return value is ignored, and an error or a timeout (`timeoutMs`)
   * becomes a `warning` event. Default false: it may replace values, and its errors end the run.
   */
  readonly observer?: boolean;
  /** Milliseconds to wait for an observer. Default 5000. */
  readonly timeoutMs?: number;
}

export interface RegisteredHook extends Required<HookSettings> {
  readonly name: string;
  readonly hook: (...args: never[]) => unknown;
}

/** The hooks of an agent or of a class of agents. Changes take effect with the next step. */
export class HookRegistry {
  /** Absent without hooks, as in most agents: it is looked at for every event. */
  #hooks: Map<HookPoint, Map<string, RegisteredHook>> | undefined;

  /** Throws `invalid_argument` for an unknown point and for anything that is not a function. */
  constructor(hooks: HookOptions = {}) {
    for (const [point, given] of Object.entries(hooks)) {
      assertPoint(point);
      if (given === undefined) continue;
      if (typeof given !== "function" && !isRecord(given))
        throw invalidArgument(
          `hooks.${point} is neither a function nor an object with functions by name: pass one of them.`,
        );
      const named = typeof given === "function" ? { [point]: given } : given;
      for (const [name, hook] of Object.entries(named)) this.register(point, name, hook);
    }
  }

  /**
   * Adds a hook after those at the point; one of the same name is replaced in place. Throws
   * `invalid_argument` for an unknown point and for anything that is not a function.
   */
  register<P extends HookPoint>(point: P, name: string, hook: Hook<P>, settings: HookSettings = {}): void {
    assertPoint(point);
    if (typeof hook !== "function")
      throw invalidArgument(`The hook "${name}" of ${point} is ${typeof hook}, not a function.`);
    const { observer = false, timeoutMs = 5_000 } = settings;
    if (!(timeoutMs > 0))
      throw invalidArgument(
        `timeoutMs of the hook "${name}" is ${String(timeoutMs)}: pass milliseconds above 0.`,
      );
    this.#hooks ??= new Map();
    let hooks = this.#hooks.get(point);
    if (hooks === undefined) this.#hooks.set(point, (hooks = new Map()));
    hooks.set(name, { name, hook, observer, timeoutMs });
  }

  /** Throws `invalid_argument` if the point has no hook of that name. */
  remove(point: HookPoint, name: string): void {
    assertPoint(point);
    if (this.#hooks?.get(point)?.delete(name) === true) return;
    const known = this.names(point).join(", ") || "none";
    throw invalidArgument(`There is no hook "${name}" at ${point}. Hooks there: ${known}.`);
  }

  /** Removes the hooks of a point, or all hooks. */
  clear(point?: HookPoint): void {
    if (point === undefined) this.#hooks = undefined;
    else {
      assertPoint(point);
      this.#hooks?.delete(point);
    }
  }

  /** Names of the hooks at a point, in the order they run. */
  names(point: HookPoint): readonly string[] {
    assertPoint(point);
    return this.at(point).map(({ name }) => name);
  }

  /** The hooks at a point, in the order they run. */
  at(point: HookPoint): readonly RegisteredHook[] {
    const hooks = this.#hooks?.get(point);
    return hooks === undefined ? NO_HOOKS : [...hooks.values()];
  }

  /** A quick check: true means there are no hooks; false means nothing. */
  get isEmpty(): boolean {
    return this.#hooks === undefined;
  }
}

const NO_HOOKS: readonly RegisteredHook[] = [];

function assertPoint(point: string): asserts point is HookPoint {
  if ((HOOK_POINTS as readonly string[]).includes(point)) return;
  throw invalidArgument(
    `There is no hook point "${point}".${didYouMean(point, HOOK_POINTS)} Points: ${HOOK_POINTS.join(", ")}.`,
  );
}

export class ClassHooks {
  readonly #registries = new WeakMap<object, HookRegistry>();

  of(agentClass: object): HookRegistry {
    const own = this.#registries.get(agentClass) ?? new HookRegistry();
    this.#registries.set(agentClass, own);
    return own;
  }

  /** The hooks of a class and its base classes, base first. */
  chainOf(agentClass: object): HookRegistry[] {
    const chain: HookRegistry[] = [];
    for (let each: unknown = agentClass; typeof each === "function"; each = Object.getPrototypeOf(each)) {
      const registry = this.#registries.get(each);
      if (registry !== undefined) chain.unshift(registry);
    }
    return chain;
  }
}

export interface HooksContext {
  readonly agent: HookedAgent;
  /** The hooks of the classes; they run before `own`. */
  readonly classes: readonly HookRegistry[];
  readonly own: HookRegistry;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  /** Records an error that cannot be thrown at its origin. */
  readonly fail: (error: NanoAgentError) => void;
}

/**
 * Runs the hooks of one run in order, each seeing the changes of those before it. Steps may overlap. An error
 * of a hook is thrown as `internal`; an abort is thrown as it is.
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
    return this.pre("reasoning", { request }).then((returned) => returned.request);
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

  /**
   * Passes an event on as the hooks leave it. An error of a hook is kept as a failure and changes nothing.
   */
  publish(event: AgentEvent, publish: (event: AgentEvent) => void): void {
    if (this.#isEmpty) return publish(event);
    let current: AgentEvent | undefined = event;
    for (const registered of this.#at("pre_print")) {
      const returned = this.#callSync("pre_print", registered, [{ event: current }]);
      if (returned !== undefined) current = (returned as HookArguments["print"]).event;
      if (current === undefined) return;
    }
    publish(current);
    for (const registered of this.#at("post_print"))
      this.#callSync("post_print", registered, [{ event: current }, undefined]);
  }

  async pre<M extends HookMoment>(moment: M, args: HookArguments[M]): Promise<HookArguments[M]> {
    return this.#runChain(`pre_${moment}`, args, (current) => [current]);
  }

  async post<M extends HookMoment>(
    moment: M,
    args: HookArguments[M],
    output: HookOutputs[M],
  ): Promise<HookOutputs[M]> {
    return this.#runChain(`post_${moment}`, output, (current) => [args, current]);
  }

  async #runChain<T>(
    point: HookPoint,
    first: T,
    argumentsOf: (current: T) => readonly unknown[],
  ): Promise<T> {
    let current = first;
    for (const registered of this.#at(point)) {
      const returned = await this.#call(point, registered, argumentsOf(current));
      if (returned !== undefined) current = returned as T;
    }
    return current;
  }

  async #judge(run: Run, call: RequestedCall): Promise<CallVerdict> {
    await whenRecorded(run);
    const { input, refuse } = await this.pre("acting", call);
    return refuse === undefined ? { input } : { refuse, rule: "pre_acting" };
  }

  #has(point: HookPoint): boolean {
    return !this.#isEmpty && this.#at(point).length > 0;
  }

  /** Asked for every event of every run, and most agents have no hooks. */
  get #isEmpty(): boolean {
    const { classes, own } = this.#context;
    return classes.length === 0 && own.isEmpty;
  }

  /** The current hooks: changes a hook makes take effect with the next step. */
  #at(point: HookPoint): readonly RegisteredHook[] {
    const { classes, own } = this.#context;
    if (classes.length === 0) return own.at(point);
    return [...classes, own].flatMap((registry) => registry.at(point));
  }

  /** The value a hook returned; `undefined` if nothing is to be replaced. */
  async #call(point: HookPoint, registered: RegisteredHook, args: readonly unknown[]): Promise<unknown> {
    const { clock, signal, warn } = this.#context;
    const { name, observer, timeoutMs } = registered;
    try {
      const work = (): Promise<unknown> => this.#invoke(registered, args);
      if (!observer) return checkedReplacement(point, await raceAbort(work(), signal), args[0]);
      await withTimeout(work, { ms: timeoutMs, clock, signal });
    } catch (error) {
      if (signal.aborted || !observer) throw signal.aborted ? error : hookError(point, name, error);
      warn(`The hook "${name}" of ${point} failed: ${errorMessage(error)}`);
    }
    return undefined;
  }

  #callSync(point: HookPoint, registered: RegisteredHook, args: readonly unknown[]): unknown {
    const { agent, warn, fail } = this.#context;
    const { name, observer } = registered;
    const report = (error: unknown): void => {
      if (observer) warn(`The hook "${name}" of ${point} failed: ${errorMessage(error)}`);
      else fail(hookError(point, name, error));
    };
    try {
      const returned = registered.hook(...([agent, ...args] as never[])) ?? undefined;
      if (!(returned instanceof Promise))
        return observer ? undefined : checkedReplacement(point, returned, args[0]);
      returned.catch(report);
      if (!observer) throw new TypeError("it returned a promise, which a stream does not await");
    } catch (error) {
      report(error);
    }
    return undefined;
  }

  /** Calls a hook; a synchronous error becomes a rejection. */
  async #invoke({ hook }: RegisteredHook, args: readonly unknown[]): Promise<unknown> {
    return hook(...([this.#context.agent, ...args] as never[]));
  }
}

function hookError(point: HookPoint, name: string, error: unknown): NanoAgentError {
  return new NanoAgentError("internal", `The hook "${name}" of ${point} failed: ${errorMessage(error)}`, {
    cause: error,
  });
}

/**
 * The value a hook returned in place of `current`, if any. Throws for a value the point cannot use and for
 * forbidden changes, so that a mistake is reported where it was made.
 */
function checkedReplacement(point: HookPoint, returned: unknown, current: unknown): unknown {
  if (returned === undefined || returned === null) return undefined;
  const { shape = "nothing", isValid = () => true } = CHECKS[point] ?? {};
  if (CHECKS[point] !== undefined && (!isRecord(returned) || !isValid(returned)))
    throw new TypeError(`it returned ${describeReturned(returned)}: return ${shape}, or nothing`);
  if (point === "pre_acting" && isRecord(returned) && isRecord(current)) assertSameCall(returned, current);
  return returned;
}

/** The form a hook at this point has to return. */
const CHECKS: {
  readonly [P in HookPoint]?: { readonly shape: string; readonly isValid: (returned: Fields) => boolean };
} = {
  pre_reply: { shape: "{ messages }", isValid: ({ messages }) => areMessages(messages) },
  post_reply: {
    shape: "the whole result, changed",
    isValid: ({ text, stopReason, messages }) =>
      typeof text === "string" && typeof stopReason === "string" && Array.isArray(messages),
  },
  pre_reasoning: {
    shape: "{ request }",
    isValid: ({ request }) => isRecord(request) && Array.isArray(request["messages"]),
  },
  post_reasoning: {
    shape: "{ message, finishReason }",
    isValid: ({ message, finishReason }) => isMessage(message, "assistant") && isRecord(finishReason),
  },
  pre_acting: {
    shape: "{ ...args, input } or { ...args, refuse }",
    isValid: ({ input, refuse }) => isRecord(input) && (refuse === undefined || typeof refuse === "string"),
  },
  post_acting: {
    shape: "the result, changed, with its content",
    isValid: ({ content }) =>
      typeof content === "string" || (Array.isArray(content) && content.every((block) => isRecord(block))),
  },
  pre_print: {
    shape: "{ event }",
    isValid: ({ event }) => event === undefined || (isRecord(event) && typeof event["type"] === "string"),
  },
  pre_observe: { shape: "{ message }", isValid: ({ message }) => isMessage(message, "user") },
};

/** Permission and records refer to the call the model made: another one in its place would go unnoticed. */
function assertSameCall(returned: Fields, current: Fields): void {
  for (const field of ["name", "callId"] as const) {
    if (returned[field] === current[field]) continue;
    throw new TypeError(
      `it returned the ${field} ${JSON.stringify(returned[field])} for ${JSON.stringify(current[field])}: only input and refuse can be replaced`,
    );
  }
}

function areMessages(messages: unknown): boolean {
  return Array.isArray(messages) && toMessages(messages as Input, "messages").length >= 0;
}

function isMessage(message: unknown, role: string): boolean {
  return (
    isRecord(message) &&
    message["role"] === role &&
    Array.isArray(message["content"]) &&
    areMessages([message])
  );
}

function describeReturned(returned: unknown): string {
  if (Array.isArray(returned)) return "a list";
  if (!isRecord(returned)) return `a ${typeof returned}`;
  const keys = Object.keys(returned);
  return keys.length === 0 ? "an empty object" : `an object with ${keys.join(", ")}`;
}
