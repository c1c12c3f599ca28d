import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GoogleUsage } from "./google-json.ts";
import { googleUsage } from "./google-wire.ts";

const COUNTS = [
  "promptTokenCount",
  "cachedContentTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
] as const;

describe("googleUsage", () => {
  it("counts thoughts as output and tool prompts as input, whatever is missing", () => {
    const reported = fc.record(Object.fromEntries(COUNTS.map((name) => [name, fc.nat()])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(reported, (raw: GoogleUsage) => {
        const { cachedContentTokenCount: cached, thoughtsTokenCount: thoughts } = raw;
        expect(googleUsage(raw)).toEqual({
          inputTokens: (raw.promptTokenCount ?? 0) + (raw.toolUsePromptTokenCount ?? 0),
          outputTokens: (raw.candidatesTokenCount ?? 0) + (thoughts ?? 0),
          ...(cached === undefined ? {} : { cacheReadTokens: cached }),
          ...(thoughts === undefined ? {} : { reasoningTokens: thoughts }),
          raw,
        });
      }),
    );
  });

  it("is no tokens where nothing was reported", () => {
    expect(googleUsage(undefined)).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});
