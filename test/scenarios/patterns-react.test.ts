import { expect, test } from "vitest";
import { z } from "zod";
import { ReActAgent, type ReActAgentOptions } from "../../src/patterns/react-agent.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

const react = (model: ScriptedModel, options: Partial<ReActAgentOptions> = {}): ReActAgent =>
  new ReActAgent({ model, tools: [tool("search")], ...options });

const both = { thoughtTool: true, finish: "tool" } as const;

test("by default it is the loop: an answer in text ends it", async () => {
  const model = new ScriptedModel([calls("search", { q: "x" }), says("Found.")]);
  expect(await react(model).run("go")).toMatchObject({ text: "Found.", stopReason: "completed" });
  expect(model.requests[0]?.system).toBeUndefined();
});

test("a thought is answered with itself and shown as thinking; a finish call ends the run and is shown as text", async () => {
  const model = new ScriptedModel([
    calls("Thought", { reasoning: "I should search." }),
    calls("search", { q: "x" }),
    calls("Finish", { answer: "It is 42." }),
  ]);
  const events = await all(react(model, both).stream("What is it?"));
  const shown = events.flatMap((event) =>
    event.type === "thinking_delta" || event.type === "text_delta" ? [[event.type, event.text]] : [],
  );
  expect(shown).toEqual([
    ["thinking_delta", "I should search."],
    ["text_delta", "It is 42."],
  ]);
  const last = events.at(-1);
  expect(last).toMatchObject({ type: "done", result: { text: "It is 42.", stopReason: "finish_tool" } });
  expect(last?.type === "done" ? lines(last.result.messages) : []).toEqual([
    "user: What is it?",
    'calls Thought {"reasoning":"I should search."}',
    "result call_1: I should search.",
    'calls search {"q":"x"}',
    'result call_2: search {"q":"x"}',
    'calls Finish {"answer":"It is 42."}',
    "result call_3: It is 42.",
  ]);
  expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(["Thought", "search", "Finish"]);
  expect(model.requests[0]?.system).toMatch(/Thought[\s\S]*other tools[\s\S]*Finish/);
});

test("calls beside a finish call run and get their results, wherever in the answer it stands", async () => {
  const ran: string[] = [];
  const search = tool("search", { execute: (input: unknown) => (ran.push(JSON.stringify(input)), "ok") });
  const model = new ScriptedModel([
    [calls("search", { q: 1 }), calls("Finish", { answer: "done" }), calls("search", { q: 2 })],
  ]);
  const result = await react(model, { ...both, tools: [search] }).run("go");
  expect(ran).toEqual(['{"q":1}', '{"q":2}']);
  expect(result.text).toBe("done");
  expect(lines(result.messages).slice(-3)).toEqual([
    "result call_1: ok",
    "result call_2: done",
    "result call_3: ok",
  ]);
});

test("the finish tool can have another name, and a tool of that name is refused when the agent is made", async () => {
  const model = new ScriptedModel([calls("generate_response", { answer: "yes" })]);
  const agent = react(model, { finish: "tool", finishToolName: "generate_response" });
  expect((await agent.run("go")).text).toBe("yes");
  expect(() => react(model, { finish: "tool", finishToolName: "search" })).toThrow('needs the name "search"');
});

test("a text where a finish call is wanted gets a reminder and a forced choice; no call is made up", async () => {
  const model = new ScriptedModel([says("It is 42."), calls("Finish", { answer: "42" })]);
  const result = await react(model, { finish: "tool" }).run("go");
  expect(lines(result.messages)).toEqual([
    "user: go",
    "assistant: It is 42.",
    "user: Finish by calling the tool Finish; an answer in plain text does not count.",
    'calls Finish {"answer":"42"}',
    "result call_1: 42",
  ]);
  expect(model.requests[1]?.toolChoice).toEqual({ type: "tool", name: "Finish" });
});

test("a finish call without an answer goes back to the model", async () => {
  const model = new ScriptedModel([calls("Finish", {}), calls("Finish", { answer: "x" })]);
  expect(await react(model, { finish: "tool" }).run("go")).toMatchObject({ text: "x", iterations: 2 });
});

