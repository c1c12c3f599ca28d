import type { Line } from "./paint/line.ts";

const HINT_MS = 4_000;

/** A line in place of the status, for a moment that begins when it is drawn: busy machines draw late. */
export class Hint {
  #line: Line | undefined;
  #until: number | undefined;

  say(line: Line): void {
    this.#line = line;
    this.#until = undefined;
  }

  clear(): void {
    this.#line = undefined;
  }

  /** The line to draw now; `undefined` when nothing is said, or its time is over. */
  drawnAt(ms: number): Line | undefined {
    if (this.#line === undefined) return undefined;
    this.#until ??= ms + HINT_MS;
    return ms < this.#until ? this.#line : undefined;
  }

  /** Milliseconds until it has to go; 0 where nothing stands. */
  leftAt(ms: number): number {
    return this.#line === undefined ? 0 : Math.max(0, (this.#until ?? ms) - ms);
  }
}
