import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTokens, InputEstimates } from "./estimate.ts";

// What common tokenizers make of the text, at least.
test.each([
  ["prose", "The loop asks the model and runs the tools it calls. ".repeat(100), 1_100],
  ["code", "if (a[0] === b) { return f(c, { d: [1, 2] }); }\n".repeat(100), 1_500],
  ["mixed punctuation", "{}[]();,.<>".repeat(200), 1_200],
  ["symbols", "!@#$%^&*()_+".repeat(200), 1_200],
  ["Chinese", "模型调用工具并返回结果。".repeat(100), 1_100],
])("%s is not estimated too low", (_what, text, least) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(least);
});

test("an estimate is no more than the bytes of a text, and no less than a fifth of them", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const bytes = new TextEncoder().encode(text).length;
      const tokens = estimateTokens(text);
      expect(tokens).toBeLessThanOrEqual(Math.max(bytes, text.length));
      expect(tokens).toBeGreaterThanOrEqual(bytes / 5);
    }),
  );
});

test("what a provider did by itself counts with the conversation", () => {
  const block = { type: "web_search_tool_result", content: "found ".repeat(1_000) };
  const own = { type: "text", text: "", provider_data: { anthropic: { block } } } as const;
  const tokens = new InputEstimates().ofRequest({ messages: [{ role: "assistant", content: [own] }] });
  expect(tokens).toBeGreaterThan(1_000);
});
