import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MaxIterationsError } from "../../src/core/agent/result.ts";
import { calls, fails, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

const tools = [tool("read")];
const twice = [
  [says("one"), calls("read")],
  [says("two"), calls("read")],
];

test("at the cap the model is asked once more, with tools forbidden, for a summary", async () => {
  const model = new ScriptedModel([...twice, says("summary")]);
  const result = await new Agent({ model, tools, maxIterations: 2 }).run("go");
  expect(result).toMatchObject({ text: "summary", stopReason: "max_iterations", iterations: 2 });
  expect(model.requests.at(-1)).toMatchObject({ toolChoice: "none", tools: [{ name: "read" }] });
  model.assertFinished();
});

test("when the summary fails, the last text is the answer", async () => {
  const model = new ScriptedModel([...twice, fails("down")]);
  expect(await new Agent({ model, tools, maxIterations: 2 }).run("go")).toMatchObject({
    text: "two",
    stopReason: "max_iterations",
  });
});

test("last, throw and a function are the other ways to end at the cap", async () => {
  const agent = (onMaxIterations: "last" | "throw" | ((context: { lastText: string }) => string)) =>
    new Agent({ model: new ScriptedModel(twice), tools, maxIterations: 2, onMaxIterations });
  expect(await agent("last").run("go")).toMatchObject({ text: "two", stopReason: "max_iterations" });
  expect(await agent(({ lastText }) => `[${lastText}]`).run("go")).toMatchObject({
    text: "[two]",
    stopReason: "max_iterations",
  });
  const error: unknown = await agent("throw")
    .run("go")
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MaxIterationsError);
  expect((error as MaxIterationsError).result).toMatchObject({
    text: "two",
    stopReason: "max_iterations",
    iterations: 2,
  });
});

test("a function that makes no text of the end ends the run with an error that says so", async () => {
  const onMaxIterations = (() => null) as unknown as () => string;
  const agent = new Agent({ model: new ScriptedModel(twice), tools, maxIterations: 2, onMaxIterations });
  expect(await agent.run("go")).toMatchObject({
    stopReason: "error",
    error: { message: "onMaxIterations returned no text: return the answer of the run." },
  });
});

test("twenty requests are the default", async () => {
  const model = new ScriptedModel((_request, index) => calls("read", { path: `${index}` }));
  const result = await new Agent({ model, tools, onMaxIterations: "last" }).run("go");
  expect([result.iterations, model.requests.length]).toEqual([20, 20]);
});

test("the wall time of a budget stops what is at work", async () => {
  const model = new ScriptedModel([waits(new Promise(() => undefined))]);
  expect(await new Agent({ model, budget: { wallTimeMs: 5 } }).run("go")).toMatchObject({
    stopReason: "budget",
    limit: "wall_time",
  });
});

test.each([
  [{ maxIterations: 0 }, "maxIterations is 0"],
  [{ maxIterations: 1.5 }, "maxIterations is 1.5"],
  [{ budget: { usd: 0 } }, "budget.usd is 0"],
  [{ maxSteps: 3 }, 'Unknown option "maxSteps"'],
  [{ tools: [tool("read"), tool("read")] }, 'Tool "read" is defined twice'],
  [{ tools: [{ name: "read" }] }, "was not made by defineTool()"],
  [{ model: "nowhere/x" }, 'There is no provider "nowhere"'],
])("misuse throws before any request: %j", (options, message) => {
  const model = new ScriptedModel([]);
  expect(() => new Agent({ model, ...options } as never)).toThrow(message);
  expect(model.requests).toEqual([]);
});

test.each(["", "   ", [], [{ type: "text", text: " " }]])("an empty input is refused: %j", async (input) => {
  const model = new ScriptedModel([]);
  await expect(new Agent({ model }).run(input as never)).rejects.toThrow("The input is empty");
});

test("a run with nothing to answer is refused, and two runs at once are", async () => {
  const gate = Promise.withResolvers<void>();
  const model = new ScriptedModel([[waits(gate.promise), says("a")]]);
  const agent = new Agent({ model });
  await expect(agent.run()).rejects.toThrow("There is nothing for the model to answer");
  const first = agent.run("go");
  await expect(agent.run("go")).rejects.toThrow("already running");
  gate.resolve();
  expect(await first).toMatchObject({ text: "a" });
});

