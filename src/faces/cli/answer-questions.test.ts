import { expect, test } from "vitest";
import { askAboutServer, canAsk } from "./answer-questions.ts";
import type { Output } from "./command-context.ts";

const output: Output = {
  isTerminal: true,
  write: () => undefined,
  isFull: false,
  drain: () => Promise.resolve(),
  onBroken: () => undefined,
};

test("a server that was found is asked about, safely for a terminal, and as one that is still loading", async () => {
  const asked: string[] = [];
  const ask = (question: string): Promise<boolean> => Promise.resolve(asked.push(question) > 1);
  const baseUrl = "http://127.0.0.1:8080/v1";
  const answers = [
    await askAboutServer({ name: "llamacpp\u001b[2J", baseUrl }, output, ask),
    await askAboutServer({ name: "llamacpp", baseUrl, isLoading: true }, output, ask),
  ];
  expect([answers, asked]).toEqual([
    [false, true],
    [
      "No model was chosen. Send the prompt to llamacpp␛[2J at http://127.0.0.1:8080/v1? [y/N] ",
      "No model was chosen. Send the prompt to llamacpp at http://127.0.0.1:8080/v1, when it has loaded its model? [y/N] ",
    ],
  ]);
});

test("nobody is asked where the output is for programs, or is not a terminal", () => {
  expect(canAsk(output, "json")).toBe(false);
  expect(canAsk({ ...output, isTerminal: false }, "text")).toBe(false);
});
