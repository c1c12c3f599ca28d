import { NanoAgentError } from "../../core/base/errors.ts";
import { type EndingSignal, SIGNAL_EXITS } from "../../view/exit-code.ts";

/** Runs work that ends when its signals abort. Resolves to its result, or to the signal's exit code. */
export async function withSignals(work: (signals: EndingSignals) => Promise<number>): Promise<number> {
  using signals = new EndingSignals();
  signals.allowGrace();
  const code = await work(signals);
  return signals.received === undefined ? code : SIGNAL_EXITS[signals.received];
}

/** Resolves when a signal aborts, at once if it has. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** Longest time a run may take to end by itself after a signal: less than a second including the rest. */
const GRACE_MS = 700;

/** Listens for signals that end the program. The first aborts the run gently; a second ends it at once. */
export class EndingSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly #forced = Promise.withResolvers<EndingSignal>();
  #received: EndingSignal | undefined;
  #graceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners: readonly (readonly [EndingSignal, () => void])[];

  constructor() {
    this.#listeners = (Object.keys(SIGNAL_EXITS) as EndingSignal[]).map((name) => [
      name,
      () => this.#on(name),
    ]);
    for (const [name, listener] of this.#listeners) process.on(name, listener);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get received(): EndingSignal | undefined {
    return this.#received;
  }

  /** Settles when the grace period is over or a second signal arrives. */
  get forced(): Promise<EndingSignal> {
    return this.#forced.promise;
  }

  /**
   * From now on a signal leaves `graceMs` milliseconds to end gracefully (`Infinity`: no limit); before, a
   * signal ends everything at once.
   */
  allowGrace(graceMs: number = GRACE_MS): void {
    this.#graceMs = graceMs;
  }

  /** Stops listening, unless a signal came: another one must not replace its exit code. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#received !== undefined) return;
    for (const [name, listener] of this.#listeners) process.off(name, listener);
  }

  #on(name: EndingSignal): void {
    const first = this.#received ?? name;
    if (this.#received !== undefined || this.#graceMs === 0) {
      this.#received = first;
      this.#forced.resolve(first);
      return;
    }
    this.#received = name;
    if (Number.isFinite(this.#graceMs))
      this.#timer = setTimeout(() => this.#forced.resolve(name), this.#graceMs);
    this.#controller.abort(new NanoAgentError("aborted", `Ended by ${name}.`, { details: { signal: name } }));
  }
}
