import type { AgentEvent, SubagentEvent } from "../core/agent/entries.ts";

export interface SubagentScope {
  /** The scope of its entries. */
  readonly scope: string;
  /** The call that started it, or its scope if the session does not contain that call. */
  readonly callId: string;
  readonly agent: string;
  /** The subagent that started it; undefined if the conversation or a phase of its pattern did. */
  readonly parent: SubagentScope | undefined;
}

/**
 * Finds the subagent that wrote an entry: the innermost one whose `run_start` has the entry's scope or one
 * above it. Phases of a pattern have scopes too, without a `run_start`. Needs every entry, in order.
 */
export class Scopes {
  readonly #subagents = new Map<string, SubagentScope>();
  /** Calls by the scope that their subagent gets. */
  readonly #calls = new Map<string, { readonly callId: string; readonly name: string }>();

  /** The subagent that wrote an entry; undefined for the conversation and the phases of its pattern. */
  of(event: AgentEvent): SubagentScope | undefined {
    if (event.type === "tool_intent") {
      const { scope, name, callId } = event;
      this.#calls.set(`${scope === undefined ? "" : `${scope}/`}${name}/${callId}`, { callId, name });
    }
    if (!("scope" in event) || event.scope === undefined) return undefined;
    const { scope } = event;
    if (event.type === "run_start") {
      // A second subagent of the same call has a number at the end of its scope.
      const call = this.#calls.get(scope) ?? this.#calls.get(scope.replace(/\/\d+$/, ""));
      const [callId, agent] = [call?.callId ?? scope, event.agent ?? call?.name ?? "subagent"];
      this.#subagents.set(scope, { scope, callId, agent, parent: this.#innermost(parentOf(scope)) });
    }
    return this.#innermost(scope);
  }

  /** An entry as a run publishes it: a subagent's entry is wrapped in an event of each subagent around it. */
  toPublished(entry: AgentEvent): AgentEvent {
    let event = entry;
    for (let from = this.of(entry); from !== undefined; from = from.parent)
      event = { type: "subagent", callId: from.callId, agent: from.agent, event };
    return event;
  }

  #innermost(scope: string): SubagentScope | undefined {
    for (let own = scope; own !== ""; own = parentOf(own)) {
      const subagent = this.#subagents.get(own);
      if (subagent !== undefined) return subagent;
    }
    return undefined;
  }
}

function parentOf(scope: string): string {
  return scope.slice(0, Math.max(0, scope.lastIndexOf("/")));
}

/** The event inside, published by a subagent at any depth. */
export function innermostEvent(event: AgentEvent): AgentEvent {
  return event.type === "subagent" ? innermostEvent(event.event) : event;
}

/**
 * State that an observer keeps for each running subagent, looked up by the events of a run: events of several
 * subagents are interleaved, and one tool call may start more than one.
 */
export class OpenSubagents<T> {
  readonly #open = new Map<string, T>();

  /** The state for the subagent of an event; its first event creates it with `make()`. */
  of(event: SubagentEvent, make: () => T): T | undefined {
    if (event.event.type === "run_start") this.#open.set(keyOf(event), make());
    return this.#open.get(keyOf(event));
  }

  /** Forgets the subagent of an event. Call it with its last one. */
  close(event: SubagentEvent): void {
    this.#open.delete(keyOf(event));
  }

  /** Forgets all of them and returns their state, newest first. */
  closeAll(): readonly T[] {
    const states = [...this.#open.values()].reverse();
    this.#open.clear();
    return states;
  }
}

function keyOf({ callId, number = 1 }: SubagentEvent): string {
  return `${number} ${callId}`;
}
