import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { SharedBudget } from "../../src/core/model/budget.ts";
import { calls, finishes, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tool } from "./conversation.ts";

/** A thousand dollars for a million tokens: a tenth of a cent for each. */
const info = { price: { input: 1_000, output: 1_000 } };

function reading(shared: SharedBudget, budget: { readonly usd?: number } = {}): Agent {
  // It takes no more than what is set aside for it, as a model does whose input was not estimated too low.
  const usage = { inputTokens: 5, outputTokens: 20 };
  const step = (_request: unknown, index: number) => [calls("read", { index }), finishes("tool_use", usage)];
  const model = new ScriptedModel(step, { info });
  return new Agent({ model, tools: [tool("read")], budget: { ...budget, shared }, maxIterations: 50 });
}

test("agents that share money end where it does not pay for the next request, and say so", async () => {
  const shared = new SharedBudget(1);
  const ends = await Promise.all([1, 2, 3].map(() => reading(shared).run("go")));
  expect(ends.map(({ stopReason, limit }) => `${stopReason} ${limit}`)).toEqual(Array(3).fill("budget usd"));
  expect(ends[0]?.detail).toBe(
    "Of the $1.00 shared with other runs, what is left does not cover the next request.",
  );
  const cost = ends.reduce((sum, each) => sum + (each.cost ?? Number.NaN), 0);
  expect([shared.spentUsd.toFixed(6), shared.spentUsd <= 1, shared.spentUsd > 0.5, shared.isAtWork]).toEqual([
    cost.toFixed(6),
    true,
    true,
    false,
  ]);
  expect(shared.leftUsd).toBeCloseTo(1 - cost, 9);
});

test("however many share it and whatever each may spend alone, together they never spend more", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(fc.double({ min: 0.05, max: 2, noNaN: true })), { minLength: 1, maxLength: 6 }),
      fc.double({ min: 0.05, max: 3, noNaN: true }),
      async (agents, usd) => {
        const shared = new SharedBudget(usd);
        const ends = await Promise.all(
          agents.map((own) => reading(shared, own === null ? {} : { usd: own }).run("go")),
        );
        const cost = ends.reduce((sum, each) => sum + (each.cost ?? Number.NaN), 0);
        expect(shared.spentUsd).toBeCloseTo(cost, 9);
        expect(cost).toBeLessThanOrEqual(usd + 1e-9);
      },
    ),
    { numRuns: 40 },
  );
});

test("several runs of one agent count once each, and what was spent before counts", async () => {
  const shared = new SharedBudget(10, { spentUsd: 9 });
  const model = new ScriptedModel([says("a"), says("b"), says("c")], { info });
  const agent = new Agent({ model, budget: { shared } });
  const ends = [await agent.run("1"), await agent.run("2"), await agent.run("3")];
  const cost = ends.reduce((sum, each) => sum + (each.cost ?? Number.NaN), 0);
  expect(shared.spentUsd).toBeCloseTo(9 + cost, 9);
});

test("a run waits for one at work that may leave money, and hears an abort meanwhile", async () => {
  const shared = new SharedBudget(0.5);
  const slow = new Agent({
    model: new ScriptedModel([waits(new Promise(() => undefined))], { info }),
    budget: { shared },
  });
  const stop = new AbortController();
  const first = slow.run("go", { signal: stop.signal });
  await expect.poll(() => shared.isAtWork).toBe(true);
  const second = reading(shared).run("go", { signal: AbortSignal.abort() });
  expect((await second).stopReason).toBe("aborted");
  stop.abort();
  expect((await first).stopReason).toBe("aborted");
  expect(shared.isAtWork).toBe(false);
});

test("money needs prices, and an amount that is one", async () => {
  const model = new ScriptedModel([says("a")]);
  const agent = new Agent({ model, budget: { shared: new SharedBudget(1) } });
  await expect(agent.run("go")).rejects.toThrow("is unknown");
  for (const usd of [0, -1, Number.NaN])
    expect(() => new SharedBudget(usd)).toThrow("must be a number above 0");
  expect(() => new SharedBudget(1, { spentUsd: -1 })).toThrow("must be a number from 0");
  expect(() => new Agent({ model, budget: { shared: 5 as never } })).toThrow(
    "budget.shared is 5; it must be a SharedBudget",
  );
});
