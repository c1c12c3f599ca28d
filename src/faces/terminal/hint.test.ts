import { expect, test } from "vitest";
import { Hint } from "./screen.ts";

test("a hint stays four seconds from when it is drawn, however late that is", () => {
  const hint = new Hint();
  const at = (ms: number) => [
    hint.rowsAt(ms, 80).map((row) => row.map(({ text }) => text).join("")),
    hint.remainingAt(ms),
  ];
  expect(at(0)).toEqual([[], 0]);
  hint.show("saved", "warning");
  expect([10_000, 13_999, 14_000].map(at)).toEqual([
    [["  ! saved"], 4_000],
    [["  ! saved"], 1],
    [[], 0],
  ]);
  hint.show("saved", "muted");
  expect(at(14_001)).toEqual([["  saved"], 4_000]);
  hint.clear();
  expect(at(14_002)).toEqual([[], 0]);
});
