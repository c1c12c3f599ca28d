import type { JournalEntry } from "../core/agent/entries.ts";

/** Measures the active time of a session's runs, without the pauses between them. */
export class RunClock {
  readonly intervals: { readonly from: number; to: number }[] = [];
  /** Time of the newest entry. Never decreases, even if a clock was set back. */
  time: number = Number.NEGATIVE_INFINITY;
  /** Milliseconds of all runs so far. */
  activeMs = 0;
  /** True while the newest run has no end. */
  isOpen = false;
  runs = 0;

  /** When the newest run began. */
  get startedAt(): number {
    return this.intervals.at(-1)?.from ?? this.time;
  }

  /** Takes an entry. If it begins a run and the run before was interrupted, returns when that one ended. */
  apply({ type, scope, time }: Pick<JournalEntry, "type" | "scope" | "time">): number | undefined {
    this.time = Math.max(this.time, time);
    const isOuter = scope === undefined;
    const begins = isOuter && (type === "run_start" || type === "run_resume");
    if (isOuter && type === "run_start") this.runs++;
    const interruptedAt = begins && this.isOpen ? this.intervals.at(-1)?.to : undefined;
    if (begins || this.intervals.length === 0) {
      this.intervals.push({ from: this.time, to: this.time });
      this.isOpen = begins;
    }
    // Entries a host writes between runs, such as a change of model, are not active time.
    if (this.isOpen) this.#extendTo(this.time);
    if (isOuter && type === "run_end") this.isOpen = false;
    return interruptedAt;
  }

  /** The end of the newest run. Without an end in the journal, the run continues until `now`. */
  end(now: number | undefined): number {
    if (this.isOpen && now !== undefined) this.#extendTo(Math.max(now, this.time));
    return this.intervals.at(-1)?.to ?? this.time;
  }

  #extendTo(time: number): void {
    const last = this.intervals.at(-1);
    if (last === undefined) return;
    this.activeMs += time - last.to;
    last.to = time;
  }
}
