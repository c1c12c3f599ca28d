import type { SubagentEvent } from "./event.ts";

/**
 * State that an observer keeps for each subagent at work, found by the events of a run: events of several
 * subagents come mixed, and one tool call may start more than one.
 */
export class OpenSubagents<T> {
  readonly #open = new Map<string, T>();

  /** The state for the subagent of an event; `make()` gives it at the first event. */
  of(event: SubagentEvent, make: () => T): T | undefined {
    if (event.event.type === "run_start") this.#open.set(keyOf(event), make());
    return this.#open.get(keyOf(event));
  }

  /** Forgets the subagent of an event, which was its last one. */
  close(event: SubagentEvent): void {
    this.#open.delete(keyOf(event));
  }

  /** Forgets all of them and gives what was kept, the newest first. */
  closeAll(): readonly T[] {
    const kept = [...this.#open.values()].reverse();
    this.#open.clear();
    return kept;
  }
}

function keyOf({ callId, number = 1 }: SubagentEvent): string {
  return `${number} ${callId}`;
}
