import fc from "fast-check";
import { expect, test } from "vitest";
import { type Line, lineColumns } from "../paint/line.ts";
import { marksOf } from "../paint/theme.ts";
import { MarkdownStream, markdownRows } from "./markdown-stream.ts";

const OPTIONS = marksOf({ unicode: true });

function textOf(rows: readonly Line[]): readonly string[] {
  return rows.map((row) => row.map((each) => each.text).join(""));
}

function shown(text: string, width = 60): readonly string[] {
  return textOf(markdownRows(text, width, OPTIONS));
}

test("paragraphs, headings, lists, quotes and rules are laid out", () => {
  expect(
    shown(
      "# Title\nFirst **bold** and `code`.\nSame paragraph.\n\n- one\n- two\n  1. inner\n  2. more\n- [x] done\n\n> quoted\n> text\n\n---\nend",
    ),
  ).toEqual([
    "Title",
    "",
    "First bold and code. Same paragraph.",
    "",
    "• one",
    "• two",
    "  1. inner",
    "  2. more",
    "✓ done",
    "",
    "│ quoted text",
    "",
    "────────────────────────────────────────",
    "",
    "end",
  ]);
});

test("code keeps its blanks and is not read as Markdown", () => {
  expect(shown("Look:\n```ts\nconst a = '**x**';\n\n  return a;\n```\nDone.")).toEqual([
    "Look:",
    "",
    "  const a = '**x**';",
    "  ",
    "    return a;",
    "",
    "Done.",
  ]);
});

test("a table is aligned, wide letters too, and its cells are broken where they do not fit", () => {
  expect(shown("| name | 数量 |\n|---|---|\n| a long name | 12 |", 12)).toEqual([
    "name  │ 数量",
    "──────┼─────",
    "a     │ 12",
    "long  │ ",
    "name  │ ",
  ]);
  expect(shown("| name | 数量 |\n|:--|--:|\n| 苹果 | 3 |\n| pear | 12 |")).toEqual([
    "name │ 数量",
    "─────┼─────",
    "苹果 │    3",
    "pear │   12",
  ]);
});

test("a table without room for its words side by side is a list of what its rows say", () => {
  const table =
    "| option | meaning | default |\n|---|---|--:|\n| headerTimeoutMs | how long a head may take | 120000 |\n| maxRetries | | 5 |";
  expect(shown(table, 20)).toEqual([
    "option:",
    "  headerTimeoutMs",
    "meaning: how long",
    "  a head may take",
    "default: 120000",
    "────────────────",
    "option: maxRetries",
    "meaning:",
    "default: 5",
  ]);
  expect(shown(table, 40)).toEqual([
    "option          │ meaning      │ default",
    "────────────────┼──────────────┼────────",
    "headerTimeoutMs │ how long a   │  120000",
    "                │ head may     │        ",
    "                │ take         │        ",
    "maxRetries      │              │       5",
  ]);
});

test("no word of a table is torn, whatever its columns and the width", () => {
  const cell = fc.array(fc.stringMatching(/^[a-z]{1,14}$/), { maxLength: 4 }).map((words) => words.join(" "));
  const rows = fc
    .integer({ min: 1, max: 5 })
    .chain((columns) =>
      fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 2 }),
    );
  fc.assert(
    fc.property(rows, fc.integer({ min: 20, max: 120 }), (table, width) => {
      const [head = [], ...body] = table.map((row) => `| ${row.join(" | ")} |`);
      const rule = `|${"---|".repeat(table[0]?.length ?? 0)}`;
      const drawn = shown([head, rule, ...body].join("\n"), width);
      const words = new Set(drawn.flatMap((row) => row.split(/[ :│]+/)));
      expect(
        table
          .flat()
          .flatMap((text) => text.split(" "))
          .filter((word) => !words.has(word) && word !== ""),
      ).toEqual([]);
      expect(drawn.filter((row) => row.length > width)).toEqual([]);
    }),
  );
});

test("marks that are not Markdown stay as they were written", () => {
  expect(shown("2 * 3 * 4, snake_case_name, a ** b, [x], 5 < 6, \\*not\\*, ~5, *open")).toEqual([
    "2 * 3 * 4, snake_case_name, a ** b, [x], 5 < 6, *not*, ~5,",
    "*open",
  ]);
});

