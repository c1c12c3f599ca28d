import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf, maxColumnsOf, wrapColumns } from "./columns.ts";

/** Clusters that no row of 20 has room for. */
const WIDE = ["\u1100".repeat(100), "क्".repeat(100), "\u0D4E".repeat(100), `a${"\u0903".repeat(100)}`];

test.each(WIDE)("what is wider than a row is torn, and nothing of it is lost (%#)", (text) => {
  expect(wrapColumns(text, 20).join("")).toBe(text);
});

test("pieces are the whole text, none empty, and none wider than its row but for a single character", () => {
  const text = fc
    .array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(...WIDE)))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 100 }), (whole, width) => {
      const pieces = wrapColumns(whole, width);
      const wrong = pieces.filter((each) => columnsOf(each) > Math.max(2, width) && [...each].length > 1);
      expect([pieces.join(""), wrong, pieces.length > 1 && pieces.includes("")]).toEqual([whole, [], false]);
    }),
  );
});

test("a terminal that draws each character by itself takes at most so many cells", () => {
  const texts = ["abc", "é日", "👍🏽", "x\u0903", "я→“", "─○✓"];
  expect(texts.map((text) => [columnsOf(text), maxColumnsOf(text)])).toEqual([
    [3, 3],
    [3, 4],
    [2, 4],
    [2, 3],
    [3, 6],
    [3, 6],
  ]);
});
