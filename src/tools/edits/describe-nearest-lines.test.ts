import fc from "fast-check";
import { expect, test } from "vitest";
import { describeNearestLines } from "./plan-edits.ts";

const FILE =
  "import a;\n\nfunction one() {\n\treturn 1;\n}\n\nfunction two() {\n  return compute(2, 3);\n}\n";

test.each([
  [
    "indentation",
    "function one() {\n    return 1;\n}",
    'The nearest text is:\n     3\tfunction one() {\n     4\t\treturn 1;\n     5\t}\nLine 4 differs (indentation: 1 tab in the file, 4 blanks in old_string): the file has "\\treturn 1;", old_string has "    return 1;".',
  ],
  [
    "upper and lower case",
    "  return Compute(2, 3);",
    'The nearest text is:\n     8\t  return compute(2, 3);\nLine 8 differs (upper and lower case): the file has "  return compute(2, 3);", old_string has "  return Compute(2, 3);".',
  ],
  [
    "blanks inside",
    "  return compute(2,3);",
    'The nearest text is:\n     8\t  return compute(2, 3);\nLine 8 differs (blanks): the file has "  return compute(2, 3);", old_string has "  return compute(2,3);".',
  ],
  [
    "a stale line in a block",
    "function two() {\n  return calculate(2);\n}",
    'The nearest text is:\n     7\tfunction two() {\n     8\t  return compute(2, 3);\n     9\t}\nLine 8 differs (text): the file has "  return compute(2, 3);", old_string has "  return calculate(2);".',
  ],
  [
    "lines behind the end",
    "  return compute(2, 3);\n}\n\nmore",
    "The nearest text is:\n     8\t  return compute(2, 3);\n     9\t}\n    10\t\nold_string has lines after the last line of the file.",
  ],
  [
    "line numbers copied along",
    "     3\tfunction one() {\n     4\t\treturn 1;",
    "It begins its lines with line numbers: leave out the numbers and the tab that read puts in front.",
  ],
  [
    "nothing similar",
    "zzzz qqqq",
    "No line is similar to it (the file has 9 lines):\n     1\timport a;\n     2\t\n     3\tfunction one() {\n     4\t\treturn 1;\n     5\t}\n     6\t\n     7\tfunction two() {\n     8\t  return compute(2, 3);\n     9\t}\nCopy the text exactly from there.",
  ],
  [
    "a few letters that are wrong in a part of a line",
    "comptue(",
    'The nearest text is:\n     8\t  return compute(2, 3);\nLine 8 differs (text): the file has "  return compute(2, 3);", old_string has "comptue(".',
  ],
])("%s", (_what, wanted, expected) => {
  expect(describeNearestLines(FILE, wanted)).toBe(expected);
});

test("a long file in which nothing is similar is not shown", () => {
  expect(describeNearestLines("one thing\n".repeat(11), "zzzz qqqq")).toBe(
    "No line is similar to it (the file has 11 lines). Read the file again and copy the text exactly.",
  );
});

test("a difference far into a line is shown where it is", () => {
  const line = `const list = [${"item, ".repeat(100)}last];`;
  const message = describeNearestLines(line, line.replace("last", "least"));
  expect(message.slice(message.indexOf("Line 1"))).toBe(
    'Line 1 differs (text): the file has "…m, item, item, item, item, item, item, last];", old_string has "…m, item, item, item, item, item, item, least];".',
  );
});

test("whatever the texts are, the message is bounded and well formed", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "b", "\n", "\r\n", "\0", "\ud83d", "😀", " ", "\t", "1"),
    maxLength: 200,
  });
  fc.assert(
    fc.property(text, text, fc.nat({ max: 300 }), (file, wanted, repeat) => {
      const message = describeNearestLines(file.repeat(repeat), wanted.repeat(repeat));
      expect([message.length < 3500, message.isWellFormed()]).toEqual([true, true]);
    }),
  );
});
