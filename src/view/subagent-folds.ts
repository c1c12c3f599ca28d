import type { AgentEvent, JournalEntry, SubagentEvent } from "../core/agent/entries.ts";
import { addSpending, NO_SPENDING, type Spending } from "../core/agent/state.ts";
import { ItemFold } from "./fold-items.ts";
import type { ToolItem } from "./view.ts";

interface Subagent {
  readonly name: string;
  readonly items: ItemFold;
  readonly inner: SubagentFolds;
  spent: Spending;
}

/** The subagents of one transcript, each shown in the call that started it. */
export class SubagentFolds {
  readonly #around: ItemFold;
  /** By call id. Several of one call share its place. */
  readonly #byCall = new Map<string, Subagent>();
  /** By the scope their stored entries bear. */
  readonly #byScope = new Map<string, string>();

  constructor(around: ItemFold) {
    this.#around = around;
  }

  apply({ callId, agent, event }: SubagentEvent): void {
    this.#fold(callId, agent, event);
  }

  /** Takes up a stored entry, if a subagent wrote it. Its `run_start` says whose the scope is. */
  takes(entry: JournalEntry): boolean {
    const { scope = "" } = entry;
    if (entry.type === "run_start" && entry.agent !== undefined && !this.#isInside(scope)) {
      const callId = this.#callOf(scope);
      if (callId === undefined) return false;
      this.#byScope.set(scope, callId);
    }
    for (let own = scope; own !== ""; own = parentScope(own)) {
      const callId = this.#byScope.get(own);
      if (callId === undefined) continue;
      const name = entry.type === "run_start" ? (entry.agent ?? "") : (this.#byCall.get(callId)?.name ?? "");
      const isInner = own !== scope && this.#byCall.get(callId)?.inner.takes(entry) === true;
      if (!isInner) this.#fold(callId, name, entry);
      else this.#show(callId, entry);
      return true;
    }
    return false;
  }

  #isInside(scope: string): boolean {
    for (let own = parentScope(scope); own !== ""; own = parentScope(own))
      if (this.#byScope.has(own)) return true;
    return false;
  }

  /** The open call that a scope is named after: `NAME/CALL`, and `/NUMBER` for further ones of that call. */
  #callOf(scope: string): string | undefined {
    for (const candidate of [scope, parentScope(scope)]) {
      for (let at = candidate.indexOf("/"); at !== -1; at = candidate.indexOf("/", at + 1)) {
        const callId = candidate.slice(at + 1);
        if (this.#around.placeOf(callId) !== undefined) return callId;
      }
    }
    return undefined;
  }

  #fold(callId: string, agent: string, event: AgentEvent): void {
    const known = this.#byCall.get(callId) ?? newSubagent(agent);
    this.#byCall.set(callId, known);
    if (event.type === "subagent") known.inner.apply(event);
    // The task it was given stands in the arguments of the call.
    else if (event.type !== "user_message") known.items.apply(event);
    if (event.type === "run_end") known.items.close();
    this.#show(callId, event);
  }

  #show(callId: string, event: AgentEvent): void {
    const subagent = this.#byCall.get(callId);
    if (subagent === undefined) return;
    const told = innermost(event);
    if (told.type === "assistant_message" || told.type === "model_usage")
      subagent.spent = addSpending(subagent.spent, told);
    const place = this.#around.placeOf(callId);
    if (place === undefined) return;
    const { name, items, spent } = subagent;
    const { costUsd, usage } = spent;
    const agent = { name, outputTokens: usage.outputTokens, costUsd, items: items.list.items };
    this.#around.list.change<ToolItem>(place, { agent });
  }
}

function newSubagent(name: string): Subagent {
  const items = new ItemFold();
  return { name, items, inner: new SubagentFolds(items), spent: NO_SPENDING };
}

function parentScope(scope: string): string {
  return scope.slice(0, Math.max(0, scope.lastIndexOf("/")));
}

/** The event that a subagent of whatever depth published. */
export function innermost(event: AgentEvent): AgentEvent {
  return event.type === "subagent" ? innermost(event.event) : event;
}
