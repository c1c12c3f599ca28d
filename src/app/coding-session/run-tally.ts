import type { PermissionEntry } from "../../core/agent/entry.ts";
import type { AgentEvent } from "../../core/agent/event.ts";
import { addSpending, NO_SPENDING, type Spending, type SpendingEntry } from "../../core/agent/spending.ts";
import { GrowingText } from "../../core/base/growing-text.ts";
import type { Denial, ModelSpending, Outcome } from "./outcome.ts";

/** What an {@link Outcome} has from the events of its run. */
export type TalliedFacts = Pick<Outcome, "denials" | "usage" | "cost" | "models" | "turns" | "apiDurationMs">;

/** What was spent, by model. */
export class ModelTally {
  #total = NO_SPENDING;
  readonly #models = new Map<string, Spending>();

  get total(): Spending {
    return this.#total;
  }

  get models(): readonly ModelSpending[] {
    return [...this.#models].map(([model, spending]) => ({ model, ...spending }));
  }

  add(entry: SpendingEntry): void {
    this.#total = addSpending(this.#total, entry);
    this.#models.set(entry.model, addSpending(this.#models.get(entry.model) ?? NO_SPENDING, entry));
  }
}

/** Characters of an answer from which on no more of it is kept here. */
const MAX_PARTIAL_CHARS = 200_000;

/** What a run has come to so far; a fold over its events, good at any moment. */
export class RunTally {
  readonly #denials: Denial[] = [];
  readonly #spent = new ModelTally();
  #partialText = new GrowingText();
  #partialChars = 0;
  #turns = 0;

  /**
   * Text of the newest answer, as far as it has come, or the beginning of it: who reads it has an answer that
   * was cut.
   */
  get partialText(): string {
    return this.#partialText.toString();
  }

  /** All of it. */
  get facts(): TalliedFacts {
    const { usage, costUsd: cost, durationMs: apiDurationMs } = this.#spent.total;
    const { models } = this.#spent;
    return { denials: this.#denials, usage, cost, models, turns: this.#turns, apiDurationMs };
  }

  add(event: AgentEvent): void {
    switch (event.type) {
      case "turn_start":
      case "retry":
        this.#partialText = new GrowingText();
        this.#partialChars = 0;
        return;
      case "text_delta":
        if (this.#partialChars < MAX_PARTIAL_CHARS) this.#partialText.add(event.text);
        this.#partialChars += event.text.length;
        return;
      case "assistant_message":
        this.#turns++;
        this.#spent.add(event);
        return;
      case "model_usage":
        this.#spent.add(event);
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
    else if (event.type === "permission_decision") this.#decision(event);
    else if (event.type === "assistant_message" || event.type === "model_usage") this.#spent.add(event);
  }

  #decision({ action, name, callId, input, reason }: PermissionEntry): void {
    if (action === "deny") this.#denials.push({ callId, name, input, reason });
  }
}
