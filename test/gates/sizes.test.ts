import { expect, test } from "vitest";
import { checkSizes, EXCEPTIONS_FILE } from "../../scripts/gates/sizes.ts";
import { tempFolder } from "../temp-folder.ts";

const lines = (count: number): string => "//\n".repeat(count);

test("a file may have as many lines as its limit and not one more", () => {
  const root = tempFolder({
    "src/a.ts": lines(600),
    "src/b.ts": lines(601),
    "src/core/agent/loop.ts": lines(271),
    "test/c.test.ts": lines(601),
  });
  expect(checkSizes(root)).toEqual({
    looked: 4,
    findings: [
      "src/b.ts  has 601 lines, at most 600. Split it by what it does",
      "src/core/agent/loop.ts  has 271 lines, at most 270. Split it by what it does",
      "test/c.test.ts  has 601 lines, at most 600. Split it by what it does",
    ],
  });
});

test("a comment is at most 110 columns wide, unless it is one long word", () => {
  const words = (columns: number): string =>
    "word "
      .repeat(columns)
      .slice(0, columns - 1)
      .concat("x");
  const root = tempFolder({
    "src/a.ts": [
      `// ${words(107)}`,
      `  // ${words(106)}`,
      ` * ${words(108)}`,
      `/** ${words(107)}`,
      `// https://${"a".repeat(120)}`,
      `const text = "${words(120)}";`,
    ].join("\n"),
  });
  expect(checkSizes(root).findings).toEqual([
    "src/a.ts:2  is a comment of 111 columns, at most 110. Wrap it",
    "src/a.ts:3  is a comment of 111 columns, at most 110. Wrap it",
    "src/a.ts:4  is a comment of 111 columns, at most 110. Wrap it",
  ]);
});

test("a name in src stands for one file", () => {
  const root = tempFolder({
    "src/a/index.ts": "",
    "src/a/undo.ts": "",
    "src/b/index.ts": "",
    "src/b/undo.ts": "",
    "test/undo.ts": "",
  });
  expect(checkSizes(root).findings).toEqual([
    "src/b/undo.ts  is called like src/a/undo.ts. Name it after what it holds",
  ]);
});

test("an exception needs a reason, holds to its own limit and goes when it is not needed", () => {
  const root = tempFolder({
    "src/a.ts": lines(650),
    "src/b.ts": lines(700),
    "src/c.ts": lines(10),
    [EXCEPTIONS_FILE]: JSON.stringify([
      { path: "src/a.ts", lines: 660, reason: " " },
      { path: "src/b.ts", lines: 660, reason: "one table" },
      { path: "src/c.ts", lines: 660, reason: "was long once" },
      { path: "src/gone.ts", lines: 660, reason: "was there once" },
    ]),
  });
  expect(checkSizes(root).findings).toEqual([
    "src/b.ts  has 700 lines, at most 660. Split it by what it does",
    `${EXCEPTIONS_FILE}  src/a.ts needs a reason`,
    `${EXCEPTIONS_FILE}  src/c.ts needs no exception: remove it`,
    `${EXCEPTIONS_FILE}  src/gone.ts needs no exception: remove it`,
  ]);
});
