import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/library.md"), "utf8");

/** Members of the first union of words in a source. */
function words(source: string, type: string): readonly string[] {
  const text = readFileSync(join(ROOT, source), "utf8");
  const union = text.slice(text.indexOf(`export type ${type} =`)).split(";\n\n", 1)[0] ?? "";
  return [...union.matchAll(/^ {2}\| "(\w+)"/gm)].map(([, word = ""]) => word);
}

/** Words in the first cells of the rows below a heading. */
function rowsBelow(heading: string): readonly string[] {
  const [section = ""] = page.slice(page.indexOf(`\n## ${heading}\n`) + 1).split("\n## ", 1);
  const cells = [...section.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)];
  return cells.flatMap(([, cell = ""]) => [...cell.matchAll(/\w+/g)].map(([word]) => word));
}

test.each([
  ["src/core/base/errors.ts", "ErrorCode", "Errors"],
  ["src/core/base/stop-reason.ts", "StopReason", "Stop reasons"],
])("every word of %s %s has its row on the page of the library", (source, type, heading) => {
  const all = words(source, type);
  expect(all.length).toBeGreaterThan(10);
  const told = rowsBelow(heading).filter((word) => word !== "stopReason" && word !== "code");
  expect(told.toSorted()).toEqual(all.toSorted());
});
