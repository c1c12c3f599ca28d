import { expect, test } from "vitest";
import { givenSeed } from "./given-seed.ts";

test("a seed is the usual one, the given number, or one by chance", () => {
  expect([givenSeed(5, ""), givenSeed(5, "7")]).toEqual([5, 7]);
  const drawn = Array.from({ length: 20 }, () => givenSeed(5, "random"));
  expect(drawn.every(Number.isSafeInteger)).toBe(true);
  expect(new Set(drawn).size).toBeGreaterThan(1);
});

test.each(["x", "1.5", "-1", "12345678901"])("the seed %s is refused", (given) => {
  expect(() => givenSeed(5, given)).toThrow("Use a whole number");
});
