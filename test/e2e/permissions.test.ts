import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { runCommand } from "./command.ts";

test("permissions check answers every JSON line with one line, in order, and ends with 0", async () => {
  const cwd = tempFolder();
  const lines = [
    {
      tool: "bash",
      input: { command: "git status -s" },
      rules: { allow: ["bash(git status*)"] },
      defaults: false,
    },
    {
      tool: "bash",
      input: { command: "git status; rm x" },
      rules: { allow: ["bash(git status*)"] },
      defaults: false,
    },
    { tool: "read", input: { path: "../x" } },
  ];
  const { code, stdout, stderr } = await runCommand(["permissions", "check"], {
    cwd,
    stdin: lines.map((line) => `${JSON.stringify(line)}\n`).join("\n"),
  });
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly decision: string }).decision);
  expect({ code, answers, stderr }).toEqual({ code: 0, answers: ["allow", "ask", "ask"], stderr: "" });
});

test("a malformed line is answered with an error, the others are judged, and the end is 2", async () => {
  const good = '{"tool":"read","input":{"path":"x"}}';
  const { code, stdout, stderr } = await runCommand(["permissions", "check"], {
    stdin: `${good}\nnot json\n${good}`,
  });
  const keys = stdout
    .trimEnd()
    .split("\n")
    .map((line) => Object.keys(JSON.parse(line) as object)[0]);
  expect({ code, keys, named: stderr.startsWith("nano-agent: line 2: The line is not JSON") }).toEqual({
    code: 2,
    keys: ["decision", "error", "decision"],
    named: true,
  });
});

test("permissions defaults lists the built-in rules, and without a word it says what to write", async () => {
  const [list, nothing] = await Promise.all([
    runCommand(["permissions", "defaults"]),
    runCommand(["permissions"]),
  ]);
  expect(list.stdout).toContain("allow git status (inside the workspace)\n");
  expect(list.stdout).toContain("no * covers patch -o -r -e --output --reject-file --ed\n");
  expect(list.stdout).toContain("ask **/.env (every tool)\n");
  expect({ code: nothing.code, stdout: nothing.stdout }).toEqual({ code: 2, stdout: "" });
});
