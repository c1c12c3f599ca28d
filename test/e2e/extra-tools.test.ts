import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

const TODOS = [
  { content: "look", status: "completed" },
  { content: "change", status: "in_progress" },
];

test("the todo list is there when it is asked for, by flag or configuration, and needs no permission", async () => {
  for (const [flags, files] of [
    [["--extra-tools", "todo"], {}],
    [[], { "nano-agent.json": '{ "extraTools": ["todo"] }' }],
  ] as const) {
    const server = await modelServer([calls("todo", { todos: TODOS }), says("done")]);
    const { code, stdout, stderr } = await runCommand(["-p", "--json", ...flags, "go"], {
      env: serverEnv(server),
      cwd: tempFolder(files),
    });
    const lines = checkedLines(stdout);
    expect([code, stderr, lines[0], lines[2]]).toMatchObject([
      0,
      "",
      { tools: expect.arrayContaining(["todo"]) as unknown },
      { type: "user", message: { content: [{ content: "[1/2]\n[x] look\n[>] change" }] } },
    ]);
    server.assertFinished();
  }
});

test("a name that is no extra tool is refused with those there are", async () => {
  const cwd = tempFolder({ "nano-agent.json": '{ "extraTools": ["tod"] }' });
  const flag = await runCommand(["-p", "--extra-tools", "tod", "go"], { cwd: tempFolder({}) });
  const file = await runCommand(["-p", "go"], { cwd });
  expect([
    flag.code,
    flag.stderr.split("\n")[0],
    file.code,
    file.stderr.includes('"extraTools.0" must be one of "todo", not "tod"'),
  ]).toEqual([2, 'nano-agent: --extra-tools "tod": unknown. Did you mean todo? One of: todo.', 52, true]);
});
