import fc from "fast-check";
import { expect, test } from "vitest";
import { lineReader } from "./read-message.ts";

const UNIT = fc.constantFrom("a", "B", "7", "_", "-", ".", "/", " ", "é", "日", "😀", "\0");

test("lines come out whole, however their bytes are cut", () => {
  const text = fc.array(
    fc.string({ unit: UNIT }).map((line) => line.replaceAll("\n", "").toWellFormed()),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const found: unknown[] = [];
      const read = lineReader((line) => found.push(line));
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = cuts[turn % cuts.length] ?? 1;
        read(bytes.subarray(at, at + size));
        at += size;
      }
      expect(found).toEqual(lines);
    }),
  );
});

test("a line that is too long is told once, and nothing after it", () => {
  const found: unknown[] = [];
  const read = lineReader((line) => found.push(line), 5);
  for (const chunk of ["12345\n123", "45", "6", "7\nmore\n"]) read(Buffer.from(chunk));
  expect(found).toEqual(["12345", undefined]);
});
