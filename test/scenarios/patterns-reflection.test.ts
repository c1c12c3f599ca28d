import { expect, test } from "vitest";
import { ReflectionAgent, type ReflectionAgentOptions } from "../../src/patterns/reflection-agent.ts";
import { calls, fails, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

const reflecting = (model: ScriptedModel, options: Partial<ReflectionAgentOptions> = {}): ReflectionAgent =>
  new ReflectionAgent({ model, ...options });

const asked = (model: ScriptedModel, at: number): string =>
  lines(model.requests[at]?.messages ?? []).at(-1) ?? "";

test("it does the task, reflects and refines until nothing is to be improved, and the last attempt is the answer", async () => {
  const model = new ScriptedModel([
    says("Draft."),
    says("Too short."),
    says("A longer text."),
    says("Very good: no need for improvement."),
  ]);
  const agent = reflecting(model);
  const events = await all(agent.stream("Write a text."));

  expect(events.flatMap((event) => (event.type === "phase" ? [[event.phase, event.round]] : []))).toEqual([
    ["initial_execution", undefined],
    ["reflection", 1],
    ["refinement", 1],
    ["reflection", 2],
  ]);
  expect(events.at(-1)).toMatchObject({
    type: "done",
    result: { text: "A longer text.", stopReason: "completed", iterations: 4 },
  });
  expect(agent.memory).toEqual([
    { type: "execution", content: "Draft." },
    { type: "reflection", content: "Too short." },
    { type: "execution", content: "A longer text." },
    { type: "reflection", content: "Very good: no need for improvement." },
  ]);
  expect(lines(agent.getState().messages)).toEqual(["user: Write a text.", "assistant: A longer text."]);
  expect(asked(model, 2)).toBe(
    "user: Improve your answer by this feedback.\n\n# Task\nWrite a text.\n\n# Last answer\nDraft.\n\n# Feedback\nToo short.\n\nGive the improved answer, whole and on its own.",
  );
});

test.each(["无需改进", "回答很好，无需改进。", "NO NEED FOR IMPROVEMENT"])(
  "it stops on: %s",
  async (feedback) => {
    const model = new ScriptedModel([says("Draft."), says(feedback)]);
    expect(await reflecting(model).run("go")).toMatchObject({ text: "Draft.", stopReason: "completed" });
    model.assertFinished();
  },
);

test.each(["这并不是说无需改进。", "I would not say there is no need for improvement."])(
  "it goes on when the phrase is negated: %s",
  async (feedback) => {
    const model = new ScriptedModel([says("Draft."), says(feedback), says("Better.")]);
    expect((await reflecting(model, { maxRounds: 1 }).run("go")).text).toBe("Better.");
  },
);

test("three rounds are the default, and the last attempt counts though nobody praised it", async () => {
  const model = new ScriptedModel((_request, index) =>
    says(index % 2 === 0 ? `attempt ${index / 2}` : "More!"),
  );
  const agent = reflecting(model);
  expect(await agent.run("go")).toMatchObject({ text: "attempt 3", stopReason: "completed", iterations: 7 });
  expect(agent.memory).toHaveLength(7);
});

test("with no rounds it is the task alone", async () => {
  const model = new ScriptedModel([says("Draft.")]);
  expect((await reflecting(model, { maxRounds: 0 }).run("go")).text).toBe("Draft.");
});

test("tools can be used in each phase, and no call is part of the conversation", async () => {
  const model = new ScriptedModel([
    [calls("search", { q: 1 })],
    says("Draft."),
    [calls("search", { q: 2 })],
    says("Wrong year."),
    [calls("search", { q: 3 })],
    says("Right."),
  ]);
  const ran: unknown[] = [];
  const search = tool("search", { execute: (input: unknown) => (ran.push(input), "found") });
  const agent = reflecting(model, { tools: [search], maxRounds: 1 });
  expect(lines((await agent.run("go")).messages)).toEqual(["user: go", "assistant: Right."]);
  expect(ran).toEqual([{ q: 1 }, { q: 2 }, { q: 3 }]);
});

test("a phase at its cap gets one more request in which tools are forbidden, and the rounds go on", async () => {
  const model = new ScriptedModel([calls("search"), says("Draft so far."), says("无需改进")]);
  const agent = reflecting(model, { tools: [tool("search")], maxIterations: 1 });
  expect(await agent.run("go")).toMatchObject({ text: "Draft so far.", stopReason: "max_iterations" });
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([undefined, "none", undefined]);
  model.assertFinished();
});

test("a structured verdict decides by a value, whatever the words are", async () => {
  const verdict = (needs_improvement: boolean, feedback: string) =>
    calls("give_verdict", { needs_improvement, feedback });
  const model = new ScriptedModel([
    says("Draft."),
    verdict(true, "Grammar: no need for improvement. Facts: wrong."),
    says("Better."),
    verdict(false, "Fine."),
  ]);
  const agent = reflecting(model, { verdict: "structured" });
  expect((await agent.run("go")).text).toBe("Better.");
  expect(agent.memory.map(({ content }) => content)).toEqual([
    "Draft.",
    "Grammar: no need for improvement. Facts: wrong.",
    "Better.",
    "Fine.",
  ]);
});

test("a structured verdict is asked for by the tool alone, not by a phrase too", async () => {
  const model = new ScriptedModel([
    says("Draft."),
    calls("give_verdict", { needs_improvement: false, feedback: "" }),
  ]);
  await reflecting(model, { verdict: "structured" }).run("go");
  expect([asked(model, 1).includes("give_verdict"), asked(model, 1).includes("no need for")]).toEqual([
    true,
    false,
  ]);
});

test("a model that answers in words is taken by them at once", async () => {
  const model = new ScriptedModel((_request, index) => says(index === 0 ? "Draft." : "无需改进"));
  const result = await reflecting(model, { verdict: "structured" }).run("go");
  expect([result.text, result.stopReason, model.requests.length]).toEqual(["Draft.", "completed", 2]);
});

test("a silent reflection or refinement ends it with the last attempt, and nothing empty is stored", async () => {
  for (const rest of [[says("")], [says("More!"), says("")]]) {
    const model = new ScriptedModel([says("Draft."), ...rest]);
    const agent = reflecting(model);
    expect(lines((await agent.run("go")).messages)).toEqual(["user: go", "assistant: Draft."]);
    expect(agent.memory.every(({ content }) => content !== "")).toBe(true);
    model.assertFinished();
  }
});

test("a failed request ends the run as an error, with the last attempt as its text", async () => {
  const model = new ScriptedModel([says("Draft."), says("More!"), fails("down")]);
  const result = await reflecting(model).run("go");
  expect([result.stopReason, result.error?.code, result.text]).toEqual(["error", "provider_error", "Draft."]);
});

test("each run has a memory of its own, and sees the conversation", async () => {
  const model = new ScriptedModel([says("Hello Ann."), says("无需改进"), says("Ann."), says("无需改进")]);
  const agent = reflecting(model);
  await agent.run("I am Ann.");
  await agent.run("Who am I?");
  expect(agent.memory.map(({ content }) => content)).toEqual(["Ann.", "无需改进"]);
  expect(lines(model.requests[3]?.messages ?? []).slice(0, 2)).toEqual([
    "user: I am Ann.",
    "assistant: Hello Ann.",
  ]);
});

test("a schema holds for every attempt, and the value is that of the last one", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
  const model = new ScriptedModel([
    calls("finish", { n: 1 }),
    says("Too small."),
    calls("finish", { n: 2 }),
    says("无需改进"),
  ]);
  const result = await reflecting(model).run("go", { schema });
  expect(result).toMatchObject({ output: { n: 2 }, stopReason: "structured_output", text: '{"n":2}' });
  expect(model.requests[1]?.tools).toBeUndefined();
});

test("the prompts of single phases can be replaced", async () => {
  const model = new ScriptedModel([says("稿"), says("太短"), says("长稿"), says("无需改进")]);
  await reflecting(model, {
    prompts: { execute: ({ task }) => `请完成：${task}`, reflect: ({ result }) => `请审查：${result}` },
  }).run("写");
  expect([asked(model, 0), asked(model, 1)]).toEqual(["user: 请完成：写", "user: 请审查：稿"]);
  expect(asked(model, 2)).toMatch(/^user: Improve your answer/);
});

test.each([-1, 0.5, Number.NaN])("maxRounds of %s is refused", (maxRounds) => {
  expect(() => reflecting(new ScriptedModel([]), { maxRounds })).toThrow(`maxRounds is ${maxRounds}`);
});
