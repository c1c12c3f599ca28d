import { expect, test } from "vitest";
import { lostWords, markdownExamples } from "../../../../test/commonmark.ts";
import { marksOf } from "../paint/theme.ts";
import { markdownRows } from "./markdown-stream.ts";

/** The screen reads a part of Markdown: what it does not read stays as it was written. */
const BY_DESIGN = new Map([
  ["character references are shown as they were written", [25, 26, 27]],
  ["the language of a block of code is its colours; the specification has HTML go on here", [161]],
]);

test("no word of any example of CommonMark is lost on the screen", () => {
  const marks = marksOf({ unicode: true });
  const lossy = markdownExamples().filter((example) => {
    const rows = markdownRows(example.markdown, 200, marks);
    return lostWords(example, rows.flatMap((row) => row.map(({ text }) => text)).join("")).length > 0;
  });
  expect(lossy.map(({ number }) => number)).toEqual([...BY_DESIGN.values()].flat());
});
