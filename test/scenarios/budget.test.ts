import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { runNested } from "../../src/core/agent/loop.ts";
import type { Run } from "../../src/core/agent/run.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import { userMessage } from "../../src/core/message/message.ts";
import type { Model, ModelRequest, StreamPart } from "../../src/core/model/model.ts";
import { fallbackModel } from "../../src/providers/fallback.ts";
import { knownModelInfo } from "../../src/providers/model-info.ts";
import { calls, fails, finishes, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, tool } from "./conversation.ts";

/** A thousand dollars for a million tokens: a tenth of a cent for each. */
const PRICE = { input: 1_000, output: 1_000 };
const info = { price: PRICE };
const tools = [tool("read")];
const reading = (options: Partial<AgentOptions> = {}, price: typeof PRICE | undefined = PRICE): Agent =>
  new Agent({
    model: new ScriptedModel(
      (_request, index) => calls("read", { index }),
      price === undefined ? {} : { info },
    ),
    tools,
    ...options,
  });

/** A model that plays parts as they are; the last part may be an error. */
function playing(parts: readonly (StreamPart | NanoAgentError)[], extra: Partial<Model> = {}): Model {
  return {
    provider: "p",
    id: "m",
    info,
    ...extra,
    async *stream() {
      for (const part of parts) {
        if (part instanceof NanoAgentError) throw part;
        yield part;
      }
    },
  };
}

const text = (said: string): StreamPart => ({ type: "text_delta", index: 0, text: said });
const end = (usage = { inputTokens: 100, outputTokens: 20 }): StreamPart => ({
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage,
});
const broken = new NanoAgentError("network", "broken", { retryable: true });

test("a request that what is left does not pay for is not sent", async () => {
  const agent = reading({ budget: { tokens: 500 } });
  const result = await agent.run("go");
  expect(result).toMatchObject({
    stopReason: "budget",
    limit: "tokens",
    iterations: 3,
    detail: "360 of 500 tokens are spent in this session, and what is left does not cover the next request.",
  });
});

test("an answer is held to what is left; one that does not need it goes on, one that does ends the run", async () => {
  const model = new ScriptedModel([says("short"), [says("cut in the mid"), finishes("length")]], { info });
  const agent = new Agent({ model, budget: { usd: 0.4 } });
  expect(await agent.run("go")).toMatchObject({ stopReason: "completed", cost: 0.12 });
  expect(await agent.run("on")).toMatchObject({ stopReason: "budget", limit: "usd", text: "cut in the mid" });
  const [first = 0, second = 0] = model.requests.map(({ maxOutputTokens }) => maxOutputTokens);
  expect([first < 400, first > 300, second < 280, second > 100]).toEqual([true, true, true, true]);
});

test("with plenty left nothing of a request changes", async () => {
  const model = new ScriptedModel([says("a")], { info: { price: PRICE, maxOutputTokens: 1_000 } });
  await new Agent({ model, budget: { usd: 5 } }).run("go");
  expect(model.requests[0]).not.toHaveProperty("maxOutputTokens");
});

test("the limit is that of the session: it holds in the next run and in a journal read again", async () => {
  const journal = new MemoryJournal();
  const budget = { usd: 0.5 };
  const first = await reading({ journal, budget }).run("go");
  const again = await reading({ journal, budget }).run("go on");
  const raised = await reading({ journal, budget: { usd: 0.9 } }).run("go on");
  expect([first, again, raised].map(({ stopReason, iterations }) => [stopReason, iterations])).toEqual([
    ["budget", 3],
    ["budget", 0],
    ["budget", 3],
  ]);
  expect(again.detail).toBe(
    "$0.36 of $0.5 is spent in this session, and what is left does not cover the next request.",
  );
});

test("a price nobody knows, also that of a fallback, refuses to start", async () => {
  const budget = { usd: 1 };
  const unpriced = new ScriptedModel([says("a")], { id: "free" });
  await expect(new Agent({ model: unpriced, budget }).run("go")).rejects.toThrow(
    "A limit in money needs a price, and that of scripted/free is unknown",
  );
  const model = fallbackModel([new ScriptedModel([], { info }), unpriced]);
  await expect(new Agent({ model, budget }).run("go")).rejects.toThrow("scripted/free is unknown");
});

test("an answer of a fallback is charged at its price", async () => {
  const dear = { info: { price: { input: 5_000, output: 5_000 } }, id: "dear" };
  const model = fallbackModel([
    new ScriptedModel([fails("down")], { info }),
    new ScriptedModel([says("a")], dear),
  ]);
  const events = await all(new Agent({ model }).stream("go"));
  const answer = events.find(({ type }) => type === "assistant_message");
  expect(answer).toMatchObject({ model: "scripted/dear", costUsd: 0.6 });
});

