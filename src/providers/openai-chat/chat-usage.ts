import { NO_USAGE, tokenCount, type Usage, usageParts } from "../../core/message/usage.ts";
import type { ChatUsage } from "./chat-json.ts";

/** Usage in the spelling of any vendor. {@link NO_USAGE} where none was reported. */
export function chatUsage(raw: ChatUsage | undefined): Usage {
  if (raw === undefined) return NO_USAGE;
  const prompt = tokenCount(raw.prompt_tokens ?? raw.input_tokens);
  const completion = tokenCount(raw.completion_tokens ?? raw.output_tokens);
  const write =
    raw.prompt_tokens_details?.cache_write_tokens ??
    raw.prompt_tokens_details?.cache_creation_input_tokens ??
    raw.cache_creation_input_tokens;
  const reasoning = raw.completion_tokens_details?.reasoning_tokens ?? raw.reasoning_tokens;
  const reasoned = tokenCount(reasoning);
  // xAI counts reasoning beside the completion, everybody else within it; the total tells.
  const apart = reasoned > 0 && tokenCount(raw.total_tokens) === prompt + completion + reasoned;
  return {
    inputTokens: prompt,
    outputTokens: completion + (apart ? reasoned : 0),
    ...usageParts({ cacheReadTokens: cacheRead(raw), cacheWriteTokens: write, reasoningTokens: reasoning }),
    raw,
  };
}

/**
 * US dollars a provider says it charged. OpenRouter's `cost` is its own charge: with a key of one's own for
 * the maker that is the fee, and the maker's charge is a field of its own.
 */
export function reportedCost(raw: ChatUsage | undefined): number | undefined {
  const { cost, is_byok, cost_details } = raw ?? {};
  if (typeof cost !== "number" || !Number.isFinite(cost) || cost < 0) return undefined;
  const upstream = is_byok === true ? cost_details?.upstream_inference_cost : undefined;
  return cost + (typeof upstream === "number" && upstream > 0 ? upstream : 0);
}

function cacheRead(raw: ChatUsage): number | null | undefined {
  return (
    raw.prompt_tokens_details?.cached_tokens ??
    raw.prompt_cache_hit_tokens ??
    raw.cached_tokens ??
    raw.cache_read_input_tokens
  );
}
