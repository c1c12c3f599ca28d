import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "../../src/index.ts";
import { PermissionManager, type Rule } from "../../src/permission/index.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBashTools } from "../../src/tools/index.ts";
import { lines, tool } from "../scenarios/conversation.ts";
import { tempFolder } from "../temp-folder.ts";

function managed(rules: readonly Rule[]): { readonly cwd: string; readonly manager: PermissionManager } {
  const root = tempFolder();
  const cwd = join(root, "project");
  mkdirSync(cwd);
  return { cwd, manager: new PermissionManager({ cwd, home: root, workspace: [cwd], rules }) };
}

test("a rule that forbids counts wherever it stands, however the command is dressed", () => {
  const { manager } = managed([
    { tool: "bash", action: "ask" },
    { tool: "bash", pattern: "ls *", action: "allow" },
    { tool: "bash", pattern: "rm -rf *", action: "deny" },
  ]);
  const answers = ["rm -rf x", "rm -rf /tmp/x", "ls a && rm -rf x", "ls a; sudo rm -rf x", "ls $(rm -rf x)"];
  expect(answers.map((command) => manager.check({ tool: "bash", params: { command } }))).toEqual(
    answers.map(() => "deny"),
  );
  expect(manager.check({ tool: "bash", params: { command: "ls a | tee b" } })).toBe("ask");
});

test("a pattern stands for its characters, and a folder for itself, not for one whose name begins alike", () => {
  const { cwd, manager } = managed([
    { tool: "read", pattern: "a.txt", action: "deny" },
    { tool: "read", pattern: "(b).txt", action: "deny" },
    { tool: "read", pattern: "**", action: "allow" },
  ]);
  const read = (path: string): string => manager.check({ tool: "read", params: { path } });
  expect([read("a.txt"), read("axtxt"), read("(b).txt"), read("b.txt")]).toEqual([
    "deny",
    "allow",
    "deny",
    "allow",
  ]);
  expect([read(join(cwd, "c.txt")), read(`${cwd}-evil/c.txt`), read("../project-evil/c.txt")]).toEqual([
    "allow",
    "ask",
    "ask",
  ]);
});

test("without anybody to ask a call that is asked about does not run, and the model is told why", async () => {
  const { cwd, manager } = managed([]);
  const ran: string[] = [];
  const agent = new Agent({
    model: new ScriptedModel([calls("write", { path: "a" }), says("I may not.")]),
    tools: [tool("write", { execute: () => void ran.push("write") })],
    permission: manager,
    cwd,
  });
  const { messages } = await agent.run("go");
  expect([ran, lines(messages)[2]]).toEqual([[], expect.stringContaining("Tool call was not approved")]);
});

test("a command that writes more than any buffer holds ends, and the model sees its beginning, end and exit code", async () => {
  const shell = createBashTools();
  try {
    const agent = new Agent({
      model: new ScriptedModel([
        calls("bash", { command: "echo first; seq 1 400000; echo last >&2; exit 3" }),
        says("Done."),
      ]),
      tools: shell.tools,
      cwd: tempFolder(),
    });
    const { messages, stopReason } = await agent.run("go");
    const result = lines(messages)[2] ?? "";
    expect([stopReason, result.length < 100_000]).toEqual(["completed", true]);
    for (const part of ["first", "400000", "last", "3"]) expect(result).toContain(part);
  } finally {
    await shell.dispose();
  }
});