test("an answer of a fallback without a price has an unknown cost, and no money limit goes on after it", async () => {
  const journal = new MemoryJournal();
  const free = fallbackModel([
    new ScriptedModel([fails("down")], { info }),
    new ScriptedModel([says("a")], { id: "free" }),
  ]);
  expect(await new Agent({ model: free, journal }).run("go")).toMatchObject({ cost: undefined });
  const result = await reading({ journal, budget: { usd: 1_000 } }).run("go on");
  expect(result).toMatchObject({ stopReason: "budget", limit: "usd", iterations: 0 });
  expect(result.detail).toContain("an answer came from a model without a known price");
});

test.each([
  ["missing", { inputTokens: 0, outputTokens: 0 }],
  ["negative", { inputTokens: -500, outputTokens: -20 }],
  ["no number", { inputTokens: Number.NaN, outputTokens: 20 }],
])("usage that is %s is estimated, never nothing", async (_what, usage) => {
  const model = playing([text("A few words."), end(usage)]);
  const { usage: counted, cost } = await new Agent({ model, budget: { usd: 10 } }).run("go");
  expect(counted.estimated).toBe(true);
  expect([counted.inputTokens > 0, counted.outputTokens > 0, (cost ?? 0) > 0]).toEqual([true, true, true]);
});

test("a model that costs nothing is not estimated", async () => {
  const model = playing([text("hi"), end({ inputTokens: 0, outputTokens: 0 })], {
    info: { price: { input: 0, output: 0 } },
  });
  const { usage, cost } = await new Agent({ model, budget: { usd: 1 } }).run("go");
  expect([usage, cost]).toEqual([{ inputTokens: 0, outputTokens: 0 }, 0]);
});

test("an attempt that broke off after it had begun is charged by estimate, one that never began is not", async () => {
  const retry = { type: "retry", attempt: 2, delayMs: 0, error: broken } as const;
  const model = playing([retry, text("half of an ans"), retry, text("whole"), end()]);
  const events = await all(new Agent({ model }).stream("go"));
  const charges = events.filter(({ type }) => type === "model_usage");
  expect(charges).toMatchObject([{ purpose: "retry", usage: { outputTokens: 5, estimated: true } }]);
});

test("an answer that failed or was aborted in the middle is charged by estimate", async () => {
  const failed = await new Agent({ model: playing([text("half"), broken]) }).run("go");
  expect([failed.stopReason, failed.usage.estimated, (failed.cost ?? 0) > 0]).toEqual(["error", true, true]);
  const stop = new AbortController();
  const model = new ScriptedModel([[says("partial text"), waits(new Promise(() => undefined))]], { info });
  const aborted = await new Agent({ model }).run("go", {
    signal: stop.signal,
    onToken: () => stop.abort(),
  });
  expect([aborted.stopReason, aborted.usage.estimated, (aborted.cost ?? 0) > 0]).toEqual([
    "aborted",
    true,
    true,
  ]);
});

/** Asks several nested runs at once, as parallel subagents do. */
class Crowd extends Agent {
  override async conduct(run: Run): ReturnType<Agent["run"]> {
    const task = (n: number): ReturnType<typeof runNested> =>
      runNested(run, { scope: `task/${n}`, message: userMessage(`Task ${n}`), tools: this.tools });
    const results = await Promise.all(Array.from({ length: 8 }, (_, n) => task(n)));
    const [first] = results;
    if (first === undefined) throw new Error("no result");
    return { ...first, cost: run.state.session.costUsd };
  }
}

test("requests at work at the same time never spend more than the limit together", async () => {
  for (const usd of [0.2, 0.5, 1, 3]) {
    let atWork = 0;
    let most = 0;
    const model: Model = {
      provider: "p",
      id: "m",
      info,
      async *stream(request: ModelRequest) {
        most = Math.max(most, ++atWork);
        await new Promise((resolve) => setImmediate(resolve));
        atWork--;
        yield text("answer");
        yield end({ inputTokens: 5, outputTokens: Math.min(100, request.maxOutputTokens ?? 100) });
      },
    };
    const { cost } = await new Crowd({ model, budget: { usd } }).run("go");
    expect([cost !== undefined && cost <= usd, most >= 1]).toEqual([true, true]);
  }
});

test("a long request is charged by its tier, and held to what is left before it is sent", async () => {
  const info = knownModelInfo("google", "gemini-3.1-pro-preview") ?? {};
  const usage = { inputTokens: 300_000, outputTokens: 10_000 };
  const model = new ScriptedModel([[says("one"), finishes("stop", usage)], says("two")], { info });
  const agent = new Agent({ model, budget: { usd: 2 } });
  expect((await agent.run("go")).cost).toBeCloseTo(1.38, 9);
  // The conversation is as long as the provider said: 62 cents pay for no second request of its tier.
  expect(await agent.run("on")).toMatchObject({ stopReason: "budget", limit: "usd" });
  expect(model.requests).toHaveLength(1);
});

test("what a provider says it charged wins over what its prices come to", async () => {
  const finish = { ...end(), costUsd: 0.25 } as StreamPart;
  const priced = await new Agent({ model: playing([text("hi"), finish]) }).run("go");
  const { info: _info, ...unpriced } = playing([text("hi"), finish]);
  expect([priced.cost, (await new Agent({ model: unpriced }).run("go")).cost]).toEqual([0.25, 0.25]);
});
