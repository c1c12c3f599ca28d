import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/faces/cli/commands.ts";
import { withVariables } from "../hermetic-command.ts";
import { runCommand } from "./command.ts";

test("bash completes commands, their actions and their options", async () => {
  const { stdout: script, code } = await runCommand(["completion", "bash"], {});
  const complete = (...words: string[]): string[] =>
    execFileSync(
      "bash",
      [
        "--norc",
        "-c",
        `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$#; COMP_CWORD=$((COMP_CWORD - 1)); _nano_agent; echo "\${COMPREPLY[@]}"`,
        "bash",
        "nano-agent",
        ...words,
      ],
      { encoding: "utf8", env: withVariables({}) },
    )
      .trim()
      .split(" ");
  expect(code).toBe(0);
  expect([
    complete("ses"),
    complete("sessions", "ex"),
    complete("sessions", "export", "--f"),
    complete("undo", "--d"),
    complete("--max-t"),
  ]).toEqual([["sessions"], ["export"], ["--format"], ["--dry-run"], ["--max-turns"]]);
});

test.each(["zsh", "fish"])("the script for %s names every command", async (shell) => {
  const { stdout } = await runCommand(["completion", shell], {});
  for (const { name } of COMMANDS) expect(stdout).toContain(name);
});
