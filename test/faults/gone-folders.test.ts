import { expect, it } from "vitest";
import { runCommand } from "../e2e/command.ts";

it.each([
  ["-p", "go"],
  ["sessions", "list"],
  ["undo"],
  ["config"],
  ["models"],
  ["auth", "check"],
  ["permissions", "check"],
  ["trust"],
])("%s %s: says that the working folder was removed", async (...words) => {
  const end = await runCommand(words, { shell: 'rmdir "$PWD"; exec "$@"' });
  expect([end.code, end.stderr]).toEqual([
    2,
    "nano-agent: The working folder was removed. Change into a folder that exists, or name one with --cwd.\n",
  ]);
});
