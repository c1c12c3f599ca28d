import { expect, test } from "vitest";
import { Hint } from "./hint.ts";
import { line } from "./paint/line.ts";

test("a hint stays four seconds from when it is drawn, however late that is", () => {
  const hint = new Hint();
  const said = line("saved");
  expect([hint.drawnAt(0), hint.leftAt(0)]).toEqual([undefined, 0]);
  hint.say(said);
  expect([hint.drawnAt(10_000), hint.leftAt(10_000)]).toEqual([said, 4_000]);
  expect([hint.drawnAt(13_999), hint.leftAt(13_999)]).toEqual([said, 1]);
  expect([hint.drawnAt(14_000), hint.leftAt(14_000)]).toEqual([undefined, 0]);
  hint.say(said);
  expect(hint.drawnAt(14_001)).toBe(said);
  hint.clear();
  expect([hint.drawnAt(14_002), hint.leftAt(14_002)]).toEqual([undefined, 0]);
});
