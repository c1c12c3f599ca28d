import { expect, test } from "vitest";
import type { StatsRow } from "../../../server/server-api.ts";
import { percentText, ticksUpTo, timeTicks } from "./figures.ts";
import { statsBars } from "./stats-picture.ts";

const row = (key: string, more: Partial<StatsRow> = {}): StatsRow => ({
  key,
  sessions: 1,
  runs: 1,
  turns: 2,
  inputTokens: 90,
  outputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheShare: 0,
  cost: 1,
  unpriced: 0,
  failures: 0,
  ...more,
});

test("days stand in order, with those on which nothing happened; long pauses are left out", () => {
  const rows = [row("2026-03-02"), row("2026-02-27", { cost: 4 }), row("2025-01-01")];
  expect(statsBars({ by: "day", rows }, "cost").map(({ row: { key }, share }) => [key, share])).toEqual([
    ["2025-01-01", 0.25],
    ["2026-02-27", 1],
    ["2026-02-28", 0],
    ["2026-03-01", 0],
    ["2026-03-02", 0.25],
  ]);
});

test("models and folders stand by size, those of an unknown price last", () => {
  const rows = [row("a", { cost: null }), row("b", { cost: 1 }), row("c", { cost: 2, inputTokens: 0 })];
  const keys = (figure: "cost" | "tokens"): readonly string[] =>
    statsBars({ by: "model", rows }, figure).map(({ row: { key } }) => key);
  expect([keys("cost"), keys("tokens")]).toEqual([
    ["c", "b", "a"],
    ["a", "b", "c"],
  ]);
});

test("ticks stand at round figures", () => {
  expect([ticksUpTo(0, 4), ticksUpTo(950, 4), ticksUpTo(210_000, 4)]).toEqual([
    [0],
    [0, 500],
    [0, 100_000, 200_000],
  ]);
  expect([timeTicks(0, 100_000, 4), timeTicks(50_000, 51_000, 2), timeTicks(0, 1e9, 3)]).toEqual([
    [0, 30_000, 60_000, 90_000],
    [50_000, 50_500, 51_000],
    [0, 345_600_000, 691_200_000],
  ]);
  expect([percentText(1, 0), percentText(1, 1_000), percentText(1, 3)]).toEqual(["0 %", "<1 %", "33 %"]);
});
