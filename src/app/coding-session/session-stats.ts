import type { JournalEntry } from "../../core/agent/entry.ts";
import type { Message } from "../../core/message/message.ts";
import { estimateTokens, InputEstimates } from "../../core/model/estimate.ts";
import type { ToolSpec } from "../../core/model/model.ts";
import type { ContextStats, SessionStats } from "./coding-session.ts";
import { ModelTally } from "./run-tally.ts";

/** What the next request would be made of. */
export interface ContextParts {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  readonly windowTokens: number | undefined;
}

/** What a session has come to, from its entries. */
export function sessionStats(entries: Iterable<JournalEntry>, context: ContextParts): SessionStats {
  const spent = new ModelTally();
  let runs = 0;
  let turns = 0;
  let toolCalls = 0;
  let measured: number | undefined;
  for (const entry of entries) {
    const isOuter = entry.scope === undefined;
    if (entry.type === "run_start" && isOuter) runs++;
    else if (entry.type === "tool_result") toolCalls++;
    else if (entry.type === "compaction" || entry.type === "compaction_undone") measured = undefined;
    if (entry.type !== "assistant_message" && entry.type !== "model_usage") continue;
    spent.add(entry);
    if (entry.type !== "assistant_message" || !isOuter) continue;
    turns++;
    const { inputTokens, outputTokens } = entry.usage;
    if (inputTokens > 0) measured = inputTokens + outputTokens;
  }
  return {
    usage: spent.total.usage,
    cost: spent.total.costUsd,
    models: spent.models,
    runs,
    turns,
    toolCalls,
    context: contextStats(context, measured),
  };
}

function contextStats(
  { system, tools, messages, windowTokens }: ContextParts,
  measured: number | undefined,
): ContextStats {
  const estimates = new InputEstimates();
  const parts = {
    system: estimateTokens(system),
    tools: estimates.ofRequest({ tools, messages: [] }),
    messages: estimates.ofRequest({ messages }),
  };
  const usedTokens = measured ?? parts.system + parts.tools + parts.messages;
  return { usedTokens, ...(windowTokens === undefined ? {} : { windowTokens }), parts };
}
