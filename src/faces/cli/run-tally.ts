import type { AssistantEntry, ModelUsageEntry, PermissionEntry } from "../../core/agent/entry.ts";
import type { AgentEvent } from "../../core/agent/event.ts";
import { GrowingText } from "../../core/base/growing-text.ts";
import { addUsage, NO_USAGE, type Usage } from "../../core/message/usage.ts";
import type { PermissionDenial, ResultLine } from "./event-line.ts";
import { lineUsage } from "./line-content.ts";

interface ModelTally {
  usage: Usage;
  costUsd: number | undefined;
}

/** What a run has come to so far, for its last line and its exit code; a fold over its events, good at any moment. */
export class RunTally {
  readonly denials: PermissionDenial[] = [];
  #partialText = new GrowingText();
  turns = 0;
  #apiMs = 0;
  readonly #models = new Map<string, ModelTally>();

  /** Text of the newest answer, as far as it has come. */
  get partialText(): string {
    return this.#partialText.toString();
  }

  add(event: AgentEvent): void {
    switch (event.type) {
      case "turn_start":
      case "retry":
        this.#partialText = new GrowingText();
        return;
      case "text_delta":
        this.#partialText.add(event.text);
        return;
      case "assistant_message":
        this.turns++;
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

  /** Usage and cost of the run, in the words of the last line. */
  totals(): Pick<
    ResultLine,
    "usage" | "modelUsage" | "total_cost_usd" | "duration_api_ms" | "num_turns" | "permission_denials"
  > {
    let usage = NO_USAGE;
    let cost: number | undefined = 0;
    const modelUsage: { [model: string]: ResultLine["modelUsage"][string] } = {};
    for (const [model, tally] of this.#models) {
      usage = addUsage(usage, tally.usage);
      cost = cost === undefined || tally.costUsd === undefined ? undefined : cost + tally.costUsd;
      const words = lineUsage(tally.usage);
      modelUsage[model] = {
        inputTokens: words.input_tokens,
        outputTokens: words.output_tokens,
        cacheReadInputTokens: words.cache_read_input_tokens,
        cacheCreationInputTokens: words.cache_creation_input_tokens,
        costUSD: tally.costUsd ?? null,
      };
    }
    return {
      duration_api_ms: this.#apiMs,
      num_turns: this.turns,
      total_cost_usd: cost ?? null,
      usage: lineUsage(usage),
      modelUsage,
      permission_denials: this.denials,
    };
  }

  /** What a subagent spends and is refused counts; its turns and words are its own. */
  #ofSubagent(event: AgentEvent): void {
    if (event.type === "subagent") this.#ofSubagent(event.event);
    else if (event.type === "assistant_message" || event.type === "model_usage") this.#spend(event);
    else if (event.type === "permission_decision") this.#decision(event);
  }

  #decision({ action, name, callId, input, reason }: PermissionEntry): void {
    if (action === "deny")
      this.denials.push({ tool_name: name, tool_use_id: callId, tool_input: input, reason });
  }

  #spend(entry: AssistantEntry | ModelUsageEntry): void {
    this.#apiMs += entry.durationMs;
    const before = this.#models.get(entry.model) ?? { usage: NO_USAGE, costUsd: 0 };
    // A cut answer that was not charged by estimate says nothing about the price.
    const isCut = entry.type === "assistant_message" && entry.interrupted === true;
    const cost = isCut && entry.usage.estimated !== true ? 0 : entry.costUsd;
    this.#models.set(entry.model, {
      usage: addUsage(before.usage, entry.usage),
      costUsd: before.costUsd === undefined || cost === undefined ? undefined : before.costUsd + cost,
    });
  }
}
