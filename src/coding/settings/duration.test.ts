import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDuration } from "./duration.ts";

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
  ["999999999h", undefined],
  ["", undefined],
])("%j is %j milliseconds", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test("what is a time at all is one a timer can hold", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.constantFrom("ms", "s", "m", "h"), (noise, figure, unit) => {
      for (const text of [noise, `${figure}${unit}`]) {
        const milliseconds = parseDuration(text) ?? 1;
        expect(Number.isInteger(milliseconds) && milliseconds >= 1 && milliseconds < 2 ** 31).toBe(true);
      }
    }),
  );
});
