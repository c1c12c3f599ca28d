import { expect, test } from "vitest";
import type { QuestionReply } from "../../../app/coding-session/question.ts";
import { marksOf } from "../paint/theme.ts";
import { ValuePanel } from "./value-panel.ts";

const CONTEXT = { width: 60, marks: marksOf({ unicode: true }), now: 0, details: false };

function opened() {
  const replies: QuestionReply[] = [];
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
  const panel = new ValuePanel({
    question: { id: "q", type: "elicitation", time: 0, reason: "Who\u001B[2J are you?", choices: [], schema },
    answer: (_id, reply) => replies.push(reply),
  });
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
  return { panel, replies, type, shown };
}

test("each field is asked for, what does not fit is said, and what is left out stays out", () => {
  const { replies, type, shown, panel } = opened();
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
  const { panel, replies } = opened();
  panel.handle({ type: "key", key: "escape" });
  expect(replies).toEqual([{ choice: "no" }]);
});

test("who asks stays on the screen, however much is said", () => {
  const reason = `docs asks: ${"x ".repeat(2_000)}password for you:`;
  const panel = new ValuePanel({
    question: { id: "q", type: "elicitation", time: 0, reason, choices: [], schema: {} },
    answer: () => undefined,
  });
  const rows = panel.draw(CONTEXT, 10).rows.map((row) => row.map(({ text }) => text).join(""));
  expect([rows.length, rows[0]?.startsWith("? docs asks: x"), rows[7]?.endsWith("for you:")]).toEqual([
    10,
    true,
    true,
  ]);
});
