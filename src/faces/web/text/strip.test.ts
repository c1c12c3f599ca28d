import fc from "fast-check";
import { expect, test } from "vitest";
import { countReads, JournalMaker } from "../../../../test/web/made-journal.ts";
import { stripOf } from "./strip.tsx";

test("steps follow each other from the first to the last moment of work, and are never many", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 0, max: 3_000 }), (seed, size) => {
      const entries = new JournalMaker(seed).make(size);
      const { steps, length, workedAt } = stripOf(entries);
      expect(steps.filter(({ from, to }, at) => to <= from || from !== (steps[at - 1]?.to ?? 0))).toEqual([]);
      expect(steps.at(-1)?.to ?? 1).toBe(length);
      expect(steps.length).toBeLessThanOrEqual(801);
      expect(workedAt).toEqual(workedAt.toSorted((left, right) => left - right));
      expect(workedAt.length).toBe(entries.length);
    }),
  );
});

test("ten times the entries take ten times the steps", () => {
  const entries = new JournalMaker(7).make(50_000);
  const few = countReads(entries.slice(0, 5_000), stripOf);
  expect(countReads(entries, stripOf) / few).toBeLessThan(10.5);
});
