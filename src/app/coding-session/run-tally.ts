import type { AssistantEntry, ModelUsageEntry, PermissionEntry } from "../../core/agent/entry.ts";
import type { AgentEvent } from "../../core/agent/event.ts";
import { addUsage, NO_USAGE, type Usage } from "../../core/message/usage.ts";
import type { Denial, ModelSpending, Outcome } from "./outcome.ts";

/** What an {@link Outcome} has from the events of its run. */
export type TalliedFacts = Pick<Outcome, "denials" | "usage" | "cost" | "models" | "turns" | "apiDurationMs">;

/** What a run has come to so far; a fold over its events, good at any moment. */
export class RunTally {
  readonly #denials: Denial[] = [];
  readonly #models = new Map<string, ModelSpending>();
  #partialText = "";
  #turns = 0;
  #apiMs = 0;

  /** Text of the newest answer, as far as it has come. */
  get partialText(): string {
    return this.#partialText;
  }

  /** All of it. */
  get facts(): TalliedFacts {
    return {
      denials: this.#denials,
      ...spentOn([...this.#models.values()]),
      turns: this.#turns,
      apiDurationMs: this.#apiMs,
    };
  }

  add(event: AgentEvent): void {
    switch (event.type) {
      case "turn_start":
      case "retry":
        this.#partialText = "";
        return;
      case "text_delta":
        this.#partialText += event.text;
        return;
      case "assistant_message":
        this.#turns++;
        this.#spend(event);
        return;
      case "model_usage":
        this.#spend(event);
        return;
      case "subagent":
        this.#ofSubagent(event.event);
        return;
      case "permission_decision":
        this.#decision(event);
        return;
      default:
        return;
    }
  }

  /** What a subagent spends and is refused counts; its turns and words are its own. */
  #ofSubagent(event: AgentEvent): void {
    if (event.type === "subagent") this.#ofSubagent(event.event);
    else if (event.type === "assistant_message" || event.type === "model_usage") this.#spend(event);
    else if (event.type === "permission_decision") this.#decision(event);
  }

  #decision({ action, name, callId, input, reason }: PermissionEntry): void {
    if (action === "deny") this.#denials.push({ callId, name, input, reason });
  }

  #spend(entry: AssistantEntry | ModelUsageEntry): void {
    this.#apiMs += entry.durationMs;
    const { model } = entry;
    this.#models.set(model, withSpending(this.#models.get(model) ?? nothingSpent(model), entry));
  }
}

/** Nothing used yet. */
export function nothingSpent(model: string): ModelSpending {
  return { model, usage: NO_USAGE, costUsd: 0 };
}

/** What was spent, with one more answer or request beside the conversation. */
export function withSpending(before: ModelSpending, entry: AssistantEntry | ModelUsageEntry): ModelSpending {
  const usage: Usage = addUsage(before.usage, entry.usage);
  // A cut answer that was not charged by estimate says nothing about the price.
  const isCut = entry.type === "assistant_message" && entry.interrupted === true;
  const cost = isCut && entry.usage.estimated !== true ? 0 : entry.costUsd;
  const costUsd = before.costUsd === undefined || cost === undefined ? undefined : before.costUsd + cost;
  return { model: before.model, usage, costUsd };
}

/** What all models together were used for. */
export function spentOn(models: readonly ModelSpending[]): Pick<Outcome, "usage" | "cost" | "models"> {
  let usage = NO_USAGE;
  let cost: number | undefined = 0;
  for (const each of models) {
    usage = addUsage(usage, each.usage);
    cost = cost === undefined || each.costUsd === undefined ? undefined : cost + each.costUsd;
  }
  return { usage, cost, models };
}
