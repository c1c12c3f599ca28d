import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffDelayMs, parseRetryAfter } from "./retry.ts";

describe("backoffDelayMs", () => {
  it("doubles its upper bound until the cap", () => {
    const almostOne = (): number => 0.999999;
    const delays = [1, 2, 3, 7, 8, 5000].map((attempt) => backoffDelayMs(attempt, { random: almostOne }));
    expect(delays).toEqual([499, 999, 1999, 29_999, 29_999, 29_999]);
  });

  it("gives an overloaded server time to recover, however the draws fall", () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => backoffDelayMs(attempt, { random: () => 0 }));
    expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000]);
  });

  it("draws a whole number between half the bound and the bound", () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (attempt, drawn) => {
          const delay = backoffDelayMs(attempt, { baseMs: 100, maxMs: 5000, random: () => drawn });
          const bound = Math.min(5000, 100 * 2 ** Math.max(0, attempt - 1));
          expect(Number.isInteger(delay) && delay >= bound / 2 && delay < bound).toBe(true);
        },
      ),
    );
  });
});

describe("parseRetryAfter", () => {
  const now = Date.UTC(2026, 0, 1, 0, 0, 0);

  it.each([
    ["0", 0],
    [" 12 ", 12_000],
    ["1.5", 1500],
    ["86400", 86_400_000],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["Thursday, 01-Jan-26 00:00:30 GMT", 30_000],
    ["Thu Jan  1 00:00:30 2026", 30_000],
    ["Wed, 31 Dec 2025 23:59:59 GMT", 0],
  ])("reads %j", (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms);
  });

  it.each([
    null,
    undefined,
    "",
    "-5",
    "soon",
    "1e9",
    "Infinity",
    "NaN",
    "0x10",
    "12 s",
    "99999999999",
    "9".repeat(400),
    "Mon, never at all",
  ])("does not believe %j", (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });

  it("gives a wait between nothing and a year, or nothing, for any text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = parseRetryAfter(text, now);
        expect(ms === undefined || (ms >= 0 && ms <= 366 * 86_400_000)).toBe(true);
      }),
    );
  });
});
