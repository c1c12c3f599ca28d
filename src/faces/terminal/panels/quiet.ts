/** A question takes keys only after so long without one: nothing typed for something else is an answer. */
export const QUIET_MS = 200;

/** The quiet that a question wants from the moment on that it can be seen. */
export class Quiet {
  readonly #now: () => number;
  #since: number | undefined;

  /** `now`: milliseconds from some moment on. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** It can be seen. */
  begin(): void {
    this.#since ??= this.#now();
  }

  /** A key came that was for something else: the quiet begins anew, if it has begun. */
  disturb(): void {
    if (this.#since !== undefined) this.#since = this.#now();
  }

  get isOver(): boolean {
    return this.#since !== undefined && this.#now() - this.#since >= QUIET_MS;
  }
}
