import { expect, test } from "vitest";
import { lines, tool } from "../../../test/scenarios/conversation.ts";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { NanoAgentError } from "../../core/base/errors.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { calls, fails, finishes, type ScriptAnswer, type ScriptStep, says } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { createTaskTool, type Subagent, type TaskToolOptions } from "./task-tool.ts";

const reading = (name: string, execute?: Tool["execute"]): Tool =>
  tool(name, { readOnly: true, ...(execute === undefined ? {} : { execute: execute as () => unknown }) });

const ASK = { agent: "explore", prompt: "Where is it?" };

interface Setup extends Partial<AgentOptions> {
  readonly task?: TaskToolOptions;
}

function agentOf(
  steps: readonly ScriptStep[],
  { task, tools = [], ...rest }: Setup = {},
): {
  readonly agent: Agent;
  readonly model: ScriptedModel;
} {
  const model = new ScriptedModel(steps);
  const agent = new Agent({
    model,
    tools: [reading("read"), reading("grep"), tool("write"), ...tools, createTaskTool(task)],
    ...rest,
  });
  return { agent, model };
}

const withoutTimes = (text: string | undefined): string => (text ?? "").replaceAll(/\d+\.\d s/g, "T");

async function reportOf(steps: readonly ScriptStep[], setup: Setup = {}): Promise<string> {
  const { messages } = await agentOf(steps, setup).agent.run("go");
  return withoutTimes(lines(messages)[2]);
}

test("a subagent gets its prompt, its tools and its cap; the report says what it took", async () => {
  const { agent, model } = agentOf(
    [calls("task", ASK), calls("read", { path: "a" }), says("src/a.ts:3"), says("done")],
    { task: { surroundings: ({ name }) => `You are ${name}.` } },
  );
  const { messages } = await agent.run("go");
  expect(withoutTimes(lines(messages)[2])).toBe(
    "result call_1: src/a.ts:3\n\n[explore: 2 requests, 1 tool call, 200 tokens in, 40 out, cost unknown, T]",
  );
  const [, first] = model.requests;
  expect([first?.tools?.map(({ name }) => name), first?.messages]).toEqual([
    ["read", "grep"],
    [{ role: "user", content: [{ type: "text", text: "Where is it?" }] }],
  ]);
  expect(first?.system).toMatch(
    /^You search a code base\.[^]*You work for another agent\.[^]*\n\nYou are explore\.$/,
  );
  expect(agent.tools.names()).toEqual(["read", "grep", "write", "task"]);
});

test("two that read run at the same time, two that write one after the other", async () => {
  const order: string[] = [];
  const both = Promise.withResolvers<void>();
  let atWork = 0;
  const agents: readonly Subagent[] = [
    { name: "reader", description: "", systemPrompt: "R", readOnly: true },
    { name: "writer", description: "", systemPrompt: "W" },
  ];
  const steps = (request: ModelRequest): ScriptAnswer => {
    const texts = lines(request.messages);
    if (texts[0] === "user: go") {
      if (texts.length > 1) return says("done");
      return ["reader", "reader", "writer", "writer"].map((agent, at) =>
        calls("task", { agent, prompt: `${at}` }),
      );
    }
    return texts.length === 1
      ? calls(request.system?.startsWith("R") === true ? "look" : "change", { at: texts[0] })
      : says("ok");
  };
  const look = reading("look", async () => {
    if (++atWork === 2) both.resolve();
    await both.promise;
    return "seen";
  });
  const change = tool("change", {
    execute: async (input: unknown) => {
      const { at } = input as { readonly at: string };
      order.push(`begin ${at}`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`end ${at}`);
      return "changed";
    },
  });
  const model = new ScriptedModel(steps);
  const agent = new Agent({ model, tools: [look, change, createTaskTool({ agents })] });
  expect((await agent.run("go")).text).toBe("done");
  expect(order).toEqual(["begin user: 2", "end user: 2", "begin user: 3", "end user: 3"]);
});

test("a subagent that fails is an error result with what it had written, and the agent goes on", async () => {
  const error = new NanoAgentError("provider_error", "Overloaded.");
  expect(
    await reportOf([calls("task", ASK), [says("Half of it."), calls("read")], fails(error), says("done")]),
  ).toBe(
    "error call_1: Error: The subagent explore failed: Overloaded. What it had written so far:\n\nHalf of it.\n\n[explore: 1 request, 1 tool call, 100 tokens in, 20 out, cost unknown, T]",
  );
});

test("a subagent that goes in circles is stopped, and the agent hears of it", async () => {
  const steps = (request: ModelRequest): ScriptAnswer => {
    const texts = lines(request.messages);
    if (texts[0] === "user: go")
      return texts.length === 1 ? calls("task", { agent: "code", prompt: "x" }) : says("done");
    return [says("Again."), calls("read", { path: "a" })];
  };
  const agent = new Agent({ model: new ScriptedModel(steps), tools: [reading("read"), createTaskTool()] });
  const { messages, stopReason } = await agent.run("go");
  expect([stopReason, lines(messages)[2]]).toEqual([
    "completed",
    expect.stringMatching(
      /^error call_1: Error: The subagent code was stopped: it repeated itself without getting anywhere \(.+\)\. What it had written so far:\n\nAgain\./,
    ),
  ]);
});

