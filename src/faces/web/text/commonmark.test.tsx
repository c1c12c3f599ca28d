import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { lostWords, markdownExamples, readableText } from "../../../../test/commonmark.ts";
import { Markdown } from "./markdown.tsx";

/** What the page does not read stays as it was written. */
const BY_DESIGN = new Map([["character references with a name are shown as they were written", [25]]]);

test("no word of any example of CommonMark is lost on the page", () => {
  const lossy = markdownExamples().filter((example) => {
    const shown = readableText(renderToString(<Markdown text={example.markdown} />));
    return lostWords(example, shown).length > 0;
  });
  expect(lossy.map(({ number }) => number)).toEqual([...BY_DESIGN.values()].flat());
});
