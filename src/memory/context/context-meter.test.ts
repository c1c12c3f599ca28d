import fc from "fast-check";
import { expect, test } from "vitest";
import { assistantMessage, type Message, userMessage } from "../../core/message/message.ts";
import type { ContextView } from "./compactor.ts";
import { ContextMeter, IMAGE_TOKENS } from "./context-meter.ts";

const conversation = {};
const IMAGE = { type: "image", source: { type: "url", url: "https://x/y.png" } } as const;

function view(messages: readonly Message[], changes: Partial<ContextView> = {}): ContextView {
  return {
    conversation,
    messages,
    revision: 0,
    measured: undefined,
    request: {},
    tools: [],
    info: undefined,
    ...changes,
  };
}

function result(text: string): Message {
  return userMessage([{ type: "tool_result", tool_use_id: "a", content: text }]);
}

const CALL = assistantMessage([{ type: "tool_use", id: "a", name: "read", input: { path: "a" } }]);

test("what the provider counted is the truth; only what came after is estimated", () => {
  const messages = [userMessage("go"), CALL, result("word ".repeat(1_000))];
  const measured = { tokens: 50_000, messages: 2 };
  const { tokens } = new ContextMeter().measure(view(messages, { measured }));
  expect(tokens).toBeGreaterThan(51_000);
  // The report is far above the estimate of two short messages: the correction is bounded.
  expect(tokens).toBeLessThan(56_000);
});

test("the estimate is corrected by what it was off, also after the figure of the provider is void", () => {
  const meter = new ContextMeter();
  const text = "some words of an ordinary text ".repeat(500);
  const messages = [userMessage(text), assistantMessage(text)];
  const plain = meter.measure(view(messages)).tokens;
  const measured = { tokens: plain * 2, messages: 2 };
  expect(meter.measure(view(messages, { measured })).tokens).toBe(plain * 2);
  expect(meter.measure(view(messages)).tokens).toBe(plain * 2);
});

test("system prompt, tools and images count", () => {
  const meter = new ContextMeter();
  const tools = [
    { name: "read", description: "Reads a file. ".repeat(50), parameters: { type: "object" } },
  ] as const;
  const bare = meter.measure(view([userMessage([IMAGE])]));
  const full = meter.measure(
    view([userMessage([IMAGE])], { tools, request: { system: "Be brief. ".repeat(50) } }),
  );
  expect(bare.tokens).toBeGreaterThanOrEqual(IMAGE_TOKENS);
  expect(full.tokens - bare.tokens).toBe(full.fixed);
  expect(full.fixed).toBeGreaterThan(200);
});

test("a tool result of 200 KB never counts as nearly nothing, whatever was reported before it", () => {
  const pieces = ["0", "{}", "x ", "  ", "结果", "\n", '{"a":1},', "=".repeat(9), "\u{1f600}"];
  fc.assert(
    fc.property(fc.constantFrom(...pieces), fc.nat(1_000_000), (piece, reported) => {
      const messages = [userMessage("go"), CALL, result(piece.repeat(Math.ceil(200_000 / piece.length)))];
      const measured = { tokens: reported, messages: 2 };
      const { of } = new ContextMeter().measure(view(messages, { measured }));
      expect(of(messages.slice(2))).toBeGreaterThan(6_000);
    }),
    { numRuns: 12 },
  );
});
