import fc from "fast-check";
import { expect, test } from "vitest";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { life, liveThrough } from "./random-lives.ts";

test("the replay of an unmodified journal finds no difference, whatever happened in it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
      const entries = await liveThrough(lives);
      const report = await replaySession(entries);
      expect(report.differences).toEqual([]);
      expect(report.same).toBe(true);
      // Every request of the conversation was made again.
      expect(report.requests).toBe(
        entries.filter(({ type, scope }) => type === "assistant_message" && scope === undefined).length,
      );
    }),
    { numRuns: 300 },
  );
});
