import { expect, test } from "vitest";
import { sliceAfter } from "./session-facts.ts";

test("pages go on behind each place that they give out, also before the epoch and between two milliseconds", () => {
  const all = [-172_800_000, -86_400_000.5, 0, 1, 1.25, 1_795_476_650_424.6572].map((updatedAt, at) => ({
    id: `s${at}`,
    updatedAt,
  }));
  const seen: string[] = [];
  let before: string | undefined;
  do {
    const { page, next } = sliceAfter(all, { limit: 1, before });
    seen.push(...page.map(({ id }) => id));
    before = next;
  } while (before !== undefined);
  expect(seen).toEqual(["s5", "s4", "s3", "s2", "s1", "s0"]);
});
