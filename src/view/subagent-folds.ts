import type { SubagentEvent } from "../core/agent/entries.ts";
import { SpendingTally } from "../journal/session-usage.ts";
import { ItemFold } from "./fold-items.ts";
import type { ToolItem } from "./view.ts";

interface Subagent {
  readonly name: string;
  readonly items: ItemFold;
  readonly inner: SubagentFolds;
  readonly spent: SpendingTally;
}

/** The subagents of one transcript, each shown in the call that started it. */
export class SubagentFolds {
  readonly #around: ItemFold;
  /** By call id. Several of one call share its place. */
  readonly #byCall = new Map<string, Subagent>();

  constructor(around: ItemFold) {
    this.#around = around;
  }

  apply({ callId, agent, event }: SubagentEvent): void {
    const known = this.#byCall.get(callId) ?? newSubagent(agent);
    const { name, items, inner, spent } = known;
    this.#byCall.set(callId, known);
    if (event.type === "subagent") inner.apply(event);
    // The task it was given stands in the arguments of the call.
    else if (event.type !== "user_message") items.apply(event);
    if (event.type === "run_end") items.close();
    spent.add(event);
    const place = this.#around.placeOf(callId);
    if (place === undefined) return;
    const { costUsd, usage } = spent.total;
    const shown = { name, outputTokens: usage.outputTokens, costUsd, items: items.list.items };
    this.#around.list.change<ToolItem>(place, { agent: shown });
  }
}

function newSubagent(name: string): Subagent {
  const items = new ItemFold();
  return { name, items, inner: new SubagentFolds(items), spent: new SpendingTally() };
}
