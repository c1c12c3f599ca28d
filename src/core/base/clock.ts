/** The port to time. Everything that waits takes one, so that tests need not. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment, for measuring: the same whatever anybody sets the time of day to. */
  elapsed(): number;
  /**
   * Resolves after `ms` milliseconds; at once (in a later microtask) for 0, negative or no numbers. Rejects
   * with the signal's reason as soon as `signal` is aborted, also when it was before the call. Leaves no
   * timer and no listener behind.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls back after `ms` milliseconds, soon for 0 or less, unless the function it returns was called before.
   * Every tool call has a limit that it hardly ever reaches: by `sleep`, which is the default, that takes a
   * tenth of the time of the loop.
   */
  timer?(ms: number, callback: () => void): () => void;
}

/** {@link Clock.timer} of any clock. */
export function startTimer(clock: Clock, ms: number, callback: () => void): () => void {
  if (clock.timer !== undefined) return clock.timer(ms, callback);
  const stopped = new AbortController();
  clock.sleep(ms, stopped.signal).then(callback, () => undefined);
  return () => stopped.abort();
}

/** The machine's clock. */
export const systemClock: Clock = Object.freeze({
  now: (): number => Date.now(),
  elapsed: (): number => performance.now(),
  timer,
  sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      if (!(ms > 0)) {
        resolve();
        return;
      }
      let left = ms;
      let timer = setTimeout(tick, Math.min(left, MAX_TIMER_MS));
      signal?.addEventListener("abort", stop, { once: true });

      function tick(): void {
        left -= MAX_TIMER_MS;
        if (left > 0) {
          timer = setTimeout(tick, Math.min(left, MAX_TIMER_MS));
          return;
        }
        signal?.removeEventListener("abort", stop);
        resolve();
      }

      function stop(): void {
        clearTimeout(timer);
        signal?.removeEventListener("abort", stop);
        reject(signal?.reason);
      }
    }),
});

// Longer than that is never, for a limit on one call.
function timer(ms: number, callback: () => void): () => void {
  // Node warns of a time that has passed.
  const running = ms <= MAX_TIMER_MS ? setTimeout(callback, Math.max(0, ms)) : undefined;
  return () => clearTimeout(running);
}

/** `setTimeout` fires at once for anything longer than this. */
const MAX_TIMER_MS = 2 ** 31 - 1;
