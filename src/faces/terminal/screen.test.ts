import { expect, test } from "vitest";
import { bareScreen, bareSession } from "../../../test/screen/bare-screen.ts";
import type { Question, QuestionReply } from "../../view/question.ts";
import { TYPE_AHEAD_MS } from "./panels/panel.ts";
import { Picker } from "./panels/picker.ts";
import type { TerminalEvent } from "./tty/key.ts";

const QUESTION: Question = {
  id: "q",
  type: "permission",
  time: 0,
  tool: "bash",
  input: { command: "make" },
  reason: "No rule allows it.",
  choices: [{ choice: "once" }, { choice: "no" }, { choice: "stop" }],
};

/** A screen on which a question has just appeared, its clock, and the answers that were given. */
function screenWithQuestion() {
  const clock = { time: 0 };
  const answers: QuestionReply[] = [];
  const session = bareSession({
    questions: [QUESTION],
    answer: (_id: string, reply: QuestionReply) => void answers.push(reply),
  });
  const screen = bareScreen({ onAction: () => undefined, now: () => clock.time });
  screen.attach(session, { isResumed: false });
  return { screen, clock, answers };
}

test("right behind a list that closes, a key does not answer the question below it", () => {
  const { screen, clock, answers } = screenWithQuestion();
  const list: Picker<string> = new Picker(
    { title: "Model", items: [{ label: "one", value: "one" }], onChoose: () => undefined },
    { close: () => screen.close(list), onChange: () => undefined, now: () => clock.time },
  );
  screen.open(list);
  clock.time += 60_000;
  screen.handle({ type: "key", key: "enter" });
  clock.time += 5;
  screen.handle({ type: "text", text: "1" });
  expect(answers).toEqual([]);
  clock.time += TYPE_AHEAD_MS;
  screen.handle({ type: "text", text: "1" });
  expect(answers).toEqual([{ choice: "once" }]);
});

test("what is on its way when a question appears does not answer it: letters are in the input, other keys do nothing", () => {
  const { screen, clock, answers } = screenWithQuestion();
  const typed: readonly TerminalEvent[] = [
    { type: "text", text: "1" },
    { type: "key", key: "enter" },
    { type: "key", key: "down" },
    { type: "text", text: "abc 1 def" },
    { type: "key", key: "enter" },
  ];
  for (const event of typed) {
    clock.time += TYPE_AHEAD_MS - 1;
    screen.handle(event);
  }
  expect([answers, screen.input.text]).toEqual([[], "1abc 1 def"]);
  clock.time += TYPE_AHEAD_MS;
  screen.handle({ type: "text", text: "1" });
  expect(answers).toEqual([{ choice: "once" }]);
});
