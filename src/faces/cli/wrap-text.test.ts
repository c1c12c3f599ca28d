import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf } from "../text/columns.ts";
import { wrapText } from "./command-context.ts";

test("a line is cut at blanks, with what each line begins with", () => {
  expect(wrapText("one two three four", { width: 16, first: "- ", rest: "  " })).toEqual([
    "- one two three",
    "  four",
  ]);
  expect(wrapText("one two three four", { width: undefined, first: "- " })).toEqual(["- one two three four"]);
  expect(wrapText("a-word-that-is-too-long x", { width: 14 })).toEqual(["a-word-that-is", "-too-long x"]);
});

test("no line is wider than the terminal, and nothing is lost", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme-ascii", minLength: 1 })),
      fc.integer({ min: 14, max: 60 }),
      (words, width) => {
        const text = words.join(" ");
        const lines = wrapText(text, { width });
        expect(lines.every((line) => columnsOf(line) <= width)).toBe(true);
        expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
      },
    ),
  );
});
