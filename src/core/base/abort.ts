import { NanoAgentError } from "./errors.ts";

/** A controller that is aborted with its parent. `unlink` must be called when it is no longer needed. */
export interface LinkedController {
  readonly controller: AbortController;
  readonly unlink: () => void;
}

/** Makes a controller that follows `parent`, reason included. Cheaper than `AbortSignal.any`, and leaves no listener behind. */
export function linkController(parent: AbortSignal | undefined): LinkedController {
  const controller = new AbortController();
  (controller.signal as OwnSignal)[SOURCE] = new SharedSource(controller.signal);
  if (parent === undefined) return { controller, unlink: NOTHING_TO_UNLINK };
  if (parent.aborted) {
    controller.abort(parent.reason);
    return { controller, unlink: NOTHING_TO_UNLINK };
  }
  const source = sourceOf(parent);
  const follow = (): void => controller.abort(parent.reason);
  source.add(follow);
  return { controller, unlink: () => source.remove(follow) };
}

const NOTHING_TO_UNLINK = (): void => undefined;

/** The error an aborted signal stands for: its reason when that is an error of ours, else one with code `aborted`. */
export function abortError(
  { reason }: Pick<AbortSource, "reason">,
  what = "The run was aborted.",
): NanoAgentError {
  if (reason instanceof NanoAgentError) return reason;
  return new NanoAgentError("aborted", what, { cause: reason });
}

/** What can be aborted, once, and tells those who wait. */
export interface AbortSource {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Calls back at the abort, never before. */
  readonly add: (callback: () => void) => void;
  readonly remove: (callback: () => void) => void;
}

/** Those who wait for an abort. A list, for there are seldom more than a few. */
export class AbortCallbacks {
  #callbacks: (() => void)[] = [];

  add(callback: () => void): void {
    this.#callbacks.push(callback);
  }

  remove(callback: () => void): void {
    const at = this.#callbacks.lastIndexOf(callback);
    if (at !== -1) this.#callbacks.splice(at, 1);
  }

  /** Calls each of them back, once. */
  call(): void {
    const callbacks = this.#callbacks;
    this.#callbacks = [];
    for (const callback of callbacks) callback();
  }
}

/** One listener for all that wait for a signal which lives as long as they do: a run waits several times a turn. */
class SharedSource extends AbortCallbacks implements AbortSource {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    super();
    this.#signal = signal;
    signal.addEventListener("abort", () => this.call(), { once: true });
  }

  get aborted(): boolean {
    return this.#signal.aborted;
  }

  get reason(): unknown {
    return this.#signal.reason;
  }
}

/** Where a signal of our own keeps its source; a weak map with short-lived keys is looked through at every garbage collection. */
const SOURCE = Symbol("source");

type OwnSignal = AbortSignal & { [SOURCE]?: SharedSource };

/** What tells of the abort of a signal. Leaves no listener on one that somebody else made. */
export function sourceOf(signal: AbortSignal): AbortSource {
  return (
    (signal as OwnSignal)[SOURCE] ?? {
      get aborted(): boolean {
        return signal.aborted;
      },
      get reason(): unknown {
        return signal.reason;
      },
      add: (callback) => signal.addEventListener("abort", callback, { once: true }),
      remove: (callback) => signal.removeEventListener("abort", callback),
    }
  );
}

/**
 * Settles as `promise` does, or rejects with {@link abortError} `graceMs` milliseconds after the signal is aborted, whichever
 * comes first. The grace lets work that honours the signal end by itself and say how it ended.
 */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T> {
  return orAbortedBy(promise, sourceOf(signal), graceMs);
}

/** {@link orAborted} for what can be aborted without a signal. */
export function orAbortedBy<T>(promise: Promise<T>, source: AbortSource, graceMs = 0): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = (): void => {
      if (timer === undefined) source.remove(onAbort);
      else clearTimeout(timer);
    };
    const onAbort = (): void => {
      timer = setTimeout(() => reject(abortError(source)), graceMs);
    };
    if (source.aborted) onAbort();
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
