import type { SandboxRuntime, SandboxRuntimeConfig } from "./sandbox-runtime.ts";

/**
 * What the runtime is started with: nothing may be written or reached. Each command brings its own limits,
 * and what stood here would be allowed to the commands of every sandbox of the process.
 */
const NOTHING: SandboxRuntimeConfig = {
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
};

/**
 * The one runtime of several sandboxes: who comes first starts it, who leaves last stops it. It can neither
 * be started twice at once nor stopped while it starts, so each step waits for the one before.
 */
export class SharedRuntime {
  static readonly #all = new WeakMap<SandboxRuntime, SharedRuntime>();
  readonly #runtime: SandboxRuntime;
  #users = 0;
  #steps: Promise<unknown> = Promise.resolve();

  private constructor(runtime: SandboxRuntime) {
    this.#runtime = runtime;
  }

  /** That of a runtime, the same for all who ask. */
  static of(runtime: SandboxRuntime): SharedRuntime {
    const known = SharedRuntime.#all.get(runtime) ?? new SharedRuntime(runtime);
    SharedRuntime.#all.set(runtime, known);
    return known;
  }

  /** Resolves when it runs, and keeps it running until {@link leave}. Rejects when it cannot be started. */
  async join(): Promise<void> {
    this.#users++;
    try {
      await this.#next(() => this.#runtime.initialize(NOTHING));
    } catch (error) {
      await this.leave();
      throw error;
    }
  }

  /** Once for each {@link join} that resolved. Never rejects. */
  async leave(): Promise<void> {
    this.#users--;
    if (this.#users > 0) return;
    // Somebody may have come until it is its turn.
    await this.#next(async () => {
      if (this.#users === 0) await this.#runtime.reset();
    }).catch(() => undefined);
  }

  #next(step: () => Promise<void>): Promise<void> {
    const done = this.#steps.then(step);
    this.#steps = done.catch(() => undefined);
    return done;
  }
}
