import fc from "fast-check";
import { expect, test } from "vitest";
import { hashText } from "./hash-text.ts";

test("equal texts have equal numbers, which are whole and safe", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const hash = hashText(text);
      expect([hash, Number.isSafeInteger(hash), hash >= 0]).toEqual([
        hashText([...text].join("")),
        true,
        true,
      ]);
    }),
  );
});

test("a hundred thousand similar texts have as many numbers", () => {
  const seen = new Set<number>();
  for (let index = 0; index < 50_000; index++)
    seen.add(hashText(`read {"path":"file-${index}"}`)).add(hashText(" ".repeat(index % 7) + index));
  expect(seen.size).toBe(100_000);
});
