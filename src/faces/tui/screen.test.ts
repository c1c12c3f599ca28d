import { expect, test } from "vitest";
import type { CodingSession } from "../../app/coding-session/coding-session.ts";
import type { Question, QuestionReply } from "../../app/coding-session/question.ts";
import { History } from "./editor/history.ts";
import { keymapOf } from "./editor/keymap.ts";
import { Picker } from "./panels/picker.ts";
import { QUIET_MS } from "./panels/quiet.ts";
import { Screen, type ScreenOptions } from "./screen.ts";

const QUESTION: Question = {
  id: "q",
  type: "permission",
  time: 0,
  tool: "bash",
  input: { command: "make" },
  reason: "No rule allows it.",
  choices: [{ choice: "once" }, { choice: "no" }, { choice: "stop" }],
};

test("right behind a list that closes, a key does not answer the question below it", () => {
  let now = 0;
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
    clock: { now: () => now, elapsed: () => now },
    onAction: () => undefined,
    cwd: "/w",
    place: "w",
    history: new History(() => []),
  } as unknown as ScreenOptions);
  screen.resume();
  screen.attach(session as CodingSession, { isResumed: false });
  const list = new Picker<string>({
    title: "Model",
    items: [{ label: "one", value: "one" }],
    onChoose: () => screen.close(list),
    onCancel: () => undefined,
    onChange: () => undefined,
  });
  screen.open(list);
  now += 60_000;
  screen.handle({ type: "key", key: "enter" });
  now += 5;
  screen.handle({ type: "text", text: "1" });
  expect(answers).toEqual([]);
  now += QUIET_MS;
  screen.handle({ type: "text", text: "1" });
  screen.pause();
  expect(answers).toEqual([{ choice: "once" }]);
});
