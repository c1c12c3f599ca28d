import fc from "fast-check";
import { expect, test } from "vitest";
import { optionSchema } from "../../core/base/check-options.ts";
import { DURATION, parseDuration } from "./setting.ts";

test.each([
  ["500ms", 500],
  ["90s", 90_000],
  ["10m", 600_000],
  ["1.5h", 5_400_000],
  [" 1h ", 3_600_000],
  ["0s", undefined],
  ["10", undefined],
  ["-1s", undefined],
  ["1d", undefined],
  ["1e3s", undefined],
  ["1000000000h", undefined],
  ["", undefined],
])("%j is %j milliseconds", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test("what the schema takes is a time of whole milliseconds, and nothing else is", () => {
  const time = fc.tuple(fc.nat(), fc.constantFrom("ms", "s", "m", "h", "d")).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.string(), time), (text) => {
      const isTime = optionSchema(DURATION).findIssue(text) === undefined;
      expect(Number.isInteger(parseDuration(text))).toBe(isTime);
    }),
  );
});
