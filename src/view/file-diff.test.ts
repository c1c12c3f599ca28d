import { formatPatch, structuredPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { diffFile } from "../tools/files/change-file.ts";
import { parseUnifiedDiff } from "./file-diff.ts";

/** Lines that look like parts of a diff themselves. */
const line = fc.oneof(
  fc.constantFrom("", " ", "-", "+", "--- a", "+++ b", "@@ -1,2 +1,2 @@", "\\ No newline at end of file"),
  fc.string({ maxLength: 5 }).map((text) => text.replaceAll(/[\r\n\u2028\u2029]/g, "")),
);
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
  .map(([lines, ends]) => lines.join("\n") + (ends ? "\n" : ""));

test("the hunks of a diff are those it was written from", async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const { diff = "" } = await diffFile("a.txt", before, after);
      const patch = structuredPatch("a.txt", "a.txt", before, after, undefined, undefined, { context: 3 });
      const hunks = patch.hunks.map(({ oldStart, newStart, lines }) => ({
        oldStart,
        newStart,
        lines: lines.filter((each) => !each.startsWith("\\")),
      }));
      const parsed = parseUnifiedDiff("a.txt", diff, false);
      expect(parsed?.hunks ?? []).toEqual(hunks);
      const shown = hunks.flatMap((hunk) => hunk.lines);
      expect([parsed?.added ?? 0, parsed?.removed ?? 0]).toEqual([
        shown.filter((each) => each.startsWith("+")).length,
        shown.filter((each) => each.startsWith("-")).length,
      ]);
    }),
  );
});

test("whatever is not a diff gives no hunks or some, and never throws", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const parsed = parseUnifiedDiff("a", lines.join("\n"), true);
      expect(parsed === undefined || parsed.hunks.length > 0).toBe(true);
    }),
  );
});

test("a diff of two places has two hunks", () => {
  const before = Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n");
  const after = before.replace("line 2\n", "two\n").replace("line 28", "twenty-eight");
  const parsed = parseUnifiedDiff(
    "a",
    formatPatch(structuredPatch("a", "a", before, after, "", "", { context: 1 })),
    false,
  );
  expect(parsed?.hunks).toEqual([
    { oldStart: 2, newStart: 2, lines: [" line 1", "-line 2", "+two", " line 3"] },
    { oldStart: 28, newStart: 28, lines: [" line 27", "-line 28", "+twenty-eight", " line 29"] },
  ]);
});
