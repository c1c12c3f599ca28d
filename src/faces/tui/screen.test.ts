import { expect, onTestFinished, test } from "vitest";
import type { CodingSession } from "../../app/coding-session/coding-session.ts";
import type { Question, QuestionReply } from "../../app/coding-session/question.ts";
import { History } from "./editor/history.ts";
import { keymapOf } from "./editor/keymap.ts";
import { Picker } from "./panels/picker.ts";
import { QUIET_MS } from "./panels/quiet.ts";
import { Screen, type ScreenOptions } from "./screen.ts";
import type { TerminalEvent } from "./terminal/key.ts";

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
  const session: Partial<CodingSession> = {
    view: {
      items: [],
      queue: [],
      steering: [],
      todo: [],
      jobs: [],
      model: "m",
      mode: "default",
      context: { usedTokens: 0 },
    } as unknown as CodingSession["view"],
    questions: [QUESTION],
    status: () => [],
    onChange: () => () => undefined,
    onQuestion: () => () => undefined,
    answer: (_id, reply) => void answers.push(reply),
  };
  const screen = new Screen({
    terminal: {
      size: { columns: 80, rows: 24 },
      isBusy: false,
      write: () => undefined,
      checkSize: () => false,
    },
    look: { unicode: true, colors: "none" },
    keymap: keymapOf(),
    clock: { now: () => clock.time, elapsed: () => clock.time },
    onAction: () => undefined,
    cwd: "/w",
    place: "w",
    history: new History(() => []),
  } as unknown as ScreenOptions);
  screen.resume();
  screen.attach(session as CodingSession, { isResumed: false });
  onTestFinished(() => screen.pause());
  return { screen, clock, answers };
}

test("right behind a list that closes, a key does not answer the question below it", () => {
  const { screen, clock, answers } = screenWithQuestion();
  const list = new Picker<string>({
    title: "Model",
    items: [{ label: "one", value: "one" }],
    onChoose: () => screen.close(list),
    onCancel: () => undefined,
    onChange: () => undefined,
  });
  screen.open(list);
  clock.time += 60_000;
  screen.handle({ type: "key", key: "enter" });
  clock.time += 5;
  screen.handle({ type: "text", text: "1" });
  expect(answers).toEqual([]);
  clock.time += QUIET_MS;
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
    clock.time += QUIET_MS - 1;
    screen.handle(event);
  }
  expect([answers, screen.input.text]).toEqual([[], "1abc 1 def"]);
  clock.time += QUIET_MS;
  screen.handle({ type: "text", text: "1" });
  expect(answers).toEqual([{ choice: "once" }]);
});
