import fc from "fast-check";
import { expect, test } from "vitest";
import { editDistance, substringDistance } from "./edit-distance.ts";

test("the nearest part of a text is found wherever it stands", () => {
  expect([
    substringDistance("beta “x”", "betta"),
    substringDistance("const total = add(1, 2);", "adds(1"),
    substringDistance("abc", "xyz"),
    substringDistance("", "ab"),
    substringDistance("ab", ""),
  ]).toEqual([1, 1, 3, 2, 0]);
});

test("it is 0 for a part of the text, never more than the distance of the whole, and grows by one with each change", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 8 });
  fc.assert(
    fc.property(word, word, word, (left, middle, right) => {
      const text = left + middle + right;
      expect(substringDistance(text, middle)).toBe(0);
      expect(substringDistance(left, right)).toBeLessThanOrEqual(editDistance(left, right));
      expect(substringDistance(text, `${middle}#`)).toBe(1);
    }),
  );
});
