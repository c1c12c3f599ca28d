import fc from "fast-check";
import { expect, test } from "vitest";
import { PathPattern } from "./match-text.ts";

/** The same by a regular expression, which takes its time. */
function slowly(pattern: string, path: string): boolean {
  const source = pattern
    .split(/(\*+\/?)/)
    .map((piece, index, pieces) => {
      if (!piece.startsWith("*")) return piece.replaceAll(/[.\\]/g, "\\$&");
      const begins = (pieces[index - 1] ?? "") === "" || pieces[index - 1]?.endsWith("/") === true;
      const stars = piece.replace("/", "");
      const slash = piece.endsWith("/") ? "/" : "";
      if (stars.length === 1) return `[^/]*${slash}`;
      return begins && slash !== "" ? "(?:[^]*/)?" : `[^]*${slash}`;
    })
    .join("");
  return new RegExp(`^${source}$`).test(path);
}

test("a pattern describes what a regular expression for it does", () => {
  const text = (chars: string, maxLength: number): fc.Arbitrary<string> =>
    fc.array(fc.constantFrom(...chars), { maxLength }).map((each) => each.join(""));
  fc.assert(
    fc.property(text("ab/**", 9), text("ab/", 9), (pattern, path) => {
      // After `**/` another star begins a folder by itself: the expression is not told.
      fc.pre(!/\*\*\/\*/.test(pattern));
      expect([pattern, path, new PathPattern(pattern).matches(path)]).toEqual([
        pattern,
        path,
        slowly(pattern, path),
      ]);
    }),
    { numRuns: 3_000 },
  );
});
