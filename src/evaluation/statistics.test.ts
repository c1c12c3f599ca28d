import fc from "fast-check";
import { expect, test } from "vitest";
import { chanceOf, mean, median, shareOf, solvedShare, type TaskPair, wilsonInterval } from "./summarize.ts";

const Z = 1.959963984540054;

/** The bound of the score test, by halving: where a share is just `Z` standard errors away. */
function scoreBound(share: number, count: number, side: "low" | "high"): number {
  const isCompatible = (value: number): boolean =>
    Math.abs(share - value) <= Z * Math.sqrt((value * (1 - value)) / count);
  let [inside, outside] = [share, side === "low" ? 0 : 1];
  if (isCompatible(outside)) return outside;
  for (let round = 0; round < 100; round++) {
    const middle = (inside + outside) / 2;
    if (isCompatible(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

test("the interval holds the shares that a score test does not refuse", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (count, part) => {
        const share = Math.round(part * count) / count;
        const { low, high } = wilsonInterval(share, count);
        expect(low).toBeCloseTo(scoreBound(share, count, "low"), 9);
        expect(high).toBeCloseTo(scoreBound(share, count, "high"), 9);
      },
    ),
  );
});

test("where all, or none, are solved the interval ends there exactly", () => {
  const counts = Array.from({ length: 500 }, (_none, at) => at + 1);
  expect(counts.filter((count) => wilsonInterval(0, count).low !== 0)).toEqual([]);
  expect(counts.filter((count) => wilsonInterval(1, count).high !== 1)).toEqual([]);
});

test("known intervals", () => {
  const { low, high } = wilsonInterval(0.8, 10);
  expect([low.toFixed(4), high.toFixed(4)]).toEqual(["0.4902", "0.9433"]);
  expect(solvedShare([])).toBe(undefined);
  expect(solvedShare([[true], [true], [false], [true]])).toEqual(wilsonInterval(0.75, 4));
});

const runs = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 });

test("runs of a task that are all alike bring no more than one would", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 9 }),
      (tasks, repeats) => {
        const repeated = tasks.map((solved) => Array.from({ length: repeats }, () => solved));
        expect(solvedShare(repeated)).toEqual(solvedShare(tasks.map((solved) => [solved])));
      },
    ),
  );
});

test("an interval is within bounds, and no narrower than that of so many independent runs", () => {
  fc.assert(
    fc.property(fc.array(runs, { minLength: 1, maxLength: 20 }), (tasks) => {
      const { share, low, high } = solvedShare(tasks) ?? { share: -1, low: 0, high: 0 };
      const narrowest = wilsonInterval(share, tasks.flat().length);
      expect(share).toBeCloseTo(mean(tasks.map(shareOf)), 12);
      expect(low >= 0 && low <= share + 1e-12 && share <= high + 1e-12 && high <= 1).toBe(true);
      expect(low <= narrowest.low + 1e-12 && high >= narrowest.high - 1e-12).toBe(true);
    }),
  );
});

/** Numbers from 0 to 1 that look like chance and are the same everywhere (mulberry32). */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test("of evaluations with hard and easy tasks, the interval covers the truth in at least 93 of 100", () => {
  const random = chances(7);
  let covered = 0;
  const rounds = 2_000;
  for (let round = 0; round < rounds; round++) {
    // Half of all tasks are solved nearly always, half seldom: the truth is 0.55.
    const tasks = Array.from({ length: 20 }, () => {
      const easy = random() < 0.5 ? 0.95 : 0.15;
      return Array.from({ length: 4 }, () => random() < easy);
    });
    const { low, high } = solvedShare(tasks) ?? { low: 1, high: 0 };
    if (low <= 0.55 && 0.55 <= high) covered++;
  }
  expect(covered / rounds).toBeGreaterThan(0.93);
  expect(covered / rounds).toBeLessThan(0.98);
});

/** The permutation test by trying every swap. */
function bruteChance(pairs: readonly TaskPair[]): number {
  const differences = pairs.map(({ a, b }) => shareOf(b) - shareOf(a));
  const seen = Math.abs(differences.reduce((sum, each) => sum + each, 0));
  let extreme = 0;
  for (let swaps = 0; swaps < 2 ** pairs.length; swaps++) {
    const sum = differences.reduce((total, each, at) => total + ((swaps >> at) & 1 ? -each : each), 0);
    if (Math.abs(sum) >= seen - 1e-9) extreme++;
  }
  return extreme / 2 ** pairs.length;
}

test("the chance of a difference is that of all swaps", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ a: runs, b: runs }), { maxLength: 9 }), (pairs) => {
      expect(chanceOf(pairs)).toBeCloseTo(bruteChance(pairs), 9);
    }),
  );
});

test("with one run a task it is the exact test of McNemar", () => {
  const pair = (a: boolean, b: boolean): TaskPair => ({ a: [a], b: [b] });
  const pairs = [
    ...Array.from({ length: 9 }, () => pair(false, true)),
    pair(true, false),
    ...Array.from({ length: 30 }, () => pair(true, true)),
  ];
  // Two-sided, of 10 that differ 1 or fewer one way: 2 * (1 + 10) / 2 ** 10.
  expect(chanceOf(pairs)).toBeCloseTo(22 / 1_024, 12);
  expect(chanceOf([])).toBe(1);
});

test("swapping the sides changes nothing, and runs of very different numbers never look less like chance", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ a: runs, b: runs }), { minLength: 1, maxLength: 9 }), (pairs) => {
      expect(chanceOf(pairs.map(({ a, b }) => ({ a: b, b: a })))).toBeCloseTo(chanceOf(pairs), 9);
    }),
  );
  const primes = [31, 37, 41, 43, 47, 53];
  const odd = primes.map((count, at) => ({
    a: Array.from({ length: count }, (_none, run) => run < at),
    b: Array.from({ length: count + 1 }, (_none, run) => run < 3 * at + 4),
  }));
  expect(chanceOf(odd)).toBeGreaterThanOrEqual(bruteChance(odd) - 1e-9);
  expect(chanceOf(odd)).toBeLessThan(bruteChance(odd) + 0.1);
});

test("a thousand tasks with many runs are counted", () => {
  const many = Array.from({ length: 1_000 }, (_none, at) => ({
    a: Array.from({ length: 10 }, (_run, run) => run < at % 7),
    b: Array.from({ length: 10 }, (_run, run) => run < (at % 7) + (at % 3 === 0 ? 1 : 0)),
  }));
  expect(chanceOf(many)).toBeLessThan(1e-9);
});

test("nobody knows the middle of values of which one is unknown, wherever it stands", () => {
  const orders = [
    [Number.NaN, 1, 3],
    [1, Number.NaN, 3],
    [1, 3, Number.NaN],
  ];
  expect(orders.map(median)).toEqual([Number.NaN, Number.NaN, Number.NaN]);
});

test("the median is in the middle", () => {
  expect([median([]), median([3]), median([4, 1]), median([9, 1, 5])]).toEqual([undefined, 3, 2.5, 5]);
});
