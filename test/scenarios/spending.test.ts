import fc from "fast-check";
import { expect, test } from "vitest";
import type { AssistantEntry } from "../../src/core/agent/entries.ts";
import { addSpending, NO_SPENDING, SessionState, type SpendingEntry } from "../../src/core/agent/state.ts";
import { sessionUsage } from "../../src/journal/session-usage.ts";
import { RunTally } from "../../src/view/outcome.ts";

const base = { id: "entry_1", parent: null, time: 0 };

const unpriced: AssistantEntry = {
  ...base,
  type: "assistant_message",
  message: { role: "assistant", content: [{ type: "text", text: "hm" }] },
  model: "a/b",
  finishReason: { unified: "stop", raw: "stop" },
  usage: { inputTokens: 10, outputTokens: 5 },
  durationMs: 7,
};

function answer(fields: Partial<AssistantEntry>): AssistantEntry {
  return { ...unpriced, costUsd: 0.5, ...fields };
}

const entries: fc.Arbitrary<SpendingEntry> = fc
  .record({
    type: fc.constantFrom("assistant_message" as const, "model_usage" as const),
    model: fc.constantFrom("a/b", "c/d"),
    inputTokens: fc.nat(1000),
    outputTokens: fc.nat(1000),
    estimated: fc.boolean(),
    interrupted: fc.boolean(),
    costUsd: fc.option(fc.integer({ min: 0, max: 64 }), { nil: undefined, freq: 6 }),
  })
  .map(({ type, model, inputTokens, outputTokens, estimated, interrupted, costUsd }) => {
    const usage = { inputTokens, outputTokens, ...(estimated ? { estimated: true as const } : {}) };
    const cost = costUsd === undefined ? {} : { costUsd };
    if (type === "model_usage")
      return { ...base, type, purpose: "retry", model, usage, ...cost, durationMs: 1 };
    const cut = interrupted ? { interrupted: true } : {};
    return { ...unpriced, model, usage, ...cost, ...cut };
  });

test("a cut answer that is charged by estimate counts, and one that nobody had to pay for makes no price unknown", () => {
  const unpaid: AssistantEntry = {
    ...unpriced,
    interrupted: true,
    usage: { inputTokens: 0, outputTokens: 0 },
  };
  const charged = answer({
    interrupted: true,
    usage: { inputTokens: 8, outputTokens: 2, estimated: true },
    costUsd: 0.25,
  });

  expect([answer({}), charged, unpaid].reduce(addSpending, NO_SPENDING)).toEqual({
    requests: 3,
    interrupted: 2,
    usage: { inputTokens: 18, outputTokens: 7, estimated: true },
    costUsd: 0.75,
    durationMs: 21,
  });
});

test("figures that cannot be are not counted, and a price that cannot be is unknown", () => {
  const odd = answer({ usage: { inputTokens: -3, outputTokens: Number.NaN }, costUsd: -1 });
  expect(addSpending(NO_SPENDING, odd)).toMatchObject({
    usage: { inputTokens: 0, outputTokens: 0 },
    costUsd: undefined,
  });
});

test("limits, statistics and the last line of a run add up to the same", () => {
  fc.assert(
    fc.property(fc.array(entries, { maxLength: 12 }), (list) => {
      const state = new SessionState();
      const tally = new RunTally();
      for (const entry of list) {
        state.apply(entry);
        tally.add(entry);
      }
      const stats = sessionUsage(list);
      expect(stats.total).toEqual(state.session);
      const { cost, usage, apiDurationMs: apiMs } = tally.facts;
      expect([cost, usage.inputTokens, usage.outputTokens, apiMs]).toEqual([
        stats.total.costUsd,
        stats.total.usage.inputTokens,
        stats.total.usage.outputTokens,
        stats.total.durationMs,
      ]);
      const sum = Object.values(stats.models).reduce((requests, model) => requests + model.requests, 0);
      expect(sum).toBe(list.length);
    }),
  );
});