test("a schema makes the run deliver a value, and tells the model what is wrong with it", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
  const model = new ScriptedModel([
    says("It is 3."),
    calls("finish", { n: "many" }),
    calls("finish", { n: 3 }),
  ]);
  const result = await new Agent({ model, tools }).run("How many?", { schema });
  expect(result).toMatchObject({
    stopReason: "structured_output",
    output: { n: 3 },
    text: '{"n":3}',
    iterations: 3,
  });
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
    undefined,
    { type: "tool", name: "finish" },
    { type: "tool", name: "finish" },
  ]);
  expect(lines(result.messages)[4]).toMatch(/^error call_1: Error: Invalid arguments for finish/);
  const typed: number | undefined = result.output?.n;
  expect(typed).toBe(3);
});

test("a value the model never delivers is an error, not a success", async () => {
  const model = new ScriptedModel(() => says("no"));
  const result = await new Agent({ model }).run("go", { schema: { type: "object" } });
  expect([result.stopReason, result.error?.code, result.iterations]).toEqual([
    "error",
    "invalid_response",
    4,
  ]);
});

test("an abort stops the request, keeps the text so far, and leaves a conversation that goes on", async () => {
  const stop = new AbortController();
  const model = new ScriptedModel([
    [says("partial text"), waits(new Promise(() => undefined))],
    says("again"),
  ]);
  const agent = new Agent({ model, tools });
  const run = agent.run("go", { signal: stop.signal, onToken: () => stop.abort() });
  expect(await run).toMatchObject({ stopReason: "aborted" });
  const { messages } = await agent.run("continue");
  expect(lines(messages).at(-1)).toBe("assistant: again");
  expect(lines(messages)[1]).toMatch(/^assistant: p/);
});

test("leaving the iteration stops the run, its tools and waits for their end", async () => {
  const log: string[] = [];
  const work = tool("work", {
    execute: (_input, { signal, update }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          log.push("stopped");
          resolve("stopped early");
        });
        update("at work");
      }),
  });
  const agent = new Agent({ model: new ScriptedModel([calls("work")]), tools: [work] });
  for await (const event of agent.stream("go")) if (event.type === "tool_update") break;
  expect(log).toEqual(["stopped"]);
  expect(agent.isRunning).toBe(false);
  expect(lines(agent.getState().messages)).toEqual([
    "user: go",
    "calls work {}",
    "error call_1: stopped early",
  ]);
});

test("stop() ends a run between calls: those that never began say so", async () => {
  const agent: Agent = new Agent({
    model: new ScriptedModel([[calls("first"), calls("second")]]),
    tools: [
      tool("first", { execute: () => (agent.stop(), "ok"), access: "exclusive" }),
      tool("second", { access: "exclusive" }),
    ],
  });
  const result = await agent.run("go");
  expect(result.stopReason).toBe("aborted");
  expect(lines(result.messages).slice(3)).toEqual([
    "error call_1: ok",
    "error call_2: Error: interrupted before it ran",
  ]);
});

test("a stream nobody reads makes no request", async () => {
  const model = new ScriptedModel([]);
  new Agent({ model }).stream("go");
  await Promise.resolve();
  expect(model.requests).toEqual([]);
});

test("the result of a stream settles whether its events are read or not", async () => {
  const agent = new Agent({ model: new ScriptedModel([says("one"), says("two")]) });
  expect((await agent.stream("go").result).text).toBe("one");

  const left = agent.stream("go");
  await left.return?.();
  await expect(left.result).rejects.toMatchObject({ code: "aborted" });

  const late = agent.stream("go");
  const { messages } = await late.result;
  expect((await all(late)).at(-1)).toMatchObject({ type: "done", result: { text: "two", messages } });
});

test("a signal that is aborted before the start makes no request", async () => {
  const model = new ScriptedModel([]);
  expect(await new Agent({ model }).run("go", { signal: AbortSignal.abort() })).toMatchObject({
    stopReason: "aborted",
  });
  expect(model.requests).toEqual([]);
});

test("a journal that cannot be written stops the run before the next step", async () => {
  const model = new ScriptedModel([calls("read")]);
  let room = 3;
  const journal = {
    sessionId: "s",
    entries: () => [],
    append: (entry: object) => {
      if (room-- === 0) throw new Error("ENOSPC");
      return { id: "x", parent: null, time: 0, ...entry } as never;
    },
  };
  const agent = new Agent({ model, tools, journal });
  await expect(all(agent.stream("go"))).rejects.toMatchObject({ code: "journal" });
});
