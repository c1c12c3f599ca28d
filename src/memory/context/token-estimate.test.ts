import fc from "fast-check";
import { expect, test } from "vitest";
import { loadTextEstimator, upperBoundTokens } from "./context-meter.ts";

const CASES: readonly (readonly [what: string, text: string, least: number, most: number])[] = [
  ["English", "The quick brown fox jumps over the lazy dog. ".repeat(100), 800, 1_300],
  ["Chinese", "我们决定把会话日志保存为追加写入的文件。".repeat(100), 1_000, 2_400],
  ["JSON", JSON.stringify({ id: 1, path: "src/a.ts", ok: true }).repeat(100), 1_000, 2_500],
  ["digits", "1234567890 ".repeat(100), 300, 600],
  ["base64", "QWxhZGRpbjpvcGVuIHNlc2FtZQ".repeat(100), 900, 2_000],
  ["mixed punctuation", "{}[]();,.<>".repeat(200), 1_200, 2_200],
  ["symbols", "!@#$%^&*()_+".repeat(200), 1_200, 2_400],
  ["a ruler", "-".repeat(2_000), 125, 1_000],
  ["a run of millions", "a".repeat(6_000_000), 2_000_000, 3_000_000],
  ["blanks", " ".repeat(16_000), 1_000, 1_000],
];

test.each(CASES)("%s is estimated within its range", async (_what, text, least, most) => {
  const tokens = (await loadTextEstimator())(text);
  expect(tokens).toBeGreaterThanOrEqual(least);
  expect(tokens).toBeLessThanOrEqual(most);
});

test("no long text counts as nothing, and none for more than its bytes", async () => {
  const estimate = await loadTextEstimator();
  const letters = fc.constantFrom(
    "a",
    "Z",
    "9",
    "{",
    "}",
    "\n",
    " ",
    "中",
    "é",
    "\u{1f600}",
    "\u0000",
    "\ud800",
  );
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1, maxLength: 30 }), (some) => {
      const text = some.join("").repeat(Math.ceil(20_000 / some.join("").length));
      const tokens = estimate(text);
      expect(tokens).toBeGreaterThanOrEqual(Math.floor(text.length / 16));
      expect(tokens).toBeLessThanOrEqual(upperBoundTokens(text.length));
    }),
    { numRuns: 100 },
  );
});
