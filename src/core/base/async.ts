import { NanoAgentError } from "./errors.ts";

/** The clock. Everything that waits takes one, so tests do not have to. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Monotonic milliseconds, for measuring durations. */
  elapsed(): number;
  /**
   * Resolves after `ms` milliseconds, or in a later microtask if `ms` is 0, negative or NaN. Rejects with the
   * signal's reason once `signal` is aborted, even before the call. Leaves no timer or listener behind.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls back after `ms` milliseconds unless the returned function was called first. Every tool call sets a
   * time limit that it hardly ever reaches, so this must be cheap: the default, built on `sleep`, costs a
   * tenth of the loop's time.
   */
  timer?(ms: number, callback: () => void): () => void;
}

export function startTimer(clock: Clock, ms: number, callback: () => void): () => void {
  if (clock.timer !== undefined) return clock.timer(ms, callback);
  const stopped = new AbortController();
  clock.sleep(ms, stopped.signal).then(callback, () => undefined);
  return () => stopped.abort();
}

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
      const stop = (): void => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = timer(ms, () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
      signal?.addEventListener("abort", stop, { once: true });
    }),
});

function timer(ms: number, callback: () => void): () => void {
  if (ms <= MAX_TIMER_MS) {
    // Node warns about a negative delay.
    const running = setTimeout(callback, Math.max(0, ms));
    return () => clearTimeout(running);
  }
  let stop = timer(MAX_TIMER_MS, () => {
    stop = timer(ms - MAX_TIMER_MS, callback);
  });
  return () => stop();
}

/** `setTimeout` fires at once for longer delays. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * A signal that aborts with its parent, with the same reason. Cheaper than `AbortSignal.any`, and leaks
 * nothing. Our own waiters are kept in a list: a run waits several times a turn, and one listener per wait
 * would cost a twentieth of the loop's time.
 */
export class LinkedAbort implements AbortSource {
  readonly #controller = new AbortController();
  readonly #unlink: (() => void) | undefined;
  #callbacks: (() => void)[] = [];

  /** Call {@link LinkedAbort.unlink} when it is no longer needed. */
  constructor(parent: AbortSignal | undefined) {
    (this.signal as OwnSignal)[SOURCE] = this;
    if (parent?.aborted === true) this.abort(parent.reason);
    else if (parent !== undefined) {
      const source = sourceOf(parent);
      const follow = (): void => this.abort(parent.reason);
      source.add(follow);
      this.#unlink = () => source.remove(follow);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
    const callbacks = this.#callbacks;
    this.#callbacks = [];
    for (const callback of callbacks) callback();
  }

  add(callback: () => void): void {
    this.#callbacks.push(callback);
  }

  remove(callback: () => void): void {
    const at = this.#callbacks.lastIndexOf(callback);
    if (at !== -1) this.#callbacks.splice(at, 1);
  }

  unlink(): void {
    this.#unlink?.();
  }
}

/** The error for an aborted signal: its reason if that is ours, otherwise one with code `aborted`. */
export function abortError(
  { reason }: Pick<AbortSignal, "reason">,
  what = "The run was aborted.",
): NanoAgentError {
  if (reason instanceof NanoAgentError) return reason;
  return new NanoAgentError("aborted", what, { cause: reason });
}

interface AbortSource {
  /** Registers a callback for the abort; it is never called synchronously. */
  readonly add: (callback: () => void) => void;
  readonly remove: (callback: () => void) => void;
}

/** A field on our own signals: a weak map of short-lived keys slows down garbage collection. */
const SOURCE = Symbol("source");

type OwnSignal = AbortSignal & { [SOURCE]?: AbortSource };

/** Registers abort callbacks for a signal. Leaves no listener on a foreign signal. */
function sourceOf(signal: AbortSignal): AbortSource {
  return (
    (signal as OwnSignal)[SOURCE] ?? {
      add: (callback) => signal.addEventListener("abort", callback, { once: true }),
      remove: (callback) => signal.removeEventListener("abort", callback),
    }
  );
}

/**
 * Settles as `promise` does, or rejects with {@link abortError} `graceMs` milliseconds after the abort,
 * whichever comes first. The grace period lets work end on its own and report how.
 */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T> {
  const source = sourceOf(signal);
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (): void => {
      if (timer === undefined) source.remove(onAbort);
      else clearTimeout(timer);
    };
    const onAbort = (): void => {
      timer = setTimeout(() => reject(abortError(signal)), graceMs);
    };
    if (signal.aborted) onAbort();
    else source.add(onAbort);
    promise.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
}

interface TimeBound {
  readonly ms: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The result of foreign code, with a time limit. The code gets a signal that is aborted at the limit. Rejects
 * then with a message starting "it took longer than", or with the reason of `signal`.
 */
export async function withTimeout<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { ms, clock, signal }: TimeBound,
): Promise<Awaited<T>> {
  const timeout = new AbortController();
  const limitText = ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
  const stopTimer = startTimer(clock, ms, () => timeout.abort(new Error(`it took longer than ${limitText}`)));
  const combined = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
  try {
    return await raceAbort((async () => work(combined))() as Promise<Awaited<T>>, combined);
  } catch (error) {
    throw timeout.signal.aborted ? timeout.signal.reason : error;
  } finally {
    stopTimer();
  }
}

interface BackoffOptions {
  readonly baseMs?: number;
  /** Upper bound of every wait. Default 30,000. */
  readonly maxMs?: number;
  readonly random?: () => number;
}

/**
 * Milliseconds to wait before retry number `attempt` (from 1): a random whole number in the upper half of the
 * range up to `baseMs * 2 ** (attempt - 1)`, at most `maxMs`. The jitter spreads clients that failed
 * together; its lower bound keeps bad luck from using up all attempts before an overloaded server can
 * recover.
 */
export function backoffDelayMs(attempt: number, options: BackoffOptions = {}): number {
  const { baseMs = 500, maxMs = 30_000, random = Math.random } = options;
  const doublings = Math.min(Math.max(attempt - 1, 0), 1000);
  const boundMs = Math.min(maxMs, baseMs * 2 ** doublings);
  const floorMs = Math.floor(boundMs / 2);
  return floorMs + Math.floor(random() * (boundMs - floorMs));
}

/**
 * Milliseconds from a `Retry-After` header (RFC 9110, 10.2.3): seconds, possibly fractional, or an HTTP date
 * in any of its three forms, where a past date means 0. `undefined` for anything else, and for waits beyond a
 * year.
 */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,15}(?:\.\d{1,15})?$/.test(text)) return plausibleDelay(Math.ceil(Number(text) * 1000));
  if (!HTTP_DATE.test(text)) return undefined;
  // The oldest form (asctime) names no zone and means GMT.
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : plausibleDelay(Math.max(0, date - nowMs));
}

const YEAR_MS = 366 * 86_400_000;

/** The weekday is required: without it `Date.parse` accepts almost anything as a date, even `-5`. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? [\w :-]{8,32}$/;

function plausibleDelay(ms: number): number | undefined {
  return ms <= YEAR_MS ? ms : undefined;
}
