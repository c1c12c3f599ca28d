import fc from "fast-check";
import { expect, test } from "vitest";
import { expandBraces, lastNamesOf, pathGlob } from "./path-glob.ts";

test.each<readonly [string, string, boolean]>([
  ["*.ts", "a.ts", true],
  ["*.ts", ".ts", true],
  ["*.ts", "src/a.ts", false],
  ["**/*.ts", "a.ts", true],
  ["**/*.ts", "x/y/a.ts", true],
  ["src/**", "src/a/b", true],
  ["src/**/test/*.js", "src/test/a.js", true],
  ["src/**/test/*.js", "src/x/test/y/test/a.js", true],
  ["src/**/test/*.js", "src/x/a.js", false],
  ["a**b", "axxb", true],
  ["a**b", "ax/xb", false],
  ["?", "中", true],
  ["?", "😀", true],
  ["[a-c]x", "bx", true],
  ["[!a-c]x", "bx", false],
  ["[]]", "]", true],
  ["[a", "[a", true],
  ["\\*", "*", true],
  ["\\*", "a", false],
  ["!*.md", "a.ts", true],
  ["!*.md", "a.md", false],
  ["./a", "a", true],
  ["{src,lib}/**/*.{ts,tsx}", "lib/x/a.tsx", true],
  ["{a,{b,c}}", "c", true],
  ["v{1..3}", "v2", false],
  ["{a}", "{a}", true],
  ["app/[id]/*.tsx", "app/[id]/page.tsx", true],
  ["app/[id]/*.tsx", "app/i/page.tsx", true],
  ["app/(group)/[...rest]/**", "app/(group)/[...rest]/x/y", true],
  ["{a,b}/x", "{a,b}/x", true],
  ["{a,b}/x", "b/x", true],
  ["[[slug]]", "[[slug]]", true],
  ["caf\u00e9/*", "cafe\u0301/a", true],
  ["cafe\u0301/*", "caf\u00e9/a", true],
])("%s against %s: %s", (glob, path, expected) => {
  expect(pathGlob(glob)(path)).toBe(expected);
});

test("without a slash a glob may name files in any folder", () => {
  const fits = pathGlob("*.{ts,js}", { matchesBaseName: true });
  expect([fits("x/y/a.js"), fits("a.ts"), fits("a.ts/b")]).toEqual([true, true, false]);
});

test.each([
  ["*.ts", ["*.ts"]],
  ["src/**/*.{ts,tsx}", ["*.{ts,tsx}", "[*].[{]ts,tsx[}]"]],
  ["src/**", undefined],
  ["{a,b}/x.ts", undefined],
  ["*.{ts", undefined],
  ["{a/b,c}", undefined],
  ["a b", undefined],
])("names that fit the last one in %s fit %j", (glob, expected) => {
  expect(lastNamesOf(glob)).toEqual(expected);
});

test("many stars take no time on a long name that does not fit", () => {
  expect(pathGlob(`${"*a".repeat(100)}b`)("a".repeat(250))).toBe(false);
});

test("the number of alternatives is bounded", () => {
  expect(expandBraces("{a,b}".repeat(30)).length).toBeLessThanOrEqual(2000);
});

test("it agrees with regular expressions put together from the same pieces", () => {
  const pieces: ReadonlyMap<string, string> = new Map([
    ["a", "a"],
    ["b", "b"],
    [".", "\\."],
    ["*", "[^/]*"],
    ["?", "[^/]"],
    ["/", "/"],
    ["**/", "(?:[^/]+/)*"],
    ["{a,b/a}", "(?:a|b/a)"],
    ["[!a]", "[^/a]"],
  ]);
  const glob = fc.array(fc.constantFrom(...pieces.keys()), { minLength: 1, maxLength: 7 });
  const name = fc.string({ unit: fc.constantFrom("a", "b", "."), minLength: 1, maxLength: 3 });
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(glob, path, (units, file) => {
      const pattern = units.join("");
      // Two single stars in a row would read as one that crosses folders.
      fc.pre(!units.some((unit, index) => unit === "*" && units[index + 1]?.startsWith("*")));
      fc.pre(!/^\/|^(?:\.\/)+|\/\/|[^/]\*\*|\*\*[^/]|\*\*$/u.test(pattern));
      const expected = new RegExp(`^(?:${units.map((unit) => pieces.get(unit)).join("")})$`, "u").test(file);
      expect([pattern, file, pathGlob(pattern)(file)]).toEqual([pattern, file, expected]);
    }),
    { numRuns: 3000 },
  );
});
