import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { createTaskTool } from "../../src/extensions/index.ts";
import { Agent, type GateRequest, type JsonSchema, messageText, ReActAgent } from "../../src/index.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool, fileTools } from "../../src/tools/index.ts";
import { lines, tool } from "../scenarios/conversation.ts";
import { tempFolder } from "../temp-folder.ts";

const coder = { name: "code", description: "Writes code.", systemPrompt: "You write code." };

test("a call in a batch of a subagent is asked about like any other, and with nobody to ask nothing runs", async () => {
  const written: unknown[] = [];
  const write = tool("write", { execute: (input) => void written.push(input) });
  const asked: Pick<GateRequest, "name" | "agent">[] = [];
  const agent = new Agent({
    model: new ScriptedModel([
      calls("task", { agent: "code", prompt: "Write a." }),
      calls("batch", { calls: [{ tool: "write", input: { path: "a" } }] }),
      says("I may not."),
      says("Not done."),
    ]),
    tools: [write, createBatchTool(), createTaskTool({ agents: [coder] })],
    permission: {
      check: ({ name, agent: by }) => {
        asked.push({ name, ...(by === undefined ? {} : { agent: by }) });
        return { action: name === "write" ? "ask" : "allow" };
      },
    },
  });
  expect((await agent.run("go")).text).toBe("Not done.");
  expect(written).toEqual([]);
  expect(asked).toEqual([
    { name: "task" },
    { name: "batch", agent: "code" },
    { name: "write", agent: "code" },
  ]);
});

test("subagents that run at the same time never change what the agent around them may do", async () => {
  const model = new ScriptedModel(({ messages, tools = [] }) => {
    const names = tools.map(({ name }) => name).join(" ");
    const first = messageText(messages[0] ?? { role: "user", content: [] });
    if (first !== "go") return says(`${first} had ${names}`);
    const done = messages.length > 1;
    if (done) return says(`then I had ${names}`);
    return ["one", "two"].map((prompt) =>
      calls("task", { agent: prompt === "one" ? "code" : "look", prompt }),
    );
  });
  const agent = new Agent({
    model,
    tools: [
      tool("read", { readOnly: true }),
      tool("write"),
      createTaskTool({ agents: [coder, { ...coder, name: "look", readOnly: true }] }),
    ],
  });
  const { text, messages } = await agent.run("go");
  expect(text).toBe("then I had read write task");
  const reports = lines(messages).filter((line) => line.startsWith("result"));
  expect(reports[0]).toContain("one had read write");
  expect(reports[1]).toMatch(/two had read(?! write)/);
});

test("a batch hands on what its calls found whole", async () => {
  const long = "x".repeat(20_000);
  const model = new ScriptedModel([calls("batch", { calls: [{ tool: "look", input: {} }] }), says("Done.")]);
  const agent = new Agent({ model, tools: [tool("look", { execute: () => long }), createBatchTool()] });
  const { messages } = await agent.run("go");
  expect(lines(messages)[2]).toContain(long);
});

test("an agent with file tools writes nothing of its own into its folder", async () => {
  const cwd = tempFolder({ "a.txt": "alpha\n" });
  const agent = new ReActAgent({
    model: new ScriptedModel([calls("read", { path: "a.txt" }), says("alpha")]),
    tools: fileTools(),
    cwd,
  });
  const { messages } = await agent.run("What does it say?");
  expect(lines(messages)[2]).toContain("alpha");
  expect(readdirSync(cwd)).toEqual(["a.txt"]);
});

test("an instruction that is repeated after a failed request stands in the conversation once", async () => {
  const requests: unknown[] = [];
  const model = new ScriptedModel((request, index) => {
    requests.push(lines(request.messages));
    if (index === 0) throw new Error("connection lost");
    return says("Four.");
  });
  const agent = new Agent({ model });
  expect((await agent.run("2 + 2?")).stopReason).toBe("error");
  expect((await agent.run()).text).toBe("Four.");
  expect(requests).toEqual([["user: 2 + 2?"], ["user: 2 + 2?"]]);
});

