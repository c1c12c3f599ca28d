import type { JournalEntry } from "../../core/agent/entry.ts";
import type { Message } from "../../core/message/message.ts";
import { estimateTokens, InputEstimates } from "../../core/model/estimate.ts";
import type { ToolSpec } from "../../core/model/model.ts";
import { sessionUsage } from "../session-page/session-usage.ts";
import type { ContextStats, SessionStats } from "./coding-session.ts";

/** What the next request would be made of. */
export interface ContextParts {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  readonly windowTokens: number | undefined;
}

/** What a session has come to, from its entries. */
export function sessionStats(journal: Iterable<JournalEntry>, context: ContextParts): SessionStats {
  const entries = [...journal];
  const { runs, models, tools, total } = sessionUsage(entries);
  let turns = 0;
  let measured: number | undefined;
  for (const entry of entries) {
    if (entry.type === "compaction" || entry.type === "compaction_undone") measured = undefined;
    if (entry.type !== "assistant_message" || entry.scope !== undefined) continue;
    turns++;
    const { inputTokens, outputTokens } = entry.usage;
    if (inputTokens > 0) measured = inputTokens + outputTokens;
  }
  return {
    usage: total.usage,
    cost: total.costUsd,
    models: Object.entries(models).map(([model, spending]) => ({ model, ...spending })),
    runs,
    turns,
    toolCalls: Object.values(tools).reduce((sum, { calls }) => sum + calls, 0),
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
