import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Question, QuestionReply } from "../../view/question.ts";
import { askInLines } from "./ask-in-lines.ts";

const QUESTION: Question = {
  id: "q",
  type: "permission",
  time: 0,
  tool: "bash",
  input: { command: "npm test" },
  reason: "",
  choices: [
    { choice: "once" },
    { choice: "always", rule: "bash(npm test*)" },
    { choice: "no" },
    { choice: "stop" },
  ],
};

/** What a question resolves to when these keys come, one after the other, each once it is asked for. */
async function answered(...typed: readonly string[]): Promise<readonly [QuestionReply | undefined, string]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const left = [...typed];
  let text = "";
  output.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    if (!piece.includes("> ")) return;
    const next = left.shift();
    if (next === "end") input.end();
    else if (next !== undefined) input.write(next);
  });
  const place = {
    environment: { LANG: "C.UTF-8" },
    isStyled: false,
    columns: () => 80,
    input,
    output,
    quietMs: 0,
  };
  return [await askInLines(QUESTION, new AbortController().signal, place), text];
}

test.each<[readonly string[], QuestionReply | undefined]>([
  [["1\r"], { choice: "once" }],
  [["2\r"], { choice: "always", rule: "bash(npm test*)" }],
  [["3\r"], { choice: "no" }],
  [["3 use make\r"], { choice: "no", reason: "use make" }],
  [["1 use make\r", "4\r", "yes\r", "1\r"], { choice: "once" }],
  [["\u001B"], { choice: "stop" }],
  [["\x03"], undefined],
  [["end"], { choice: "no" }],
])("%j answers with %j", async (typed, reply) => {
  expect((await answered(...typed))[0]).toEqual(reply);
});

test("the whole call stands there with its numbered answers, and what is no answer is said so", async () => {
  const [, text] = await answered("9\r", "1\r");
  for (const part of [
    "$ npm test",
    "1  Run once",
    "2  Always run npm test* here",
    "3  No, and say why",
    "type the number of one",
  ])
    expect(text).toContain(part);
});

test("what was typed before the question is no answer, but Ctrl-C is", async () => {
  const place = {
    environment: {},
    isStyled: false,
    columns: () => 80,
    output: new PassThrough(),
    quietMs: 5,
  };
  const early = new PassThrough();
  early.write("1\r");
  const later = setInterval(() => early.write("x"), 1);
  const end = new AbortController();
  const asked = askInLines(QUESTION, end.signal, { ...place, input: early });
  clearInterval(later);
  end.abort(new Error("the run ended"));
  await expect(asked).rejects.toThrow("the run ended");
  const stopped = new PassThrough();
  stopped.write("\x03");
  expect(
    await askInLines(QUESTION, new AbortController().signal, { ...place, input: stopped }),
  ).toBeUndefined();
});
