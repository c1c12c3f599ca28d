import { LinkedAbort } from "../base/abort.ts";
import { type Clock, startTimer } from "../base/clock.ts";
import { NanoAgentError } from "../base/errors.ts";

/** The stop of one call of a tool: by its run, and by its time limit. */
export class CallAbort {
  readonly #call: LinkedAbort;
  readonly #stopTimer: () => void = () => undefined;
  #inner: LinkedAbort | undefined;
  readonly #begun = new Set<Promise<unknown>>();
  #timedOut = false;
  #hasEnded = false;

  /** Begins to count; `timeoutMs` of 0 is no limit. {@link CallAbort.end} must be called. */
  constructor(run: AbortSignal, timeoutMs: number, clock: Clock) {
    this.#call = new LinkedAbort(run);
    if (timeoutMs > 0)
      this.#stopTimer = startTimer(clock, timeoutMs, () => {
        // The first cause of a stop is the one that counts.
        this.#timedOut = !this.signal.aborted;
        const reason = new DOMException(`The call took longer than ${timeoutMs} ms.`, "TimeoutError");
        this.#call.abort(reason);
      });
  }

  /** True when it was the time limit that stopped it. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** True when the call has its result: nobody waits for it any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The signal for the tool. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** The signal of what the call begins inside the run; aborted with the end of the call. */
  get inner(): AbortSignal {
    this.#inner ??= new LinkedAbort(this.signal);
    return this.#inner.signal;
  }

  /** Keeps what the call has begun inside the run and may not wait for itself. */
  begin<T>(work: Promise<T>): Promise<T> {
    const forget = (): boolean => this.#begun.delete(work);
    this.#begun.add(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when all that the call has begun has ended: none of it outlives the call. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#stopTimer();
    this.#call.unlink();
    this.#endInner();
    if (this.#begun.size > 0) await Promise.allSettled(this.#begun);
  }

  #endInner(): void {
    this.#inner?.unlink();
    this.#inner?.abort(new NanoAgentError("aborted", "The tool call that began this has ended."));
  }
}
