import fc from "fast-check";
import { expect, test } from "vitest";
import { HeadIndex } from "./head-index.ts";
import { TextPattern } from "./match-text.ts";

const texts = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 6 });
const patterns = fc.string({ unit: fc.constantFrom("a", "b", " ", "*"), maxLength: 6 });

test("the index finds the pattern that looking at one after the other finds first", () => {
  fc.assert(
    fc.property(fc.array(patterns, { maxLength: 8 }), texts, (rules, text) => {
      const compiled = rules.map((rule) => new TextPattern(rule));
      const index = new HeadIndex(compiled.map((pattern) => [pattern.head, pattern] as const));
      const fits = (pattern: TextPattern): boolean => pattern.matches(text);
      expect(index.find(text, fits)).toBe(compiled.find(fits));
    }),
    { numRuns: 3000 },
  );
});

test("only patterns are tried whose first word, or beginning without a blank, the text has", () => {
  const tried: string[] = [];
  const heads = ["ls", "git push", "git", "", "cat x"];
  const index = new HeadIndex(heads.map((head) => [head, head] as const));
  index.find("git log", (head) => {
    tried.push(head);
    return false;
  });
  expect(tried.toSorted()).toEqual(["", "git", "git push"]);
});
