import type { Clock } from "../core/base/async.ts";
import { invalidArgument } from "../core/base/errors.ts";

/**
 * A clock that stands still until a test advances it. Sleepers wake in order of their due time as {@link
 * FakeClock.advance} passes it. An aborted sleep rejects with the signal's reason, like the system clock.
 */
export class FakeClock implements Clock {
  #nowMs: number;
  #sleepers: Sleeper[] = [];
  #watchers: { readonly count: number; readonly resolve: () => void }[] = [];

  /** `startMs`: milliseconds since the epoch. Default: the start of 2026. */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  elapsed(): number {
    return this.#nowMs;
  }

  /** Number of current sleepers. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      if (!(ms > 0)) {
        resolve();
        return;
      }
      const remove = (): void => {
        signal?.removeEventListener("abort", stop);
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
      };
      const stop = (): void => {
        remove();
        reject(signal?.reason);
      };
      const wake = (): void => {
        remove();
        resolve();
      };
      const sleeper: Sleeper = { atMs: this.#nowMs + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", stop, { once: true });
      this.#notify();
    });
  }

  /** Resolves once `count` sleepers (default 1) are waiting, so that a test can then advance the clock. */
  untilSleeping(count = 1): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push({ count, resolve });
      this.#notify();
    });
  }

  /**
   * Advances the clock by `ms` and wakes due sleepers, earliest first, each at its own time. Pending work
   * runs between two sleepers and at the end, so a sleeper that sleeps again within `ms` is woken again.
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw invalidArgument(`Time cannot move by ${ms} ms; pass a number from 0.`);
    const end = this.#nowMs + ms;
    for (;;) {
      await macrotask();
      const next = this.#sleepers.toSorted((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > end) break;
      this.#nowMs = next.atMs;
      next.wake();
    }
    this.#nowMs = end;
  }

  #notify(): void {
    const ready = this.#watchers.filter((watcher) => watcher.count <= this.#sleepers.length);
    this.#watchers = this.#watchers.filter((watcher) => !ready.includes(watcher));
    for (const watcher of ready) watcher.resolve();
  }
}

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** Waits one turn of the event loop, after which all pending promise callbacks have run. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
