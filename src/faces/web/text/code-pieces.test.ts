import fc from "fast-check";
import { expect, test } from "vitest";
import { codePieces } from "../../text/code-pieces.ts";
import { changedPart } from "./code.tsx";

const code = fc.array(
  fc.constantFrom("const ", "a", "(", '"', "'", "`", "\\", "//", "/*", "*/", "#", "\n", "12", "é", "😀"),
);

test("colours leave out and add nothing, in every language", () => {
  fc.assert(
    fc.property(code, fc.constantFrom("ts", "py", "sh", "json", "css", "none"), (parts, language) => {
      const text = parts.join("");
      expect(
        codePieces(text, language)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(text);
    }),
  );
});

test("comments, strings, keywords, numbers and calls are told apart", () => {
  const kinds = codePieces('const a = run("x", 4); // done', "TS").filter(({ kind }) => kind !== undefined);
  expect(kinds.map(({ kind, text }) => [kind, text])).toEqual([
    ["k", "const"],
    ["f", "run"],
    ["s", '"x"'],
    ["n", "4"],
    ["c", "// done"],
  ]);
});

test("around the changed part of two lines both are the same", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (start, gone, come, end) => {
      const [before, after] = [start + gone + end, start + come + end];
      const part = changedPart(before, after);
      if (part === undefined) return;
      expect([before.slice(0, part.from), before.slice(part.before)]).toEqual([
        after.slice(0, part.from),
        after.slice(part.after),
      ]);
    }),
  );
});
