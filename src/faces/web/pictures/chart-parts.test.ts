import { expect, test } from "vitest";
import { percentText, svgPercent, ticksUpTo } from "./chart-parts.tsx";

test("ticks stand at round figures, and shares and places are short", () => {
  expect([ticksUpTo(0, 4), ticksUpTo(950, 4), ticksUpTo(210_000, 4)]).toEqual([
    [0],
    [0, 500],
    [0, 100_000, 200_000],
  ]);
  expect([percentText(1, 0), percentText(1, 1_000), percentText(1, 3)]).toEqual(["0%", "<1%", "33%"]);
  expect([svgPercent(100 / 3), svgPercent(0)]).toEqual(["33.33%", "0%"]);
});