const TREES: JsonSchema = {
  type: "array",
  items: { $ref: "#/$defs/tree" },
  $defs: {
    tree: {
      type: "object",
      properties: { name: { type: "string" }, below: { type: "array", items: { $ref: "#/$defs/tree" } } },
      required: ["name"],
    },
  },
};

test.each([
  ["Agent", "finish", (model: ScriptedModel) => new Agent({ model })],
  ["ReActAgent", "Finish", (model: ScriptedModel) => new ReActAgent({ model, finish: "tool" })],
] as const)(
  "%s hands the model a list of nested things as a schema whose references lead somewhere",
  async (_name, finish, make) => {
    const value = [{ name: "a", below: [{ name: "b" }] }];
    const model = new ScriptedModel([
      calls(finish, { value: [{ name: "a", below: [{ name: 1 }] }], answer: "One tree." }),
      calls(finish, { value, answer: "One tree." }),
    ]);
    const result = await make(model).run("List them.", { schema: TREES });
    expect([result.stopReason, result.output]).toEqual(["structured_output", value]);
    const sent = model.requests[0]?.tools?.find(({ name }) => name === finish)?.parameters;
    for (const [, pointer] of JSON.stringify(sent).matchAll(/"\$ref":"#([^"]*)"/g))
      expect(at(sent, pointer ?? "")).toMatchObject({ type: "object" });
  },
);

function at(root: unknown, pointer: string): unknown {
  let here = root;
  for (const key of pointer.split("/").slice(1)) here = (here as Record<string, unknown> | undefined)?.[key];
  return here;
}

test("a list that holds lists of its own kind is asked for without a reference to nowhere", async () => {
  const model = new ScriptedModel([calls("finish", { value: [[], [[]]] })]);
  const { output } = await new Agent({ model }).run("go", {
    schema: { type: "array", items: { $ref: "#" } },
  });
  expect(output).toEqual([[], [[]]]);
  expect(model.requests[0]?.tools?.[0]?.parameters).toEqual({
    type: "object",
    properties: { value: { type: "array", items: { $ref: "#/properties/value" } } },
    required: ["value"],
    additionalProperties: false,
  });
});

test("a schema that JSON cannot express is refused with the reason before anything is asked", async () => {
  const model = new ScriptedModel([]);
  const agent = new ReActAgent({ model, finish: "tool" });
  await expect(agent.run("go", { schema: z.object({ made: z.date() }) })).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("cannot be written as JSON Schema"),
  });
  expect([model.requests, agent.getState().messages]).toEqual([[], []]);
});

test("a tool of the agent that the finish tool would hide is refused by name", async () => {
  const taken = new Agent({ model: new ScriptedModel([]), tools: [tool("finish")] });
  await expect(taken.run("go", { schema: z.object({ n: z.number() }) })).rejects.toThrow("finish");
});

test("a subagent that only reads is offered nothing that changes something, whatever it names", async () => {
  const ran: string[] = [];
  const write = tool("write", { execute: () => void ran.push("write") });
  const read = tool("read", { readOnly: true });
  const own = tool("own", { execute: () => void ran.push("own") });
  const reader = { description: "reads", systemPrompt: "Read.", readOnly: true } as const;
  const agents = [
    { ...reader, name: "all" },
    { ...reader, name: "names", tools: ["read", "write", own] },
  ];
  const offered: (readonly string[])[] = [];
  const model = new ScriptedModel(({ system, messages, tools = [] }) => {
    if (system === undefined)
      return messages.length > 1
        ? says("done")
        : agents.map(({ name }) => calls("task", { agent: name, prompt: "go" }));
    if (messages.length > 1) return says("done");
    offered.push(tools.map(({ name }) => name));
    return [calls("write"), calls("own")];
  });
  await new Agent({ model, tools: [read, write, createTaskTool({ agents })] }).run("go");
  expect([offered, ran]).toEqual([[["read"], ["read"]], []]);
});
