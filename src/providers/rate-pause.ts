/** Until when requests to a provider wait that refused one as too many; shared by all of one limit. */
export class RatePause {
  #untilMs = 0;

  /** No request before this moment (of the clock's `elapsed`). An earlier one than known changes nothing. */
  holdUntil(timeMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, timeMs);
  }

  /** Milliseconds a request should wait now; 0: none. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs);
  }
}

/** The pauses of several providers: one for each, by an address that stands for its limit. */
export class RatePauses {
  readonly #pauses = new Map<string, RatePause>();

  /** The pause of an address; always the same one. */
  of(address: string): RatePause {
    const known = this.#pauses.get(address) ?? new RatePause();
    this.#pauses.set(address, known);
    return known;
  }
}
