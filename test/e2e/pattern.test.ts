import { expect, test } from "vitest";
import { calls, type ScriptAnswer, says } from "../../src/testing/script.ts";
import { tempFolder } from "../temp-folder.ts";
import { modelServer, runCommand, serverEnv } from "./command.ts";
import { checkedLines } from "./event-schema.ts";

const read = calls("read", { path: "a.txt" });
const patterns: readonly (readonly [string, readonly ScriptAnswer[], number])[] = [
  ["simple", [read, says("alpha")], 2],
  ["react", [[calls("Thought", { reasoning: "I read." }), read], calls("Finish", { answer: "alpha" })], 2],
  ["plan", [calls("generate_plan", { steps: ["Read it"] }), read, says("It says alpha."), says("alpha")], 4],
  [
    "reflection",
    [read, says("alpha"), calls("give_verdict", { needs_improvement: false, feedback: "Right." })],
    3,
  ],
];

test.each(patterns)("--pattern %s answers with the tools of the command", async (pattern, script, turns) => {
  const server = await modelServer(script);
  const { code, stdout, stderr } = await runCommand(
    ["-p", "--json", "--include-partial-messages", "--pattern", pattern, "What does a.txt say?"],
    { env: serverEnv(server), cwd: tempFolder({ "a.txt": "alpha\n" }) },
  );
  const lines = checkedLines(stdout);
  expect({ code, stderr, last: lines.at(-1) }).toMatchObject({
    code: 0,
    stderr: "",
    last: { type: "result", subtype: "success", result: "alpha", num_turns: turns, permission_denials: [] },
  });
  server.assertFinished();
});

test("a session of a pattern goes on with questions and answers alone", async () => {
  const server = await modelServer([
    calls("generate_plan", { steps: ["Think"] }),
    says("Hm."),
    says("Four."),
    says("Yes."),
  ]);
  const options = { env: { ...serverEnv(server), HOME: tempFolder() }, cwd: tempFolder() };
  expect(await runCommand(["-p", "--pattern", "plan", "Two and two?"], options)).toMatchObject({ code: 0 });
  expect(await runCommand(["-p", "-c", "Sure?"], options)).toMatchObject({ code: 0, stdout: "Yes.\n" });
  const [, , , last] = server.requests;
  const { messages } = (last?.body ?? {}) as {
    readonly messages: readonly { role: string; content: unknown }[];
  };
  expect(messages.filter(({ role }) => role !== "system")).toEqual([
    { role: "user", content: "Two and two?" },
    { role: "assistant", content: "Four." },
    { role: "user", content: "Sure?" },
  ]);
});

test("a pattern nobody knows is a usage error that names those there are", async () => {
  const { code, stderr } = await runCommand(["-p", "--pattern", "reflect", "go"]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("Did you mean reflection? One of: simple, react, plan, reflection."),
  ]);
});
