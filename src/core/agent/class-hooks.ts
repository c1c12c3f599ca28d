import { HookRegistry } from "./hook-registry.ts";

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
