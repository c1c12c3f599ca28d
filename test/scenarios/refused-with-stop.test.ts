import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { ApprovalAnswer, Gate } from "../../src/core/agent/ports.ts";
import type { ToolInput } from "../../src/core/message/message.ts";
import type { Tool } from "../../src/core/tool/tool.ts";
import { SimpleAgent } from "../../src/patterns/simple-agent.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, type ScriptAnswer, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/batch-tool.ts";
import { lines, tool } from "./conversation.ts";

const gate: Gate = {
  check: ({ name }) => ({ action: name.startsWith("remove") ? "ask" : "allow", reason: "it is asked about" }),
};
const STOP: ApprovalAnswer = { approved: false, reason: "stop it", stop: true };

const results = (said: readonly string[]): readonly string[] =>
  said.filter((line) => /^(?:result|error) /.test(line));

/** A tool that hands its prompt to a subagent. */
const delegate: Tool = tool("delegate", {
  execute: async (input, context) => {
    const { prompt } = input as { readonly prompt: string };
    const { stopReason } = await context.runAgent({ agent: "helper", prompt });
    return `ended ${stopReason}`;
  },
});

/** A tool that makes one call of another. */
const through: Tool = tool("through", {
  execute: async (input, { callTool }) => {
    const { name, input: own } = input as { readonly name: string; readonly input: ToolInput };
    return (await callTool(name, own)).content;
  },
});

/** What a run comes to whose questions get these answers, one after the other. */
async function run(script: readonly ScriptAnswer[], answers: readonly ApprovalAnswer[]) {
  const asked: string[] = [];
  const journal = new MemoryJournal();
  const model = new ScriptedModel(script);
  const tools = [tool("remove"), tool("remove_all"), tool("read"), delegate, through, createBatchTool()];
  const agent = new Agent({
    model,
    tools,
    journal,
    permission: gate,
    approve: ({ name, agent: by }) => {
      asked.push(by === undefined ? name : `${by}: ${name}`);
      return answers[asked.length - 1] ?? true;
    },
  });
  const { stopReason, messages } = await agent.run("go");
  const entries = [...journal.entries()];
  return { stopReason, asked, requests: model.requests.length, said: results(lines(messages)), entries };
}

test("a no with stop about a call of a subagent ends the whole run: no further request, no further question", async () => {
  const { entries, ...came } = await run(
    [
      [calls("delegate", { prompt: "a" }), calls("remove", { path: "z" })],
      [calls("remove", { path: "x" }), calls("remove_all", {})],
    ],
    [true, STOP],
  );
  expect(came).toEqual({
    stopReason: "denied",
    asked: ["remove", "helper: remove"],
    requests: 2,
    said: ["result call_1: ended denied", 'result call_2: remove {"path":"z"}'],
  });
  const refused = entries.filter(({ type }) => type === "permission_decision");
  expect(refused).toMatchObject([
    { action: "allow" },
    { action: "deny", by: "person", reason: "stop it", stop: true },
    { action: "deny", by: "person", reason: "the user wants the run to end" },
  ]);
  expect(await replaySession(entries)).toMatchObject({ same: true, differences: [] });
});

test("subagents at work beside the one that was stopped end before their next request", async () => {
  const other = Promise.withResolvers<void>();
  const { stopReason, asked, requests, said } = await run(
    [
      [calls("delegate", { prompt: "a" }), calls("delegate", { prompt: "b" })],
      calls("remove", {}),
      [waits(other.promise), calls("read", {})],
    ],
    [
      {
        ...(STOP as object),
        get approved() {
          other.resolve();
          return false;
        },
      },
    ],
  );
  expect({ stopReason, asked, requests, said }).toEqual({
    stopReason: "denied",
    asked: ["helper: remove"],
    requests: 3,
    said: ["result call_1: ended denied", "result call_2: ended denied"],
  });
});

test("so does one about a call inside batch", async () => {
  const inner = {
    calls: [
      { tool: "remove", input: {} },
      { tool: "remove_all", input: {} },
    ],
  };
  const { stopReason, asked, requests, entries } = await run([calls("batch", inner)], [STOP]);
  expect({ stopReason, asked, requests }).toEqual({ stopReason: "denied", asked: ["remove"], requests: 1 });
  expect(await replaySession(entries)).toMatchObject({ same: true, differences: [] });
});

test("what is asked about behind it in the same answer is not asked any more; the next run asks again", async () => {
  const answers: ApprovalAnswer[] = [STOP, true];
  const asked: string[] = [];
  const agent = new SimpleAgent({
    model: new ScriptedModel([[calls("remove"), calls("remove_all")], calls("remove"), says("done")]),
    tools: [tool("remove"), tool("remove_all")],
    permission: gate,
    approve: ({ name }) => {
      asked.push(name);
      return answers.shift() ?? false;
    },
  });
  const first = await agent.run("go");
  expect([first.stopReason, lines(first.messages).slice(-2)]).toEqual([
    "denied",
    [
      "error call_1: Error: Tool call was not approved: stop it",
      "error call_2: Error: Tool call was not approved: the user wants the run to end",
    ],
  ]);
  expect([(await agent.run("again")).stopReason, asked]).toEqual(["completed", ["remove", "remove"]]);
});

test.each<readonly [string, readonly ScriptAnswer[]]>([
  [
    "in a batch that another call makes",
    [calls("through", { name: "batch", input: { calls: [{ tool: "remove", input: {} }] } })],
  ],
  [
    "of a subagent of a batch",
    [
      calls("batch", { calls: [{ tool: "delegate", input: { prompt: "a" } }] }),
      calls("through", { name: "through", input: { name: "remove", input: {} } }),
    ],
  ],
  [
    "of a subagent of a subagent",
    [
      calls("through", { name: "delegate", input: { prompt: "a" } }),
      calls("delegate", { prompt: "b" }),
      calls("remove", {}),
    ],
  ],
])("a no with stop about a call %s ends the whole run", async (_, script) => {
  const { stopReason, asked, requests } = await run([...script, says("Not asked.")], [STOP]);
  expect([stopReason, asked.length, requests]).toEqual(["denied", 1, script.length]);
});
