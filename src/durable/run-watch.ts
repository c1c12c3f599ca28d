import { type Clock, systemClock } from "../core/base/async.ts";
import { errorMessage, invalidConfig, misuse, NanoAgentError } from "../core/base/errors.ts";
import type { RunRow } from "./run-row.ts";
import type { RunStore } from "./run-store.ts";

/** The part of a row that is waited for. */
export type RunView = Pick<RunRow, "id" | "state" | "seq">;

interface Waiter {
  readonly run: string;
  readonly isThere: (view: RunView) => boolean;
  /** True for who waits for the end, and wants to hear that there will be none. */
  readonly isForEnd: boolean;
  readonly resolve: (view: RunView) => void;
  readonly reject: (error: unknown) => void;
}

/** The moment that is waited for. */
export interface WatchedMoment {
  readonly isThere: (view: RunView) => boolean;
  readonly isForEnd?: boolean;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 200;
/** Looks between two at whether there are workers. */
const STRANDED_EVERY = 25;

/** Waits for runs, all in one statement however many there are. */
export class RunWatch {
  readonly #runs: RunStore;
  readonly #clock: Clock;
  readonly #onWarning: (message: string) => void;
  readonly #waiters = new Set<Waiter>();
  #isPolling = false;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(runs: RunStore, onWarning: (message: string) => void, clock: Clock = systemClock) {
    this.#runs = runs;
    this.#onWarning = onWarning;
    this.#clock = clock;
  }

  /** Resolves when a run is as it is waited for. Rejects for one that is not there, and at the close. */
  when(run: string, { isThere, isForEnd = false, signal }: WatchedMoment): Promise<RunView> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed());
      if (signal?.aborted === true) return reject(signal.reason);
      const leave = (): void => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener("abort", stop);
      };
      const stop = (): void => {
        leave();
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        run,
        isThere,
        isForEnd,
        resolve: (view) => {
          leave();
          resolve(view);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.#waiters.add(waiter);
      this.poke();
      if (!this.#isPolling) void this.#poll();
    });
  }

  /** Looks now: something has happened in this process. */
  poke(): void {
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    const waiters = Array.from(this.#waiters);
    for (const waiter of waiters) waiter.reject(closed());
    this.#wake();
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    for (let round = 0; this.#waiters.size > 0; round++) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      try {
        await this.#look(round % STRANDED_EVERY === STRANDED_EVERY - 1);
      } catch (error) {
        // Whoever waits goes on waiting: a database that is gone comes back.
        if (round % STRANDED_EVERY === 0) this.#onWarning(`Runs cannot be looked at: ${errorMessage(error)}`);
      }
      const rest = new AbortController();
      if (this.#waiters.size > 0)
        await Promise.race([woken, this.#clock.sleep(POLL_MS, rest.signal).catch(() => undefined)]);
      rest.abort();
    }
    this.#isPolling = false;
  }

  async #look(alsoStranded: boolean): Promise<void> {
    const waiters = [...this.#waiters];
    const ids = [...new Set(waiters.map(({ run }) => run))];
    const views = new Map((await this.#runs.look(ids)).map((view) => [view.id, view]));
    for (const waiter of waiters) {
      const view = views.get(waiter.run);
      if (view === undefined) waiter.reject(unknownRun(waiter.run));
      else if (waiter.isThere(view)) waiter.resolve(view);
    }
    if (!alsoStranded) return;
    const stranded = new Map((await this.#runs.stranded(ids)).map((row) => [row.id, row]));
    for (const waiter of waiters) {
      const row = stranded.get(waiter.run);
      if (waiter.isForEnd && row !== undefined) waiter.reject(wrongVersion(row));
    }
  }
}

/** The error about a run that nobody has started, or that was removed. */
export function unknownRun(run: string): NanoAgentError {
  return misuse(`There is no run ${JSON.stringify(run)} in this database: it was never started, or removed.`);
}

function closed(): NanoAgentError {
  return new NanoAgentError("aborted", "The fleet was closed. The run goes on with the other workers.");
}

function wrongVersion({ id, version, agent }: Pick<RunRow, "id" | "version" | "agent">): NanoAgentError {
  return invalidConfig(
    `The run ${id} has begun with version ${JSON.stringify(version)} of the agent ${agent}, and no worker has that version: start one, or call retry() to go on with today's code.`,
    { details: { run: id, version: version ?? "", reason: "version" } },
  );
}
