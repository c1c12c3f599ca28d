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

test("what the provider counted is the truth; only what came after is estimated", async () => {
  const messages = [userMessage("go"), CALL, result("word ".repeat(1_000))];
  const measured = { tokens: 50_000, messages: 2 };
  const { tokens } = await new ContextMeter().measure(view(messages, { measured }));
  expect(tokens).toBeGreaterThan(51_000);
  // The report is far above the estimate of two short messages: the correction is bounded.
  expect(tokens).toBeLessThan(54_000);
});

test("the estimate is corrected by what it was off, also after the figure of the provider is void", async () => {
  const meter = new ContextMeter();
  const text = "some words of an ordinary text ".repeat(500);
  const messages = [userMessage(text), assistantMessage(text)];
  const plain = (await meter.measure(view(messages))).tokens;
  const measured = { tokens: plain * 2, messages: 2 };
  expect((await meter.measure(view(messages, { measured }))).tokens).toBe(plain * 2);
  expect((await meter.measure(view(messages))).tokens).toBe(plain * 2);
});

test("system prompt, tools and images count", async () => {
  const meter = new ContextMeter();
  const tools = [
    { name: "read", description: "Reads a file. ".repeat(50), parameters: { type: "object" } },
  ] as const;
  const bare = await meter.measure(view([userMessage([IMAGE])]));
  const full = await meter.measure(
    view([userMessage([IMAGE])], { tools, request: { system: "Be brief. ".repeat(50) } }),
  );
  expect(bare.tokens).toBeGreaterThanOrEqual(IMAGE_TOKENS);
  expect(full.tokens - bare.tokens).toBe(full.fixed);
  expect(full.fixed).toBeGreaterThan(200);
});

test("while there is room a look costs what is new, however long the conversation is", () => {
  const meter = new ContextMeter();
  let reads = 0;
  const messages: Message[] = [];
  const watched = new Proxy(messages, {
    get: (target, key, receiver) => {
      if (/^\d+$/.test(String(key))) reads += 1;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  for (let turn = 0; turn < 200; turn += 1) {
    messages.push(userMessage("a question"), assistantMessage("an answer"));
    meter.upperBound(view(watched));
  }
  expect(reads).toBe(messages.length);
});

test("a tool result of 200 KB never counts as nearly nothing, whatever was reported before it", async () => {
  const pieces = ["0", "{}", "x ", "  ", "结果", "\n", '{"a":1},', "=".repeat(9), "\u{1f600}"];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...pieces), fc.nat(1_000_000), async (piece, reported) => {
      const messages = [userMessage("go"), CALL, result(piece.repeat(Math.ceil(200_000 / piece.length)))];
      const measured = { tokens: reported, messages: 2 };
      const { of } = await new ContextMeter().measure(view(messages, { measured }));
      expect(of(messages.slice(2))).toBeGreaterThan(6_000);
    }),
    { numRuns: 12 },
  );
});

test("the bound is never below the size, as a conversation grows, shrinks and is measured", async () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 400 }),
    fc.constantFrom("中文".repeat(300), "{}[]".repeat(200)),
  );
  const step = fc.record({ text, measure: fc.boolean(), shrink: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const meter = new ContextMeter();
      const messages: Message[] = [];
      let measured: ContextView["measured"];
      let revision = 0;
      for (const each of steps) {
        if (each.shrink) {
          messages.splice(0, Math.floor(messages.length / 2), userMessage("summary"));
          measured = undefined;
          revision += 1;
        }
        messages.push(userMessage(`${each.text}.`));
        const now = view(messages, { revision, ...(measured === undefined ? {} : { measured }) });
        const most = meter.upperBound(now);
        const fresh = new ContextMeter();
        expect(most).toBe(fresh.upperBound(now));
        expect(most).toBeGreaterThanOrEqual(
          (await fresh.measure(view(messages))).tokens * (measured === undefined ? 1 : 0),
        );
        if (each.measure) measured = { tokens: 100, messages: messages.length };
      }
    }),
    { numRuns: 60 },
  );
});
