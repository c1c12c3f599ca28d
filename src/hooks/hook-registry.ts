import { misuse } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import { didYouMean } from "../core/base/text.ts";
import { HOOK_POINTS, type Hook, type HookOptions, type HookPoint } from "./hook.ts";

/** How a hook is treated. */
export interface HookSettings {
  /**
   * True for a hook that only looks: what it returns is ignored, and what it throws, or taking longer than
   * `timeoutMs`, becomes a `warning` event. Default false: it may replace, and what it throws ends the run.
   */
  readonly observer?: boolean;
  /** Milliseconds an observer is waited for. Default 5000. */
  readonly timeoutMs?: number;
}

/** A hook as it was registered. */
export interface RegisteredHook extends Required<HookSettings> {
  readonly name: string;
  readonly hook: (...args: never[]) => unknown;
}

/** The hooks of an agent or a class of agents. A change counts from the next moment of its kind on. */
export class HookRegistry {
  /** Absent while there are none, as in most agents: whether there are is asked for every event. */
  #hooks: Map<HookPoint, Map<string, RegisteredHook>> | undefined;

  /** Throws `invalid_argument` for a point that does not exist and for what is no function. */
  constructor(hooks: HookOptions = {}) {
    for (const [point, given] of Object.entries(hooks)) {
      assertPoint(point);
      if (given === undefined) continue;
      if (typeof given !== "function" && !isRecord(given))
        throw misuse(
          `hooks.${point} is neither a function nor an object with functions by name: pass one of them.`,
        );
      const named = typeof given === "function" ? { [point]: given } : given;
      for (const [name, hook] of Object.entries(named)) this.register(point, name, hook);
    }
  }

  /**
   * Adds a hook behind those already at the point. One of the same name is replaced and keeps its place.
   * Throws `invalid_argument` for a point that does not exist and for what is no function.
   */
  register<P extends HookPoint>(point: P, name: string, hook: Hook<P>, settings: HookSettings = {}): void {
    assertPoint(point);
    if (typeof hook !== "function")
      throw misuse(`The hook "${name}" of ${point} is ${typeof hook}, not a function.`);
    const { observer = false, timeoutMs = 5_000 } = settings;
    if (!(timeoutMs > 0))
      throw misuse(`timeoutMs of the hook "${name}" is ${String(timeoutMs)}: pass milliseconds above 0.`);
    this.#hooks ??= new Map();
    let hooks = this.#hooks.get(point);
    if (hooks === undefined) this.#hooks.set(point, (hooks = new Map()));
    hooks.set(name, { name, hook, observer, timeoutMs });
  }

  /** Throws `invalid_argument` when there is no hook of that name at the point. */
  remove(point: HookPoint, name: string): void {
    assertPoint(point);
    if (this.#hooks?.get(point)?.delete(name) === true) return;
    const known = this.names(point).join(", ") || "none";
    throw misuse(`There is no hook "${name}" at ${point}. Hooks there: ${known}.`);
  }

  /** Removes every hook of a point, or of all points. */
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

  /** The hooks at a point as they are now, in the order they run. */
  at(point: HookPoint): readonly RegisteredHook[] {
    const hooks = this.#hooks?.get(point);
    return hooks === undefined ? NO_HOOKS : [...hooks.values()];
  }

  /** A quick look: true when there was never a hook, or all were cleared; false says nothing. */
  get isEmpty(): boolean {
    return this.#hooks === undefined;
  }
}

const NO_HOOKS: readonly RegisteredHook[] = [];

function assertPoint(point: string): asserts point is HookPoint {
  if ((HOOK_POINTS as readonly string[]).includes(point)) return;
  throw misuse(
    `There is no hook point "${point}".${didYouMean(point, HOOK_POINTS)} Points: ${HOOK_POINTS.join(", ")}.`,
  );
}

/** The hooks of classes. */
export class ClassHooks {
  readonly #registries = new WeakMap<object, HookRegistry>();

  /** The hooks of a class; empty ones when there were none. */
  of(maker: object): HookRegistry {
    const own = this.#registries.get(maker) ?? new HookRegistry();
    this.#registries.set(maker, own);
    return own;
  }

  /** Those of a class and of what it extends, the base first. */
  chainOf(maker: object): HookRegistry[] {
    const chain: HookRegistry[] = [];
    for (let each: unknown = maker; typeof each === "function"; each = Object.getPrototypeOf(each)) {
      const registry = this.#registries.get(each);
      if (registry !== undefined) chain.unshift(registry);
    }
    return chain;
  }
}
