import { createRequire } from "node:module";
import { parseFragment } from "parse5";

const require = createRequire(import.meta.url);

/** An example of the specification of CommonMark. */
export interface MarkdownExample {
  readonly number: number;
  readonly section: string;
  readonly markdown: string;
  readonly html: string;
}

/** All examples of the specification; `→` in them is a tab. */
export function markdownExamples(): readonly MarkdownExample[] {
  const { tests } = require("commonmark-spec") as {
    readonly tests: readonly MarkdownExample[];
  };
  return tests.map((each) => ({
    ...each,
    markdown: each.markdown.replaceAll("→", "\t"),
    html: each.html.replaceAll("→", "\t"),
  }));
}

interface HtmlNode {
  readonly nodeName: string;
  readonly value?: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly HtmlNode[];
}

/** What a reader sees of HTML: its texts, and those that stand for pictures. */
export function readableText(html: string): string {
  const textOf = ({ value, attrs = [], childNodes = [] }: HtmlNode): string =>
    [
      value ?? "",
      ...attrs.flatMap(({ name, value: alt }) => (name === "alt" ? [alt] : [])),
      ...childNodes.map(textOf),
    ].join(" ");
  return textOf(parseFragment(html) as HtmlNode);
}

/** The words of the expected HTML that what was shown does not have. */
export function lostWords({ html }: MarkdownExample, shown: string): readonly string[] {
  const dense = shown.replaceAll(/\s+/g, "");
  const words = readableText(html).match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !dense.includes(word));
}