test("a link shows where it leads when its text says something else", () => {
  const rows = markdownRows("See [docs](https://a.example/x) and https://b.example/y.", 80, OPTIONS);
  expect(textOf(rows)).toEqual(["See docs (https://a.example/x) and https://b.example/y."]);
  expect(
    rows
      .flat()
      .filter((each) => each.style.link !== undefined)
      .map((each) => [each.text, each.style.link]),
  ).toEqual([
    ["docs", "https://a.example/x"],
    ["https://b.example/y", "https://b.example/y"],
  ]);
});

const PIECES = [
  "word ",
  "wörter ",
  "中文字符，",
  "👩‍👩‍👧 ",
  "**bold** ",
  "**open ",
  "*em* ",
  "`code` ",
  "``",
  "[a](https://x.example) ",
  "[b]",
  "https://y.example/z ",
  "\n",
  "\n\n",
  "\n- ",
  "\n  - ",
  "\n1. ",
  "\n> ",
  "\n# ",
  "\n```ts\n",
  "\n```\n",
  "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
  "\n---\n",
  "const x = 1; // note",
  "a_b_c ",
  "\\*",
  "~~no~~ ",
  "verylongwordwithoutanyblankthatmustbebroken",
];

test("however a text is cut, the rows handed out and the last ones are those of the whole text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 12, max: 70 }),
      (pieces, sizes, width) => {
        const text = pieces.join("");
        const stream = new MarkdownStream(OPTIONS);
        const rows: Line[] = [];
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          stream.push(text.slice(at, at + size));
          at += size;
          rows.push(...stream.takeFinalRows(width));
          stream.openRows(width);
        }
        stream.end();
        rows.push(...stream.takeFinalRows(width));
        expect(textOf(rows)).toEqual(textOf(markdownRows(text, width, OPTIONS)));
      },
    ),
    { numRuns: 400 },
  );
});

test("no row is wider than the screen, and none holds a control character, whatever the text", () => {
  const unit = fc.oneof(
    fc.constantFrom(...PIECES, "\u001B[2J", "\u001B]52;c;aGk=\u0007", "\u202E", "\u009B31m", "\r"),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 40 }), fc.integer({ min: 4, max: 90 }), (pieces, width) => {
      for (const row of markdownRows(pieces.join(""), width, OPTIONS)) {
        expect(lineColumns(row)).toBeLessThanOrEqual(Math.max(width, 16));
        for (const each of row)
          expect(/(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(each.text)).toBe(false);
      }
    }),
  );
});

test("400 nested quotes, and a line of a megabyte, take no time worth mentioning", () => {
  expect(shown(`${"> ".repeat(400)}deep`)).toEqual([`${"│ ".repeat(6)}deep`]);
  const stream = new MarkdownStream(OPTIONS);
  let rows = 0;
  for (let index = 0; index < 1_000; index++) {
    stream.push("*a [b `c ".repeat(110));
    rows += stream.takeFinalRows(80).length + Math.min(1, stream.openRows(80).length);
  }
  expect(rows).toBeGreaterThan(10_000);
});

test("what is no table by its delimiter row is shown as written, and no cell of a table is lost", () => {
  expect(shown("| a | LOST |\n|--\n| 1 | 2 |")).toEqual(["| a | LOST |", "|--", "| 1 | 2 |"]);
  expect(shown("| a | b |\n|---|---|\n| 1 | 2 | more |")).toEqual(["a │ b", "──┼─────────", "1 │ 2 | more"]);
});

test.each([
  ["a word", "", "x"],
  ["a line of code", "```\n", "x"],
  ["what could begin a table", "", "|"],
  ["what could be a rule", "", "-"],
  ["emoji", "", "👩‍👩‍👧"],
])("%s without end is laid out in pieces that lose nothing", (_name, before, unit) => {
  const text = unit.repeat(Math.ceil(40_000 / unit.length));
  const rows = shown(before + text, 40);
  expect(rows.map((row) => row.trim()).join("") === text).toBe(true);
  expect(rows.every((row) => lineColumns([{ text: row, style: {} }]) <= 40)).toBe(true);
});
