import fc from "fast-check";
import { expect, test } from "vitest";
import { countReads, JournalMaker } from "../../../../test/web/made-journal.ts";
import { ReplayCursor, replayMoments } from "./replay-view.tsx";

test("wherever a replay comes from, the same moment shows the same", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 31 }),
      fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 6 }),
      fc.integer({ min: 0, max: 120 }),
      (seed, moves, last) => {
        const entries = new JournalMaker(seed).make(120);
        const cursor = new ReplayCursor(entries);
        for (const move of moves) cursor.moveTo(move);
        expect(structuredClone(cursor.moveTo(last))).toEqual(
          structuredClone(new ReplayCursor(entries).moveTo(last)),
        );
      },
    ),
  );
});

test("moments are in order, each right after its entry", () => {
  const entries = new JournalMaker(3).make(400);
  const moments = replayMoments(entries);
  expect(moments.map(({ count }) => entries[count - 1]?.id)).toEqual(moments.map(({ entryId }) => entryId));
  expect(moments.map(({ count }) => count)).toEqual(
    moments.map(({ count }) => count).toSorted((left, right) => left - right),
  );
});

test("ten times the entries take ten times the steps", () => {
  const entries = new JournalMaker(7).make(100_000);
  const walk = (watched: typeof entries): unknown => [
    replayMoments(watched),
    new ReplayCursor(watched).moveTo(watched.length),
  ];
  const few = countReads(entries.slice(0, 10_000), walk);
  const many = countReads(entries, walk);
  expect(many / few).toBeLessThan(10.5);
});
