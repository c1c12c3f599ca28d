import fc from "fast-check";
import { parseFragment } from "parse5";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import { Markdown } from "./markdown.tsx";

interface Node {
  readonly nodeName: string;
  readonly value?: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly Node[];
}

function nodesOf(text: string): readonly Node[] {
  const all = (node: Node): readonly Node[] => [node, ...(node.childNodes ?? []).flatMap(all)];
  return all(parseFragment(renderToString(<Markdown text={text} />)) as Node);
}

function textOf(text: string): string {
  return nodesOf(text)
    .map(({ value }) => value ?? "")
    .join("");
}

const ELEMENTS = new Set(
  "div span p pre code h3 h4 h5 h6 ul ol li input table thead tbody tr th td blockquote strong em del a br hr button".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "class dir href title target rel start type disabled checked scope tabindex aria-label".split(" "),
);

/** What the text became that could run, load or pretend. */
function faults(text: string): readonly string[] {
  return nodesOf(text).flatMap(({ nodeName, attrs = [] }) => [
    ...(nodeName.startsWith("#") || ELEMENTS.has(nodeName) ? [] : [nodeName]),
    ...attrs
      .filter(
        ({ name, value }) =>
          !ATTRIBUTES.has(name) || (name === "href" && !/^(?:https?:\/\/|mailto:)/i.test(value)),
      )
      .map(({ name, value }) => `${nodeName} ${name}=${value}`),
  ]);
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "text <b onclick=alert(1)>bold</b> <iframe src='https://evil.example'></iframe>",
  "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](java\tscript:alert(1)) [d](data:text/html,<script>1</script>)",
  "[a](vbscript:x) [b](file:///etc/passwd) [c](//evil.example) [d](&#106;avascript:alert(1)) [e](#/new)",
  "![pixel](https://evil.example/pixel.png) ![x](javascript:alert(1))",
  '![x](https://evil.example/a.png "onload=alert(1)")',
  '[x](https://ok.example/"onmouseover="alert(1))',
  "<https://ok.example> <javascript:alert(1)>",
  "[ref]\n\n[ref]: javascript:alert(1)",
  "```html\n<script>alert(1)</script>\n```",
  "| <script>1</script> | [x](javascript:1) |\n|---|---|\n| <img src=x> | ![y](http://evil.example/y) |",
  "- [x] <style>*{display:none}</style>",
  "<!-- comment --> <?php x ?> <![CDATA[x]]> &lt;script&gt;",
  "# <svg onload=alert(1)>",
  "</div></main><h1>Another page</h1>",
];

describe("text of foreign origin", () => {
  test.each(HOSTILE)("%j becomes text, and nothing that runs or loads", (text) => {
    expect(faults(text)).toEqual([]);
  });

  test("any mixture of it does neither", () => {
    const pieces = fc.oneof(
      fc.constantFrom(...HOSTILE),
      fc.string(),
      fc.constantFrom("\n", "\n\n", "> ", "- ", "`", "**"),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        expect(faults(parts.join(""))).toEqual([]);
      }),
    );
  });

  test("marks of direction and control characters are made visible", () => {
    expect(textOf("a\u202eb\u0007c")).toBe("a\ufffdb\u2407c");
  });

  test.each([
    ["quotations", ">".repeat(5_000)],
    ["lists", "- ".repeat(5_000)],
    ["emphasis", "*".repeat(5_000)],
    ["brackets", "[".repeat(5_000)],
    ["indented lists", Array.from({ length: 200 }, (_, at) => `${" ".repeat(at * 2)}- x`).join("\n")],
    ["a very long text", "word ".repeat(60_000)],
  ])("%s as deep as anybody likes are shown all the same", (_name, text) => {
    expect(textOf(text).length).toBeGreaterThan(0);
    expect(faults(text)).toEqual([]);
  });
});

test("headings, lists, tables, code and links are elements", () => {
  const text =
    "# One\n\nTwo **three** *four* `five` ~~six~~ [seven](https://example.com)\n\n1. a\n2. b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```js\ncode();\n```\n\n> said\n\n---\n\n- [x] done";
  expect(renderToString(<Markdown text={text} />)).toMatchInlineSnapshot(
    `"<div class="prose" dir="auto"><h3>One</h3><p>Two <strong>three</strong> <em>four</em> <code>five</code> <del>six</del> <a href="https://example.com" title="https://example.com" target="_blank" rel="noopener noreferrer">seven</a></p><ol start="1"><li>a</li><li>b</li></ol><div class="sideways"><table><thead><tr><th scope="col">x</th><th scope="col">y</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div><div class="code"><pre tabindex="0" aria-label="Code, js" dir="ltr"><code><span class="f">code</span>();</code></pre><button type="button" class="btn small">Copy</button></div><blockquote><p>said</p></blockquote><hr/><ul><li><input type="checkbox" disabled checked aria-label="done"/>done</li></ul></div>"`,
  );
});
