import { expect, test } from "vitest";
import { findInvisible, revealInvisible } from "./hidden-characters.ts";

test.each([
  ["./deploy\uFE0F.sh", "./deploy‹U+FE0F›.sh"],
  ["1\uFE0F", "1‹U+FE0F›"],
  ["❤\uFE0F", "❤\uFE0F"],
  ["1\uFE0F\u20E3", "1\uFE0F\u20E3"],
  ["a\u3164b\u00A0c\td\n", "a‹U+3164›b‹U+00A0›c\td\n"],
])("%j is shown as %j", (text, shown) => {
  expect([revealInvisible(text), findInvisible(text) === undefined]).toEqual([shown, shown === text]);
});
