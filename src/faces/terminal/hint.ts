import { type Line, line, span, wrapLine } from "./paint/line.ts";
import type { Role } from "./paint/theme.ts";

const HINT_MS = 4_000;
const MAX_ROWS = 3;

/** A line above the status, for a moment that begins when it is drawn: busy machines draw late. */
export class Hint {
  #line: Line | undefined;
  #until: number | undefined;

  say(text: string, role: Role): void {
    const isAlarm = role === "warning" || role === "bad";
    this.#line = isAlarm ? [span("! ", { role }), span(text)] : line(text, { role });
    this.#until = undefined;
  }

  clear(): void {
    this.#line = undefined;
  }

  /** The rows to draw now; none when nothing is said, or its time is over. */
  rowsAt(ms: number, width: number): readonly Line[] {
    if (this.#line === undefined) return [];
    this.#until ??= ms + HINT_MS;
    return ms < this.#until ? wrapLine(this.#line, { width, first: line("  ") }).slice(0, MAX_ROWS) : [];
  }

  /** Milliseconds until it has to go; 0 where nothing stands. */
  leftAt(ms: number): number {
    return this.#line === undefined ? 0 : Math.max(0, (this.#until ?? ms) - ms);
  }
}
