import type { AgentEvent, SubagentEvent } from "./event.ts";

/**
 * What an observer keeps for each subagent at work, found by the events of a run: events of several subagents come mixed, and one
 * tool call may start more than one.
 */
export class OpenSubagents<T> {
  readonly #open: { readonly callId: string; readonly scope: string | undefined; readonly kept: T }[] = [];

  /** Keeps `make()` when the event is the first one of a subagent; finds what is kept for the subagent of any other event. */
  of({ callId, event }: SubagentEvent, make: () => T): T | undefined {
    const scope = scopeOf(event);
    if (event.type === "run_start") {
      const kept = make();
      this.#open.push({ callId, scope, kept });
      return kept;
    }
    return this.#open.findLast((each) => isOf(each, callId, scope))?.kept;
  }

  /** Forgets the subagent of an event, which was its last one. */
  close({ callId, event }: SubagentEvent): void {
    const scope = scopeOf(event);
    const at = this.#open.findLastIndex((each) => isOf(each, callId, scope));
    if (at >= 0) this.#open.splice(at, 1);
  }

  /** Forgets all of them and gives what was kept, the newest first. */
  closeAll(): readonly T[] {
    return this.#open
      .splice(0)
      .map(({ kept }) => kept)
      .reverse();
  }
}

/** Entries name their run; what is only for the moment belongs to the newest of its call. */
function scopeOf(event: AgentEvent): string | undefined {
  return "scope" in event ? event.scope : undefined;
}

function isOf(
  each: { readonly callId: string; readonly scope: string | undefined },
  callId: string,
  scope: string | undefined,
): boolean {
  return each.callId === callId && (scope === undefined || each.scope === scope);
}
