import { type Clock, startTimer } from "../core/base/async.ts";
import type { NanoAgentError } from "../core/base/errors.ts";
import type { HttpTimeouts } from "./http.ts";
import { timeoutError } from "./http-error.ts";

/** Settings of {@link Deadlines}. */
export interface DeadlinesOptions {
  readonly clock: Clock;
  readonly timeouts: HttpTimeouts;
  readonly url: string;
  /** Called at most once; nothing is watched any more. */
  readonly onTimeout: (error: NanoAgentError) => void;
}

/** The time limits of one request. Costs no timer per event: progress is a time the timer looks at. */
export class Deadlines {
  readonly #options: DeadlinesOptions;
  readonly #startedAt: number;
  #answeredAt: number | undefined;
  /** Before the first event whatever was received last, then the last event. */
  #progressAt = 0;
  #hasEvents = false;
  #paused = false;
  #isStopped = false;
  #stopTimer: () => void = () => undefined;

  /** Starts with the limits for the headers and for the whole request. */
  constructor(options: DeadlinesOptions) {
    this.#options = options;
    this.#startedAt = options.clock.elapsed();
    this.#arm();
  }

  /** The headers are there: from now on signs of life and events count. */
  answered(): void {
    this.#answeredAt = this.#options.clock.elapsed();
    this.#progressAt = this.#answeredAt;
  }

  /** Something arrived: an event, or bytes that only show that the server is at work. */
  received(what: "event" | "bytes"): void {
    if (what === "event") this.#hasEvents = true;
    else if (this.#hasEvents) return;
    this.#progressAt = this.#options.clock.elapsed();
  }

  /** While the reader holds the flow back, silence is not the provider's. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#progressAt = this.#options.clock.elapsed();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  /** Sets the timer to when the next limit may be reached; one that begins later takes its whole time. */
  #arm(): void {
    const { clock, timeouts } = this.#options;
    const now = clock.elapsed();
    let at = Number.POSITIVE_INFINITY;
    for (const limit of LIMITS)
      if (timeouts[limit] > 0) at = Math.min(at, now + timeouts[limit], this.#reachedAt(limit));
    if (at === Number.POSITIVE_INFINITY) return;
    this.#stopTimer = startTimer(clock, at - now, () => {
      // It may have been stopped in the moment in which it was due.
      if (!this.#isStopped) this.#check();
    });
  }

  #check(): void {
    const now = this.#options.clock.elapsed();
    const limit = LIMITS.find((each) => this.#reachedAt(each) <= now);
    if (limit === undefined) {
      this.#arm();
      return;
    }
    this.stop();
    this.#options.onTimeout(timeoutError(this.#options.url, limit, this.#options.timeouts[limit]));
  }

  /** When a limit is reached if nothing happens until then. */
  #reachedAt(limit: keyof HttpTimeouts): number {
    const ms = this.#options.timeouts[limit];
    if (ms <= 0) return Number.POSITIVE_INFINITY;
    if (limit === "requestTimeoutMs") return this.#startedAt + ms;
    if (this.#answeredAt === undefined)
      return limit === "headerTimeoutMs" ? this.#startedAt + ms : Number.POSITIVE_INFINITY;
    if (limit === "firstEventTimeoutMs" && !this.#hasEvents) return this.#answeredAt + ms;
    if (limit !== "idleTimeoutMs") return Number.POSITIVE_INFINITY;
    return (this.#paused ? this.#options.clock.elapsed() : this.#progressAt) + ms;
  }
}

const LIMITS = ["headerTimeoutMs", "idleTimeoutMs", "firstEventTimeoutMs", "requestTimeoutMs"] as const;
