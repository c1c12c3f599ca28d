import { expect, test } from "vitest";
import type { Question } from "../../../app/coding-session/question.ts";
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

test("in a small window each answer still shows how its rule begins", () => {
  const input = { command: `git push ${"x".repeat(500)}` };
  const choices = [`bash(${input.command})`, "bash(git push *)"].map(
    (rule) => ({ choice: "session", rule }) as const,
  );
  const { diff: _, ...plain } = askedToWrite("");
  const question: Question = { ...plain, tool: "bash", input, choices };
  const rows = texts(questionLines(question, { marked: undefined, maxRows: 10, more: 0 }, CONTEXT));
  expect(rows.filter((row) => row.includes("session"))).toEqual([
    "  1. Allow for this session  bash(git push xxxxxxxxxxxxxxxx…",
    "  2. Allow for this session  bash(git push *)",
  ]);
});

test("edits that do not fit their file are shown line by line, with all that was asked", () => {
  const { diff: _, ...plain } = askedToWrite("");
  const asked = (edits: unknown, path = "a.js"): readonly string[] =>
    texts(wholeQuestion({ ...plain, tool: "edit", input: { path, edits } }, CONTEXT)).slice(1, -1);
  const edits = [
    { old_string: "a\nb", new_string: "c" },
    { old_string: "d", new_string: "", replace_all: true },
  ];
  const hidden = [{ old_string: "a\r- b", new_string: "c" }];
  expect([
    asked(edits),
    asked([{ old_string: 1 }]).slice(0, 2),
    asked(hidden, "a.js\n+ d").slice(0, 3),
  ]).toEqual([
    ["│ a.js", "│ - a", "│ - b", "│ + c", "│ - d", "│ + ", "│ (everywhere in the file)"],
    ["│ a.js", "│ {"],
    ["│ a.js‹U+000A›+ d", "│ - a‹U+000D›- b", "│ + c"],
  ]);
});
