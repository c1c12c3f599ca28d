import { expect, test } from "vitest";
import type { CodingSession } from "../../coding/session/coding-session.ts";
import type { Question, QuestionReply } from "../../view/question.ts";
import { Picker } from "./panels/picker.ts";
import { PlainScreen } from "./plain-screen.ts";
import type { ScreenOptions } from "./screen.ts";

/** A plain screen on which questions come and lines are typed. */
function opened() {
  let now = 0;
  let ask: () => void = () => undefined;
  const written: string[] = [];
  const sent: string[] = [];
  const answers: (readonly [string, QuestionReply])[] = [];
  const questions: Question[] = [];
  const drop = (id: string): void => {
    questions.splice(0, questions.length, ...questions.filter((each) => each.id !== id));
  };
  const session: Partial<CodingSession> = {
    view: { items: [], model: "m", mode: "default" } as unknown as CodingSession["view"],
    questions,
    onChange: () => () => undefined,
    onQuestion: (listener) => {
      ask = () => void listener(questions[0] as Question, new AbortController().signal);
      return () => undefined;
    },
    answer: (id, reply) => {
      answers.push([id, reply]);
      drop(id);
    },
  };
  const screen = new PlainScreen({
    terminal: { size: { columns: 80, rows: 24 }, isBusy: false, write: (text: string) => written.push(text) },
    appearance: { unicode: false },
    clock: { now: () => now, elapsed: () => now },
    onAction: (action: string) => {
      if (action === "send") sent.push(screen.input.text);
    },
    history: [],
  } as unknown as ScreenOptions);
  screen.resume();
  screen.attach(session as CodingSession, { isResumed: false });
  const type = (text: string): void => screen.handle({ type: "text", text });
  return {
    screen,
    session: session as CodingSession,
    answers,
    written,
    sent,
    drop,
    type,
    enter: () => screen.handle({ type: "key", key: "enter" }),
    pass: (ms: number) => {
      now += ms;
    },
    ask: (id: string) => {
      const input = { command: `echo ${id}` };
      const choices = [{ choice: "once" }, { choice: "no" }, { choice: "stop" }] as const;
      questions.push({ id, type: "permission", time: 0, tool: "bash", input, reason: "", choices });
      ask();
    },
  };
}

test("a question closes a list above it: the number that is typed then answers the question", () => {
  const { screen, answers, written, type, enter, pass, ask } = opened();
  const chosen: string[] = [];
  const panel = new Picker<string>(
    {
      title: "Mode",
      items: ["default", "plan", "bypassPermissions"].map((value) => ({ label: value, value })),
      onChoose: (value) => chosen.push(value),
    },
    { close: () => screen.close(), onChange: () => undefined, now: () => 0 },
  );
  screen.open(panel);
  ask("q");
  pass(60_000);
  type("1");
  enter();
  type("2");
  enter();
  expect([answers, chosen, written.join("").includes("(the list is closed)")]).toEqual([
    [["q", { choice: "no" }]],
    [],
    true,
  ]);
});

test("a line that was begun for one question does not answer the next, however late it comes", () => {
  const { answers, written, drop, type, enter, pass, ask } = opened();
  ask("a");
  pass(1_000);
  drop("a");
  ask("b");
  pass(60_000);
  type("1");
  enter();
  expect([answers, written.join("").includes("(the question is closed)")]).toEqual([[], true]);
  type("1");
  enter();
  expect(answers).toEqual([["b", { choice: "once" }]]);
});

test.each([
  [["42", "Go on"], ["Go on"]],
  [
    ["/help", "Go on"],
    ["/help", "Go on"],
  ],
])("of %j behind a question that is closed %j is sent", (texts, expected) => {
  const { screen, sent, drop, type, enter, pass, ask } = opened();
  ask("a");
  drop("a");
  screen.draw();
  pass(60_000);
  for (const text of texts) {
    type(text);
    enter();
  }
  expect(sent).toEqual(expected);
});

test("a question that went with its session has nothing to do with the next one", () => {
  const { screen, session, sent, drop, type, enter, ask } = opened();
  ask("a");
  drop("a");
  screen.draw();
  screen.attach(session, { isResumed: false });
  type("Go on");
  enter();
  expect(sent).toEqual(["Go on"]);
});

test("an answered question, and a run that a line stopped, leave nothing to wait for", () => {
  const { answers, drop, type, enter, pass, ask } = opened();
  for (const [id, text] of [
    ["a", "1"],
    ["b", "/stop"],
    ["c", "2 not this"],
  ] as const) {
    ask(id);
    pass(1_000);
    type(text);
    enter();
    drop(id);
  }
  expect(answers).toEqual([
    ["a", { choice: "once" }],
    ["c", { choice: "no", reason: "not this" }],
  ]);
});

test("a number too many for a list is no answer to the question above it", () => {
  const { screen, answers, type, enter, pass, ask } = opened();
  ask("q");
  pass(1_000);
  const panel = new Picker<string>(
    { title: "Mode", items: [{ label: "plan", value: "plan" }], onChoose: () => undefined },
    { close: () => screen.close(), onChange: () => undefined, now: () => 0 },
  );
  screen.open(panel);
  type("1");
  enter();
  type("1");
  enter();
  expect(answers).toEqual([]);
});
