import { expect, test } from "vitest";
import { checkLinks } from "../../scripts/gates/links.ts";
import { tempFolder } from "../temp-folder.ts";

test("a link leads to a file, or to a heading of one; addresses and code blocks are not looked at", () => {
  const root = tempFolder({
    "README.md": [
      "[a](docs/a.md) [b](docs/b.md) [here](#the-end-of-it)",
      "[there](docs/a.md#exit-codes-and-json) [nowhere](docs/a.md#exit) [web](https://example.com/x)",
      "```md",
      "[c](docs/c.md)",
      "```",
      "![picture](docs/d.svg)",
      "## The end of `it`!",
    ].join("\n"),
    "docs/a.md": "# Exit codes, and JSON\n[back](../README.md)",
  });
  expect(checkLinks(root)).toEqual({
    looked: 2,
    findings: [
      "README.md:1  docs/b.md: there is no docs/b.md",
      "README.md:2  docs/a.md#exit: docs/a.md has no heading for #exit",
      "README.md:6  docs/d.svg: there is no docs/d.svg",
    ],
  });
});
