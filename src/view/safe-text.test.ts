import fc from "fast-check";
import { expect, test } from "vitest";
import { terminalLine, terminalText } from "./safe-text.ts";

test("escape sequences and overrides become visible, text stays", () => {
  expect(terminalText("a\u001B[31mred\u0007\r\nb\tc \u202Eabc 👩‍💻 中文\uD800")).toBe(
    "a␛[31mred␇\nb\tc \uFFFDabc 👩‍💻 中文\uFFFD",
  );
});

test("a line is one line of bounded length", () => {
  expect(terminalLine("  a\n\n b\tc  ", 10)).toBe("a b c");
  expect(terminalLine("😀".repeat(20), 5)).toBe("😀😀😀😀…");
});

test("whatever the text, a terminal gets no control characters of it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 50 }), (text, width) => {
      expect(terminalText(text)).not.toMatch(/(?![\n\t])\p{Cc}/u);
      const line = terminalLine(text, width);
      expect([...line].length).toBeLessThanOrEqual(width);
      expect(line).not.toContain("\n");
    }),
  );
});
