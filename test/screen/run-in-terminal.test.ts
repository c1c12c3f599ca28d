import { expect, test } from "vitest";
import { calls, says, thinks, waits } from "../../src/testing/script.ts";
import { modelServer } from "../e2e/command.ts";
import { tempFolder } from "../temp-folder.ts";
import { openTerminal, rowsOf } from "./screen-kit.ts";
import { modelEnv } from "./screen-program.ts";

test("a run with -p shows model and session, what changed, how a command failed, what it waits for, and the answer dressed", async () => {
  const go = Promise.withResolvers<void>();
  const server = await modelServer([
    [thinks("Let me look."), calls("read", { path: "a.ts" })],
    () => [
      waits(go.promise),
      calls("edit", { path: "a.ts", edits: [{ old_string: "b = 2;", new_string: "b = 3;" }] }),
    ],
    calls("bash", { command: "seq 30; echo 'expected 3, got 2' >&2; exit 1" }),
    says("**Done.**\n\n| a | b |\n|---|---|\n| 1 | `3` |\n"),
  ]);
  const program = openTerminal({
    args: ["-p", "--yolo", "change b"],
    env: modelEnv(server),
    cwd: tempFolder({ "a.ts": "const a = 1;\nconst b = 2;\n" }),
    rows: 40,
  });
  await program.shows((screen) => /… waiting for the model · \d+ s/.test(screen));
  go.resolve();
  expect((await program.end).code).toBe(0);
  const rows = rowsOf(program).map((row) => row.replaceAll(/[\d.]+ m?s\b/g, "0 s"));
  expect([rows[0], ...rows.slice(1)]).toEqual([
    expect.stringMatching(
      /^nano-agent: model openai\/gpt-5, because of NANO_AGENT_MODEL; session [0-9a-f]{8}$/,
    ),
    "  Let me look.",
    "✓ read a.ts  2 lines · 0 s",
    expect.stringMatching(/^✓ edit a\.ts {2}1 replacement/),
    "  1   const a = 1;",
    "  2 - const b = 2;",
    "  2 + const b = 3;",
    "✗ bash seq 30; echo 'expected 3, got 2' >&2; exit 1  exit code 1 · 0 s",
    expect.stringMatching(/^ {2}… 2\d more lines/),
    "  28",
    "  29",
    "  30",
    "  expected 3, got 2",
    "Done.",
    "a │ b",
    "──┼──",
    "1 │ 3",
    expect.stringMatching(/^4 turns · 400 tokens in, 80 out · /),
    "nano-agent: 1 file changed · nothing was run since the last change",
  ]);
});

test("permissions check on a terminal asks for a command instead of waiting for lines", async () => {
  const program = openTerminal({ args: ["permissions", "check"], env: {}, cwd: tempFolder() });
  expect((await program.end).code).toBe(2);
  expect(rowsOf(program).join("").replaceAll(/ +/g, " ")).toContain(
    "permissions check needs a command in quotes: nano-agent permissions check 'npm test'.",
  );
});
