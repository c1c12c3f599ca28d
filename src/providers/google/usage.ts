import { NO_USAGE, tokenCount, type Usage } from "../../core/message/usage.ts";
import type { GoogleUsage } from "./wire.ts";

/** `usageMetadata` in our words: prompts of server-side tools are input, thoughts are output. None at all counts as no tokens. */
export function googleUsage(raw: GoogleUsage | undefined): Usage {
  if (raw === undefined) return NO_USAGE;
  return {
    inputTokens: tokenCount(raw.promptTokenCount) + tokenCount(raw.toolUsePromptTokenCount),
    outputTokens: tokenCount(raw.candidatesTokenCount) + tokenCount(raw.thoughtsTokenCount),
    ...(raw.cachedContentTokenCount === undefined
      ? {}
      : { cacheReadTokens: tokenCount(raw.cachedContentTokenCount) }),
    ...(raw.thoughtsTokenCount == null ? {} : { reasoningTokens: tokenCount(raw.thoughtsTokenCount) }),
    raw,
  };
}
