import { NO_USAGE, tokenCount, type Usage } from "../../core/message/usage.ts";
import type { ResponsesUsage } from "./wire.ts";

/** Usage of an answer; {@link NO_USAGE} where none was reported. */
export function responsesUsage(raw: ResponsesUsage | null | undefined): Usage {
  if (raw === undefined || raw === null) return NO_USAGE;
  const read = raw.input_tokens_details?.cached_tokens;
  const write = raw.input_tokens_details?.cache_write_tokens;
  const reasoning = raw.output_tokens_details?.reasoning_tokens;
  return {
    inputTokens: tokenCount(raw.input_tokens),
    outputTokens: tokenCount(raw.output_tokens),
    ...(typeof read === "number" ? { cacheReadTokens: tokenCount(read) } : {}),
    ...(typeof write === "number" ? { cacheWriteTokens: tokenCount(write) } : {}),
    ...(typeof reasoning === "number" ? { reasoningTokens: tokenCount(reasoning) } : {}),
    raw,
  };
}
