import type { Clock } from "../core/base/clock.ts";
import type { NanoAgentError } from "../core/base/errors.ts";
import type { HttpTimeouts } from "./http.ts";
import { timeoutError } from "./http-error.ts";

/** What {@link Deadlines} watches. */
export interface DeadlinesOptions {
  readonly clock: Clock;
  readonly timeouts: HttpTimeouts;
  /** Address of the request, for the error. */
  readonly url: string;
  /** Called at most once; nothing is watched any more. */
  readonly onTimeout: (error: NanoAgentError) => void;
}

/** Without a reason of its own an abort makes an exception with a stack trace, once for every request. */
const STOPPED = "stopped";

/** The three time limits of one request. Watching costs no timer per event: progress is a time that a timer looks at. */
export class Deadlines {
  readonly #options: DeadlinesOptions;
  readonly #stop = new AbortController();
  #progressAt: number | undefined;
  #paused = false;

  /** Starts with the limits for the headers and for the whole request. */
  constructor(options: DeadlinesOptions) {
    this.#options = options;
    this.#after("headerTimeoutMs", () => {
      if (this.#progressAt === undefined) this.#expire("headerTimeoutMs");
    });
    this.#after("requestTimeoutMs", () => this.#expire("requestTimeoutMs"));
  }

  /** The headers are there: from now on the time between events counts. */
  answered(): void {
    this.progress();
    this.#after("idleTimeoutMs", () => this.#checkIdle());
  }

  /** Something new arrived. */
  progress(): void {
    this.#progressAt = this.#options.clock.now();
  }

  /** While the reader holds the flow back, silence is not the provider's. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.progress();
  }

  stop(): void {
    this.#stop.abort(STOPPED);
  }

  #checkIdle(): void {
    const limitMs = this.#options.timeouts.idleTimeoutMs;
    const silentMs = this.#options.clock.now() - (this.#progressAt ?? 0);
    if (!this.#paused && silentMs >= limitMs) {
      this.#expire("idleTimeoutMs");
      return;
    }
    this.#sleep(this.#paused ? limitMs : limitMs - silentMs, () => this.#checkIdle());
  }

  #after(limit: keyof HttpTimeouts, then: () => void): void {
    const ms = this.#options.timeouts[limit];
    if (ms > 0) this.#sleep(ms, then);
  }

  #sleep(ms: number, then: () => void): void {
    const { signal } = this.#stop;
    this.#options.clock.sleep(ms, signal).then(
      () => {
        if (!signal.aborted) then();
      },
      // Stopped: the only reason a sleep is rejected.
      () => undefined,
    );
  }

  #expire(limit: keyof HttpTimeouts): void {
    this.stop();
    this.#options.onTimeout(timeoutError(this.#options.url, limit, this.#options.timeouts[limit]));
  }
}
