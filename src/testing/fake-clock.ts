import type { Clock } from "../core/base/async.ts";
import { misuse } from "../core/base/errors.ts";

/**
 * A clock that stands still until a test moves it. Sleepers wake in the order of their time when
 * {@link FakeClock.advance} passes it. An aborted sleep rejects with the signal's reason, as with the
 * machine's clock.
 */
export class FakeClock implements Clock {
  #nowMs: number;
  #sleepers: Sleeper[] = [];
  #watchers: { readonly count: number; readonly resolve: () => void }[] = [];

  /** `startMs`: milliseconds since the epoch. Default: the first moment of 2026. */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  elapsed(): number {
    return this.#nowMs;
  }

  /** Sleepers at this moment. */
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
      const leave = (): void => {
        signal?.removeEventListener("abort", stop);
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
      };
      const stop = (): void => {
        leave();
        reject(signal?.reason);
      };
      const wake = (): void => {
        leave();
        resolve();
      };
      const sleeper: Sleeper = { atMs: this.#nowMs + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", stop, { once: true });
      this.#notify();
    });
  }

  /** Resolves once `count` sleepers wait (default 1), so that a test can let time pass then. */
  untilSleeping(count = 1): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push({ count, resolve });
      this.#notify();
    });
  }

  /**
   * Moves time on by `ms` and wakes whoever is due, the earliest first, at its own time. Between two
   * sleepers, and at the end, pending work gets to run, so that who sleeps again within `ms` is woken again.
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw misuse(`Time cannot move by ${ms} ms; pass a number from 0.`);
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

/** One round of the event loop: everything that waits for promises only has run when it is over. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
