import { expect, test } from "vitest";
import { askForm } from "../../../tools/ask-tool.ts";
import type { Question, QuestionReply } from "../../../view/question.ts";
import { marksOf } from "../paint/theme.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { TYPE_AHEAD_MS } from "./panel.ts";
import { type QuestionHost, ValuePanel } from "./question-panel.ts";

const CONTEXT = { width: 60, marks: marksOf({ unicode: true }), now: 0, details: false };

/** A screen that collects replies, and what is typed for something else. */
function host({
  replies = [],
  early = [],
  now = () => 0,
}: {
  readonly replies?: QuestionReply[];
  readonly early?: TerminalEvent[];
  readonly now?: () => number;
}): QuestionHost {
  return {
    session: { questions: [], answer: (_id, reply) => void replies.push(reply) },
    act: () => undefined,
    type: (event) => early.push(event),
    elapsed: now,
  };
}

function opened() {
  const replies: QuestionReply[] = [];
  const clock = { now: 0 };
  const early: TerminalEvent[] = [];
  const schema = {
    type: "object",
    properties: {
      name: { type: "string" },
      age: { type: "integer" },
      size: { enum: ["S", "L"] },
      news: { type: "boolean" },
    },
    required: ["name"],
  };
  const question: Question = {
    id: "q",
    type: "elicitation",
    time: 0,
    reason: "Who\u001B[2J are you?",
    choices: [],
    schema,
  };
  const panel = new ValuePanel(question, host({ replies, early, now: () => clock.now }));
  const type = (...texts: readonly string[]): void => {
    for (const text of texts) {
      if (text !== "") panel.handle({ type: "text", text });
      panel.handle({ type: "key", key: "enter" });
    }
  };
  const shown = (): string =>
    panel
      .draw(CONTEXT, 20)
      .rows.map((row) => row.map(({ text }) => text).join(""))
      .join("\n");
  const seen = (): void => {
    shown();
    clock.now += TYPE_AHEAD_MS;
  };
  return { panel, replies, type, shown, seen, early };
}

test("each field is asked for, what does not fit is said, and what is left out stays out", () => {
  const { replies, type, shown, panel, seen } = opened();
  seen();
  type("");
  expect(shown()).toContain("A value is needed here.");
  type("Ann", "old");
  expect(shown()).toContain("Write a whole number.");
  panel.handle({ type: "key", key: "ctrl+u" });
  type("7", "", "yes");
  expect([replies, shown().includes("\u001B")]).toEqual([
    [{ value: { name: "Ann", age: 7, news: true } }],
    false,
  ]);
});

test("Escape refuses", () => {
  const { panel, replies, seen } = opened();
  seen();
  panel.handle({ type: "key", key: "escape" });
  expect(replies).toEqual([{ choice: "no" }]);
});

test("what was on its way when the question came is none of its values", () => {
  const { replies, type, early, seen, panel } = opened();
  type("early");
  seen();
  panel.handle({ type: "key", key: "escape" });
  expect([early, replies]).toEqual([[{ type: "text", text: "early" }], [{ choice: "no" }]]);
});

test("up goes back to what was written into the field before", () => {
  const { replies, type, shown, seen, panel } = opened();
  seen();
  type("Ann", "7");
  panel.handle({ type: "key", key: "left" });
  panel.handle({ type: "key", key: "up" });
  expect(shown()).toContain("name ❯ Ann");
  panel.handle({ type: "text", text: "a" });
  type("", "", "L", "");
  expect(replies).toEqual([{ value: { name: "Anna", age: 7, size: "L" } }]);
});

test("who asks stays on the screen, however much is said", () => {
  const reason = `docs asks: ${"x ".repeat(2_000)}password for you:`;
  const question: Question = { id: "q", type: "elicitation", time: 0, reason, choices: [], schema: {} };
  const panel = new ValuePanel(question, host({}));
  const rows = panel.draw(CONTEXT, 10).rows.map((row) => row.map(({ text }) => text).join(""));
  expect([rows.length, rows[0], rows[1], rows[7]]).toEqual([
    10,
    expect.stringMatching(/^── ◆ docs asks: x/),
    expect.stringMatching(/^ {2}… 6\d more rows, ctrl\+o shows them$/),
    expect.stringMatching(/for you:$/),
  ]);
});

/** The two questions of a model, with the keys that were typed; what is on the screen at the end. */
function asks(...keys: readonly string[]): {
  readonly replies: readonly QuestionReply[];
  readonly rows: string;
} {
  const replies: QuestionReply[] = [];
  const clock = { now: 0 };
  const option = (label: string, description?: string) => ({ label, ...(description && { description }) });
  const schema = askForm([
    { question: "What about the rest?", options: [option("Stop", "As today."), option("Go on")] },
    { question: "Which tests?", options: [option("unit"), option("e2e")], multiple: true },
  ]);
  const question: Question = {
    id: "q",
    type: "elicitation",
    time: 0,
    tool: "ask_user",
    reason: "",
    choices: [],
    schema,
  };
  const panel = new ValuePanel(question, host({ replies, now: () => clock.now }));
  panel.draw(CONTEXT, 20);
  clock.now += TYPE_AHEAD_MS;
  for (const key of keys) panel.handle(key.length === 1 ? { type: "text", text: key } : { type: "key", key });
  const rows = panel.draw(CONTEXT, 20).rows.map((row) =>
    row
      .map(({ text }) => text)
      .join("")
      .trimEnd(),
  );
  return { replies, rows: rows.join("\n") };
}

const value = (rest: string, ...tests: readonly string[]) => ({
  value: { "What about the rest?": rest, ...(tests.length > 0 && { "Which tests?": tests }) },
});

test.each<[string, readonly string[], QuestionReply | undefined]>([
  ["numbers choose", ["2", "1", "2", "enter"], value("Go on", "unit", "e2e")],
  ["an arrow and Enter choose, space marks", ["down", "enter", "down", " ", "enter"], value("Stop", "unit")],
  ["space marks the first without an arrow", ["1", " ", "down", " ", "enter"], value("Stop", "unit", "e2e")],
  ["a mark is taken back", ["1", "1", "1", "2", "enter"], value("Stop", "e2e")],
  ["what is typed is an answer", ["n", "o", "enter", "1", "3", "x", "enter"], value("no", "unit", "x")],
  ["the last row is for own words", ["3", "y", "enter", "escape"], value("y")],
  ["Escape leaves the words, then says no answer", ["x", "escape", "escape"], { choice: "no" }],
  ["left goes back", ["1", "left", "2", "1", "enter"], value("Go on", "unit")],
  ["Enter alone is no answer", ["enter", "enter", " "], undefined],
])("of the model's questions: %s", (_, keys, reply) => {
  expect(asks(...keys).replies).toEqual(reply === undefined ? [] : [reply]);
});

test("a question of the model stands in the rule, its options with their sentences below", () => {
  expect(asks().rows).toBe(
    [
      "── ◆ What about the rest? ──────────────────────── 1 of 2 ──",
      "",
      "  1  Stop",
      "     As today.",
      "  2  Go on",
      "  3  Something else: write it",
      "",
      "  ↑↓ enter choose · esc no answer",
    ].join("\n"),
  );
});
