import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Usage } from "../message/message.ts";
import { costOf } from "./budget.ts";
import type { ModelPrice } from "./model.ts";

const tokens = fc.integer({ min: 0, max: 10_000_000 });
const rate = fc.double({ min: 0, max: 200, noNaN: true });
const usage: fc.Arbitrary<Usage> = fc.record(
  {
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    cacheWrite1hTokens: tokens,
    reasoningTokens: tokens,
  },
  { requiredKeys: ["inputTokens", "outputTokens"] },
);
const price: fc.Arbitrary<ModelPrice> = fc.record(
  { input: rate, output: rate, cacheRead: rate, cacheWrite: rate, cacheWrite1h: rate },
  { requiredKeys: ["input", "output"] },
);

describe("costOf", () => {
  it("charges cache reads and both kinds of cache writes at their own price", () => {
    const full: Usage = {
      inputTokens: 1_000_000,
      outputTokens: 100_000,
      cacheReadTokens: 500_000,
      cacheWriteTokens: 200_000,
      cacheWrite1hTokens: 50_000,
    };
    const sonnet: ModelPrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6 };
    expect(costOf(full, sonnet)).toBeCloseTo(0.3 * 3 + 0.5 * 0.3 + 0.15 * 3.75 + 0.05 * 6 + 0.1 * 15, 12);
  });

  it("charges cached tokens as plain input where the cache price is missing", () => {
    const cached: Usage = { inputTokens: 1000, outputTokens: 0, cacheReadTokens: 400, cacheWriteTokens: 300 };
    expect(costOf(cached, { input: 2, output: 8 })).toBeCloseTo(0.002, 12);
  });

  it("charges writes of one hour as other writes where their price is missing", () => {
    const cached: Usage = {
      inputTokens: 1000,
      outputTokens: 0,
      cacheWriteTokens: 1000,
      cacheWrite1hTokens: 600,
    };
    expect(costOf(cached, { input: 2, output: 8, cacheWrite: 2.5 })).toBeCloseTo(0.0025, 12);
  });

  it("is never negative and never more than everything at the highest price, even for parts larger than the whole", () => {
    fc.assert(
      fc.property(usage, price, (used, rates) => {
        const cost = costOf(used, rates);
        const highest = Math.max(...Object.values(rates));
        expect(cost).toBeGreaterThanOrEqual(0);
        expect(cost).toBeLessThanOrEqual(
          ((used.inputTokens + used.outputTokens) * highest) / 1_000_000 + 1e-6,
        );
      }),
    );
  });

  it("does not fall when more plain input or output is used", () => {
    fc.assert(
      fc.property(usage, price, tokens, tokens, (used, rates, moreInput, moreOutput) => {
        const more = { ...used, outputTokens: used.outputTokens + moreOutput };
        expect(costOf(more, rates)).toBeGreaterThanOrEqual(costOf(used, rates));
        const cached = (used.cacheReadTokens ?? 0) + (used.cacheWriteTokens ?? 0);
        if (cached > used.inputTokens) return;
        const longer = { ...more, inputTokens: used.inputTokens + moreInput };
        expect(costOf(longer, rates)).toBeGreaterThanOrEqual(costOf(more, rates));
      }),
    );
  });

  it("is that of the tier the whole request falls in, in whatever order the tiers are listed", () => {
    const tiers = [
      { above: 400_000, input: 8, output: 36 },
      { above: 200_000, input: 4, output: 18, cacheRead: 0.4 },
    ];
    const tiered: ModelPrice = { input: 2, output: 12, cacheRead: 0.2, tiers };
    fc.assert(
      fc.property(usage, (used) => {
        const { tiers: _tiers, ...lowest } = tiered;
        const [highest = lowest, middle = lowest] = tiers;
        const flat = used.inputTokens > 400_000 ? highest : used.inputTokens > 200_000 ? middle : lowest;
        expect(costOf(used, tiered)).toBe(costOf(used, flat));
      }),
    );
  });

  it("is input plus output where nothing was cached", () => {
    fc.assert(
      fc.property(tokens, tokens, price, (inputTokens, outputTokens, rates) => {
        const expected = (inputTokens * rates.input + outputTokens * rates.output) / 1_000_000;
        expect(costOf({ inputTokens, outputTokens }, rates)).toBe(expected);
      }),
    );
  });
});
