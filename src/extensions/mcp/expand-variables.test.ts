import fc from "fast-check";
import { expect, test } from "vitest";
import { expandVariables } from "./server-definition.ts";

test.each([
  ["${A}", { text: "one" }],
  ["x${A}y${A}", { text: "xoneyone" }],
  ["${B:-two}", { text: "two" }],
  ["${EMPTY:-two}", { text: "two" }],
  ["${EMPTY}", { text: "" }],
  ["${B:-}", { text: "" }],
  ["$A ${} ${1} $$", { text: "$A ${} ${1} $$" }],
  ["${B}${C}", { missing: "B" }],
  ["${toString}", { missing: "toString" }],
])("%s becomes %j", (text, expected) => {
  expect(expandVariables(text, { A: "one", EMPTY: "" })).toEqual(expected);
});

test("what is put in is not expanded again, whatever it is", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      expect(expandVariables("<${A}>", { A: value, B: "never" })).toEqual({ text: `<${value}>` });
      expect(expandVariables("${A:-x}", { A: `$&\${B}${value}` })).toEqual({ text: `$&\${B}${value}` });
    }),
  );
});
