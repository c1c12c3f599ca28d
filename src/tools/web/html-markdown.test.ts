import * as fc from "fast-check";
import { expect, test } from "vitest";
import { htmlToMarkdown } from "./html-markdown.ts";

const md = (html: string): string => htmlToMarkdown(html, "https://example.com/docs/page").markdown;

test("a page with the usual elements", () => {
  const page = htmlToMarkdown(
    `<!doctype html><html><head><title> The  &amp; page </title><style>p { color: red }</style>
     <script>if (a < b) document.write("<p>no</p>")</script></head><body>
     <h1>Top <em>heading</em></h1>
     <p>Some <b>bold </b>text, a <a href="../x?a=1&amp;b=2">link</a> and <code>code</code>.<br>Second&nbsp;line.</p>
     <ul><li>one</li><li><p>two</p><ol start=3><li>three<li>four</ol></li></ul>
     <blockquote><p>said</p><p>twice</p></blockquote>
     <pre><code class="language-ts">const a = 1;
  if (a &lt; 2) {}
</code></pre>
     <table><thead><tr><th>a<th>b</tr></thead><tr><td>1</td><td><p>2</p></td></tr></table>
     <img src="/pic.png" alt="A  picture"><img src=x><hr>end</body>`,
    "https://example.com/docs/page",
  );
  expect(page.title).toBe("The & page");
  expect(page.markdown).toBe(`# Top *heading*

Some **bold** text, a [link](https://example.com/x?a=1&b=2) and \`code\`.
Second line.

- one
- two
  3. three
  4. four

> said
>
> twice

\`\`\`ts
const a = 1;
  if (a < 2) {}
\`\`\`

| a | b |
| --- | --- |
| 1 | 2 |

![A picture](https://example.com/pic.png)

---

end`);
});

test("links that lead nowhere are their text; nothing else of them is kept", () => {
  expect(
    md(
      '<a href="#x">here</a> <a href="javascript:alert(1)">run</a> <a name=y>name</a> <a href="data:text/html,x">d</a>',
    ),
  ).toBe("here run name d");
});

test("what is not for reading is left out, unclosed or nested", () => {
  expect(md("a<noscript><p>b</p></noscript><svg><svg><text>c</text></svg></svg>d<script>e")).toBe("ad");
  expect(md("<textarea><p>typed</p></textarea> after")).toBe("<p>typed</p> after");
});

test("marks around nothing are left out and marks left open are closed", () => {
  expect([md("<b></b>x<i> </i>y"), md("<b>x<p>y"), md("</b></i></a></li></table>x")]).toEqual([
    "x y",
    "**x**\n\ny",
    "x",
  ]);
});

test("emphasis begun in a link ends in it", () => {
  expect([md("<a href=/x><code> one "), md("<a href=/x><b>one</a> two</b>")]).toEqual([
    "[`one`](https://example.com/x)",
    "[**one**](https://example.com/x) two",
  ]);
});

test("a fence is longer than any run of backquotes inside", () => {
  expect(md("<pre>a ```` b</pre>")).toBe("`````\na ```` b\n`````");
});

test("every word a person would read is there, in order, whatever the markup", () => {
  const word = fc.stringMatching(/^[a-z\u4e00-\u4e20]{1,6}$/);
  const tag = fc.constantFrom(
    "p",
    "b",
    "li",
    "ul",
    "ol",
    "td",
    "tr",
    "table",
    "blockquote",
    "h2",
    "a",
    "div",
    "code",
    "em",
  );
  const piece = fc.oneof(
    word.map((text) => ` ${text} `),
    tag.map((name) => `<${name}>`),
    tag.map((name) => `</${name}>`),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const words = pieces.filter((text) => text.startsWith(" ")).map((text) => text.trim());
      const found = md(pieces.join("")).match(/[a-z\u4e00-\u4e20]+/g) ?? [];
      expect(found).toEqual(words);
    }),
  );
});

test("any text is read without failing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      expect(md(`<p>${text}`)).toBeTypeOf("string");
    }),
  );
});
