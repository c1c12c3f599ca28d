import { expect, test } from "vitest";
import type { Output } from "../standard-output.ts";
import { askAboutServer, canAsk } from "./answer-questions.ts";
import type { TerminalKeys } from "./terminal-keys.ts";

/** A terminal on which somebody presses this key. */
function terminal(key: string): {
  readonly keys: TerminalKeys;
  readonly output: Output;
  readonly shown: string[];
} {
  const shown: string[] = [];
  const keys: TerminalKeys = {
    open: ({ onKeys }) => ({ start: () => onKeys(key), close: () => undefined }),
  };
  const output: Output = {
    isTerminal: true,
    write: (text) => void shown.push(text),
    isFull: false,
    drain: () => Promise.resolve(),
    onBroken: () => undefined,
  };
  return { keys, output, shown };
}

test.each([
  ["y", true],
  ["n", false],
  ["x", false],
])("%s is a yes: %s", async (key, answer) => {
  const { keys, output, shown } = terminal(key);
  const found = { name: "llamacpp/tiny\u001b[2J", baseUrl: "http://127.0.0.1:8080/v1" };
  expect(await askAboutServer(found, output, keys)).toBe(answer);
  expect(shown[0]).toMatch(
    /^No model was chosen\. Send the prompt to llamacpp\/tiny[^\u001b]* at http:\S+\? \[y\/N\] $/,
  );
});

test("a server that is loading its model is asked about as one", async () => {
  const { keys, output, shown } = terminal("n");
  const found = { name: "llamacpp", baseUrl: "http://127.0.0.1:8080/v1", isLoading: true } as const;
  await askAboutServer(found, output, keys);
  expect(shown[0]).toBe(
    "No model was chosen. Send the prompt to llamacpp at http://127.0.0.1:8080/v1, when it has loaded its model? [y/N] ",
  );
});

test("nobody is asked where the output is for programs, or is not a terminal", () => {
  const { output } = terminal("y");
  expect(canAsk(output, "json")).toBe(false);
  expect(canAsk({ ...output, isTerminal: false }, "text")).toBe(false);
});
