import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, says } from "../../src/testing/script.ts";
import { isAlive, pidsIn, until } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv, startCommand } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

/** What the messages of a stream of lines are, and which call they belong to. */
function messages(stdout: string): readonly string[] {
  return checkedLines(stdout).flatMap((line) => {
    if (line.type !== "assistant" && line.type !== "user") return [];
    const blocks = line.message.content.map((block) => {
      if (block.type === "tool_use") return `calls ${block.name}`;
      if (block.type === "tool_result") return `result ${String(block.content).split("\n")[0]}`;
      return block.type === "text" ? block.text : block.type;
    });
    return [`${blocks.join(", ")} | ${line.parent_tool_use_id}`];
  });
}

test("a subagent works in a run of its own, whose messages name the call that started it, and its costs count", async () => {
  const server = await modelServer([
    calls("task", { agent: "explore", prompt: "Find x." }, "t1"),
    calls("read", { path: "a.txt" }, "r1"),
    says("a.txt:1"),
    says("It is in a.txt."),
  ]);
  const { code, stdout } = await runCommand(["-p", "--json", "--include-partial-messages", "go"], {
    env: serverEnv(server),
    cwd: tempFolder({ "a.txt": "x\n" }),
  });
  const lines = checkedLines(stdout);
  expect(messages(stdout)).toEqual([
    "calls task | null",
    "calls read | t1",
    expect.stringMatching(/^result .*x \| t1$/),
    "a.txt:1 | t1",
    "result a.txt:1 | null",
    "It is in a.txt. | null",
  ]);
  expect([code, lines[0], lines.at(-1)]).toMatchObject([
    0,
    { agents: ["explore", "plan", "code", "general"], skills: [] },
    { type: "result", num_turns: 2, usage: { input_tokens: 400, output_tokens: 80 } },
  ]);
  const [, first] = server.requests;
  expect(JSON.stringify(first?.body)).not.toContain('"name":"task"');
  expect(JSON.stringify(first?.body)).toContain("You work for another agent.");
});

test("what nobody allowed a subagent may not do either, and the run says so", async () => {
  const server = await modelServer([
    calls("task", { agent: "code", prompt: "Write." }),
    calls("write", { path: "b.txt", content: "x" }),
    says("I may not."),
    says("It may not."),
  ]);
  const cwd = tempFolder({});
  const { code, stderr } = await runCommand(["-p", "go"], { env: serverEnv(server), cwd });
  expect([code, existsSync(join(cwd, "b.txt"))]).toEqual([3, false]);
  expect(stderr).toContain("A tool call was refused: write b.txt.");
});

test("an interrupt ends the processes of a subagent too", async () => {
  const cwd = tempFolder({});
  const server = await modelServer([
    calls("task", { agent: "code", prompt: "Run." }),
    calls("bash", { command: "echo $$ > pid; exec sleep 300" }),
  ]);
  const { child, end } = startCommand(["-p", "--yolo", "--json", "go"], { env: serverEnv(server), cwd });
  const pids = (): readonly number[] => pidsIn(join(cwd, "pid"));
  await until(() => pids().length > 0);
  child.kill("SIGINT");
  const { code, stdout } = await end;
  expect(code).toBe(130);
  await until(() => !pids().some(isAlive));
  // That of the inner call may come behind it.
  expect(messages(stdout).findLast((message) => message.endsWith("| null"))).toMatch(
    /^result Error: The subagent code was stopped with the run\./,
  );
});

test("a session in which a subagent worked goes on, and its numbers are told", async () => {
  const home = tempFolder({});
  const cwd = tempFolder({ "a.txt": "x\n" });
  const server = await modelServer([
    calls("task", { agent: "explore", prompt: "Find x." }),
    says("a.txt:1"),
    says("Found."),
    says("Again."),
  ]);
  const env = { ...serverEnv(server), HOME: home };
  await runCommand(["-p", "go"], { env, cwd });
  const again = await runCommand(["-p", "-c", "more"], { env, cwd });
  expect([again.code, again.stdout, again.stderr]).toEqual([0, "Again.\n", ""]);
  const stats = await runCommand(["sessions", "show", "--json"], { env, cwd });
  expect(JSON.parse(stats.stdout)).toMatchObject({ runs: 2, tools: { task: { calls: 1 } } });
});
