import fc from "fast-check";
import { expect, test } from "vitest";
import { plainFields } from "./front-matter.ts";
import { readYamlFields } from "./yaml-fields.ts";

test("simple heads are read, everything else is left to the YAML reader", () => {
  expect(
    plainFields(
      "name: pdf\r\ndescription: Use it for PDF, or “tables” (not images): see-below  \nmaxTurns: 7\n\n",
    ),
  ).toBe(undefined);
  expect(plainFields("name: pdf\r\ndescription: 用于 PDF, or *tables* #1 (x:y)  \nmaxTurns: 7\n\n")).toBe(
    undefined,
  );
  expect(plainFields("name: pdf\r\ndescription: 用于 PDF, or *tables* & “x:y”  \nmaxTurns: 7\n\n")).toEqual({
    name: "pdf",
    description: "用于 PDF, or *tables* & “x:y”",
    maxTurns: 7,
  });
  for (const front of [
    "",
    "name:",
    'name: "x"',
    "name: [a]",
    "name: yes\nname: no",
    "a: |\n  b",
    "a: b\n  c",
    "a: True",
    "a: 1.5",
    "a: 007",
    "- a",
    "__proto__: x",
  ])
    expect(plainFields(front)).toBe(undefined);
});

test("what is read without the YAML reader is what that would read", () => {
  const word = fc.constantFrom(
    "a",
    "true",
    "null",
    "0",
    "12",
    "1e3",
    "é",
    "词",
    ":",
    " ",
    "#",
    "-",
    "'",
    '"',
    "{",
    "&",
    "\t",
    "\u00A0",
    "\u0085",
    "\u2028",
    "\r",
  );
  const value = fc.oneof(
    fc.array(word).map((words) => words.join("")),
    fc.string({ unit: "binary" }),
  );
  const line = fc.tuple(fc.constantFrom("a", "b", "name", "__proto__", "toString"), value);
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 3 }),
      fc.constantFrom("\n", "\r\n"),
      (lines, end) => {
        const front = lines.map(([name, text]) => `${name}: ${text}${end}`).join("");
        const plain = plainFields(front);
        const read = plain === undefined ? undefined : { fields: plain };
        expect(read).toEqual(read === undefined ? undefined : readYamlFields(front));
      },
    ),
    { numRuns: 1_000 },
  );
});
