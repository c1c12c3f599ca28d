import { NanoAgentError } from "./errors.ts";

/**
 * A signal that is aborted with its parent, reason included; cheaper than `AbortSignal.any`, and without
 * leaks. Those of us who wait for it stand in a list: a run waits several times a turn, and a listener each
 * takes a twentieth of the time of a loop without a network.
 */
export class LinkedAbort implements AbortSource {
  readonly #controller = new AbortController();
  readonly #unlink: (() => void) | undefined;
  #callbacks: (() => void)[] = [];

  /** {@link LinkedAbort.unlink} must be called when it is no longer needed. */
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

/** The error of an aborted signal: its reason when that is one of ours, else one with code `aborted`. */
export function abortError(
  { reason }: Pick<AbortSignal, "reason">,
  what = "The run was aborted.",
): NanoAgentError {
  if (reason instanceof NanoAgentError) return reason;
  return new NanoAgentError("aborted", what, { cause: reason });
}

/** The source of a signal's abort. */
interface AbortSource {
  /** Calls back at the abort, never before. */
  readonly add: (callback: () => void) => void;
  readonly remove: (callback: () => void) => void;
}

/** Our signals keep their source: a weak map of short-lived keys slows garbage collections. */
const SOURCE = Symbol("source");

type OwnSignal = AbortSignal & { [SOURCE]?: AbortSource };

/** The source that tells of the abort of a signal. Leaves no listener on one that somebody else made. */
function sourceOf(signal: AbortSignal): AbortSource {
  return (
    (signal as OwnSignal)[SOURCE] ?? {
      add: (callback) => signal.addEventListener("abort", callback, { once: true }),
      remove: (callback) => signal.removeEventListener("abort", callback),
    }
  );
}

/**
 * Settles as `promise` does, or rejects with {@link abortError} `graceMs` milliseconds after the signal is
 * aborted, whichever comes first. The grace lets work end by itself and say how it ended.
 */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T> {
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
