import { expect, test } from "vitest";
import { assertNoCommand } from "./near-command.ts";

const refusal = (words: string, isForced = false): string | undefined => {
  try {
    assertNoCommand(words.split(" "), isForced);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (/Did you mean (.*?)\? /.exec(error.message)?.[1] ?? "") : "";
  }
};

test.each([
  ["version", "nano-agent --version"],
  ["Version", "nano-agent --version"],
  ["session list", "nano-agent sessions list"],
  ["sesions", "nano-agent sessions"],
  ["doctr", "nano-agent doctor"],
  ["dmeo", "nano-agent demo"],
  ["mpc", "nano-agent mcp"],
  ["web", "nano-agent serve"],
  ["modelss", "nano-agent models"],
  ["help sesions", "nano-agent help sessions"],
  ["export", "nano-agent sessions export [ID]"],
  ["login", "nano-agent models, which names the variable for the key of each provider"],
])("%j is taken for a mistyped command", (words, meant) => {
  expect(refusal(words)).toBe(meant);
});

test.each([
  "hello",
  "fix",
  "update the readme",
  "session handling is broken",
  "models.ts",
  "session store",
  "help me",
  "map",
  "export it",
  "重构",
])("%j is a prompt", (words) => {
  expect(refusal(words)).toBeUndefined();
});

test("what stands behind -- is a prompt whatever it looks like", () => {
  expect(refusal("version", true)).toBeUndefined();
});

test("the prompt that is offered to be pasted is quoted", () => {
  expect(() => assertNoCommand(["help", "sessions;"], false)).toThrow("nano-agent -p -- help 'sessions;'");
});