test("a subagent at its cap reports what it has, and says so", async () => {
  const agents = [{ name: "explore", description: "", systemPrompt: "", maxIterations: 1 }];
  expect(
    await reportOf([calls("task", ASK), calls("read"), says("Not done."), says("done")], {
      task: { agents },
    }),
  ).toBe(
    "result call_1: Not done.\n\n(It used up its requests before it was done.)\n\n[explore: 1 request, 1 tool call, 200 tokens in, 40 out, cost unknown, T]",
  );
});

test("a subagent that uses up the budget of the run is stopped with it", async () => {
  const { agent } = agentOf(
    [
      calls("task", ASK),
      [says("Half."), calls("read"), finishes("tool_use", { inputTokens: 1_000_000, outputTokens: 20 })],
    ],
    {
      budget: { tokens: 1_000_000 },
    },
  );
  const { messages, stopReason, limit } = await agent.run("go");
  expect([stopReason, limit, lines(messages).at(-1)]).toEqual([
    "budget",
    "tokens",
    expect.stringMatching(
      /^error call_1: Error: The subagent explore was stopped: the budget of the run is used up \(.*tokens.*\)\. What it had written so far:\n\nHalf\./,
    ),
  ]);
});

test("a report that is too long loses its middle, not its facts", async () => {
  const report = await reportOf([calls("task", ASK), says("x".repeat(5_000)), says("done")], {
    task: { maxReportChars: 1_000 },
  });
  expect(report).toMatch(/^result call_1: x+\n… \d+ characters left out …\nx+\n\n\[explore: 1 request/);
  expect(report.length).toBeLessThan(1_200);
});

test.each([
  [
    { agent: "exlore", prompt: "x" },
    'There is no subagent "exlore". Did you mean explore? Subagents: explore, plan, code, general.',
  ],
  [{ agent: "explore", prompt: " " }, "prompt is empty: say what the subagent is to do."],
])("a call that cannot work is told what to do: %o", async (input, message) => {
  expect(await reportOf([calls("task", input), says("done")])).toBe(`error call_1: Error: ${message}`);
});

test("what the gate refuses to the agent it refuses to its subagents", async () => {
  const { agent, model } = agentOf(
    [calls("task", { agent: "code", prompt: "Write." }), calls("write"), says("I may not."), says("done")],
    { permission: { check: ({ name }) => (name === "write" ? { action: "ask" } : { action: "allow" }) } },
  );
  const { messages } = await agent.run("go");
  expect(lines(messages)[2]).toMatch(/^result call_1: I may not\./);
  expect(lines(model.requests[2]?.messages ?? []).at(-1)).toBe(
    "error call_2: Error: Tool call was not approved: it needs approval, and there is nobody to ask",
  );
});

test("subagents that hand on their task come to an end: the deepest has no task tool", async () => {
  const ask = calls("task", { agent: "general", prompt: "You do it." });
  const { agent, model } = agentOf([ask, ask, ask, says("c"), says("b"), says("a")]);
  const result = await agent.run("go");
  expect([
    result.text,
    model.requests.map(({ tools }) => tools?.some(({ name }) => name === "task")),
  ]).toEqual(["a", [true, true, false, false, true, true]]);
});

test("a subagent may have a model of its own; without a way to find one by name it cannot run", async () => {
  const other = new ScriptedModel([says("from the other")], { id: "other" });
  const agents = [{ name: "explore", description: "", systemPrompt: "", model: "x/other" }];
  const steps = [calls("task", ASK), says("done")];
  expect([
    await reportOf(steps, {
      task: { agents, models: (name) => (name === "x/other" ? other : new ScriptedModel([])) },
    }),
    await reportOf(steps, { task: { agents } }),
  ]).toEqual([
    expect.stringMatching(/^result call_1: from the other\n/),
    "error call_1: Error: The subagent explore wants the model x/other, and createTaskTool() got no models to look it up with.",
  ]);
});

test("what a subagent has read, the agent has not: its files are its own to know", async () => {
  const ids: string[] = [];
  const note = reading("note", (_input: never, { transcriptId }) => ids.push(transcriptId));
  const { agent } = agentOf(
    [
      [calls("note"), calls("task", { agent: "general", prompt: "x" })],
      calls("note"),
      says("ok"),
      says("done"),
    ],
    { tools: [note], sessionId: "s" },
  );
  await agent.run("go");
  expect(ids).toEqual(["s", "s/task/call_2"]);
});

test("no subagents, and two of one name, are refused when the tool is made", () => {
  const one = { name: "a", description: "", systemPrompt: "" };
  expect(() => createTaskTool({ agents: [] })).toThrow("got no subagents");
  expect(() => createTaskTool({ agents: [one, one] })).toThrow('"a" is defined twice');
});
