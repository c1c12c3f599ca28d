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
    complete("serve", "--max-t"),
    complete("mcp", "serve", "--max-t"),
    complete("sessions", "export", "--format", ""),
    complete("-p", "--output-format", "s"),
    complete("serve", "--permission-mode", "p"),
  ]).toEqual([
    ["sessions"],
    ["export"],
    ["--format"],
    ["--dry-run"],
    ["--max-turns"],
    ["--max-turns"],
    ["--max-turns"],
    ["markdown", "json", "html"],
    ["stream-json"],
    ["plan"],
  ]);
});

test.each(["zsh", "fish"])("the script for %s names every command", async (shell) => {
  const { stdout } = await runCommand(["completion", shell], {});
  for (const { name } of COMMANDS) expect(stdout).toContain(name);
});

test.each(["serve", "acp", "eval", "mcp; and __fish_seen_subcommand_from serve"])(
  "the script for fish offers options of a run behind %j",
  async (place) => {
    const { stdout } = await runCommand(["completion", "fish"], {});
    expect(stdout).toContain(
      `complete -c nano-agent -n '__fish_seen_subcommand_from ${place}' -l max-turns -r `,
    );
  },
);

test("the script for fish offers the values of an option", async () => {
  const { stdout } = await runCommand(["completion", "fish"], {});
  expect(stdout).toContain(
    "-n '__fish_seen_subcommand_from sessions; and __fish_seen_subcommand_from export' -l format -x -a 'markdown json html' ",
  );
});