test("a schema extends the finish tool; a value that does not fit goes back, then the tool is forced", async () => {
  const schema = z.object({ city: z.string(), degrees: z.number().int() });
  const model = new ScriptedModel([
    calls("search", { q: "weather" }),
    calls("Finish", { city: "Oslo", degrees: "mild" }),
    calls("Finish", { answer: "Nine degrees in Oslo.", city: "Oslo", degrees: 9 }),
  ]);
  const result = await react(model, both).run("Weather in Oslo?", { schema });
  expect(result).toMatchObject({
    text: "Nine degrees in Oslo.",
    output: { city: "Oslo", degrees: 9 },
    stopReason: "structured_output",
  });
  const typed: number | undefined = result.output?.degrees;
  expect(typed).toBe(9);
  expect(lines(result.messages).at(-3)).toMatch(/^error call_2: Error: Invalid arguments for Finish/);
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
    undefined,
    undefined,
    { type: "tool", name: "Finish" },
  ]);
});

test.each([
  [
    { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] },
    { answer: 7 },
    { answer: 7 },
  ],
  [{ type: "array", items: { type: "string" } }, { value: ["a"] }, ["a"]],
  [
    { type: "object", properties: { a: { type: "string" } }, additionalProperties: false },
    { a: "x" },
    { a: "x" },
  ],
])(
  "a schema with an answer of its own, or of another kind, stays as it is: %j",
  async (schema, input, output) => {
    const model = new ScriptedModel([calls("Finish", input)]);
    const result = await react(model, { finish: "tool" }).run("go", { schema: schema as never });
    expect([result.output, result.text]).toEqual([output, JSON.stringify(output)]);
  },
);

test("every run sees the conversation so far", async () => {
  const model = new ScriptedModel([
    calls("Finish", { answer: "Hello Ann." }),
    calls("Finish", { answer: "Ann." }),
  ]);
  const agent = react(model, both);
  await agent.run("I am Ann.");
  await agent.run("Who am I?");
  expect(lines(model.requests[1]?.messages ?? [])).toEqual([
    "user: I am Ann.",
    'calls Finish {"answer":"Hello Ann."}',
    "result call_1: Hello Ann.",
    "user: Who am I?",
  ]);
});

test("a stream makes the requests that a run makes, one for each turn", async () => {
  const script = () => [
    calls("Thought", { reasoning: "hm" }),
    calls("search"),
    calls("Finish", { answer: "a" }),
  ];
  const [run, stream] = [new ScriptedModel(script()), new ScriptedModel(script())];
  const result = await react(run, { ...both, sessionId: "s" }).run("go");
  const events = await all(react(stream, { ...both, sessionId: "s" }).stream("go"));
  expect(events.at(-1)).toEqual({ type: "done", result });
  expect(stream.requests).toEqual(run.requests);
  stream.assertFinished();
});

test("at the cap the model sums up, or a fixed sentence is the answer and stays in the conversation", async () => {
  const summing = new ScriptedModel([calls("search"), says("Not found yet.")]);
  expect(await react(summing, { ...both, maxIterations: 1 }).run("go")).toMatchObject({
    text: "Not found yet.",
    stopReason: "max_iterations",
  });
  const sentence = "抱歉，我无法在限定步数内完成这个任务。";
  const agent = react(new ScriptedModel([calls("search")]), {
    ...both,
    maxIterations: 1,
    onMaxIterations: () => sentence,
  });
  const result = await agent.run("go");
  expect([result.text, result.stopReason, lines(result.messages).at(-1)]).toEqual([
    sentence,
    "max_iterations",
    `assistant: ${sentence}`,
  ]);
});

test("when the model says nothing there is a fallback answer", async () => {
  const result = await react(new ScriptedModel([says("")]), { fallbackAnswer: "?" }).run("go");
  expect([result.text, lines(result.messages)]).toEqual(["?", ["user: go", "assistant: ?"]]);
});

test("a tool named Thought of one's own is only shown as thinking when the agent brought it", async () => {
  const model = new ScriptedModel([calls("Thought", { reasoning: "x" }), says("ok")]);
  const events = await all(react(model, { tools: [tool("Thought")] }).stream("go"));
  expect(events.some(({ type }) => type === "thinking_delta")).toBe(false);
  expect(() => react(model, { thoughtTool: true, tools: [tool("Thought")] })).toThrow("defined twice");
});
