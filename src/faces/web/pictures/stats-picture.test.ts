import { expect, test } from "vitest";
import type { StatsRow } from "../../../server/server-api.ts";
import { costText, durationText, percentText, tokensText } from "./figures.ts";
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

test("figures are short", () => {
  expect(
    [0, 12.4, 3_400, 59_960, 125_000, 3_600_000, 12_000_000, 180_000_000].map((ms) => durationText(ms, "en")),
  ).toEqual(["0 ms", "12 ms", "3.4 s", "1 min", "2 min 5 s", "1 h", "3 h 20 min", "2 d 2 h"]);
  expect(durationText(125_000, "zh")).toBe("2 分 5 秒");
  expect([0, 999, 999.7, 12_345, 999_960, 1_234_567].map(tokensText)).toEqual([
    "0",
    "999",
    "1.0k",
    "12.3k",
    "1.0M",
    "1.2M",
  ]);
  expect([undefined, null, 0, 0.00001, 0.0042, 1.234].map(costText)).toEqual([
    "?",
    "?",
    "$0",
    "<$0.0001",
    "$0.0042",
    "$1.23",
  ]);
  expect([percentText(1, 0), percentText(1, 1_000), percentText(1, 3)]).toEqual(["0 %", "<1 %", "33 %"]);
});
