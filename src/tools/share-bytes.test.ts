import fc from "fast-check";
import { expect, test } from "vitest";
import { shareBytes } from "./batch-tool.ts";

const size = (text: string): number => Buffer.byteLength(text);

test("short texts stay whole and long ones share what is left", () => {
  const [short, long, longer] = shareBytes(["abc", "x".repeat(5000), "y".repeat(50_000)], 2003);
  expect([short, size(long ?? ""), size(longer ?? "")]).toEqual(["abc", 1000, 1000]);
});

test("a cut text keeps its beginning and its end and says how to see all of it", () => {
  const [text] = shareBytes([`begin${"-".repeat(5000)}end`], 200);
  expect(text).toMatch(
    /^begin-+\n… \d+ bytes left out …\n-+end\n\[Make this call alone to see all of it\.\]$/,
  );
});

test("texts that fit are unchanged, and the sum never exceeds the limit by more than the notes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 400 })),
      fc.integer({ min: 2000, max: 5000 }),
      (texts, max) => {
        const cut = shareBytes(texts, max);
        const total = (all: readonly string[]): number => all.reduce((sum, text) => sum + size(text), 0);
        if (total(texts) <= max) expect(cut).toEqual(texts);
        else expect(total(cut)).toBeLessThanOrEqual(max + texts.length * 100);
        expect(cut.every((text, index) => text.isWellFormed() || !texts[index]?.isWellFormed())).toBe(true);
      },
    ),
  );
});
