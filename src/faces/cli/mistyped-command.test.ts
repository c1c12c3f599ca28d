import { expect, test } from "vitest";
import { assertNotCommand } from "./run-cli.ts";

const refusal = (line: string, isForced = false): string | undefined => {
  const words = line.match(/'[^']*'|\S+/g) ?? [];
  try {
    assertNotCommand(
      words.map((word) => word.replaceAll("'", "")),
      isForced,
    );
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
  ["modelss", "nano-agent models"],
  ["help sesions", "nano-agent help sessions"],
  ["verison", "nano-agent --version"],
  ["help session export", "nano-agent help sessions export"],
  ["Session List", "nano-agent sessions list"],
  ["session show abc", "nano-agent sessions show abc"],
  ["permission check 'npm test'", "nano-agent permissions check 'npm test'"],
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
  "logic",
  "smart",
  "still",
  "login fails",
  "login",
  "web",
  "/status",
  "/demo",
  "/memory list",
  "models?",
  "undo.",
  "help /export",
  "help me start",
  "help export it",
  "session export fails",
  "session import is broken",
  "session slow",
  "model 5",
  "undo the last change",
  "undo changes",
  "undo 2 commits",
  "memory search is slow",
])("%j is a prompt", (words) => {
  expect(refusal(words)).toBeUndefined();
});

test.each([
  ["sessions show 3f2a91", "nano-agent sessions show 3f2a91"],
  ["undo 2", "nano-agent undo 2"],
  ["eval suites/a", "nano-agent eval suites/a"],
  ["trust .", "nano-agent trust ."],
  ["doctor", "nano-agent doctor"],
])("of %j behind an option it is said that a command comes first", (words, meant) => {
  expect(() => assertNotCommand(words.split(" "), false)).toThrow(
    `"${words}" is not a command after an option. Did you mean ${meant}? The command comes first, then its options.`,
  );
});

test("what stands behind -- is a prompt whatever it looks like", () => {
  expect(refusal("version", true)).toBeUndefined();
});

test("the prompt that is offered to be pasted is quoted", () => {
  expect(() => assertNotCommand(["session", "show", "a b"], false)).toThrow("-p -- session show 'a b'");
});
