import { expect, test } from "vitest";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { MaxIterationsError } from "../../src/core/agent/result.ts";
import type { PlanAndSolveAgentOptions } from "../../src/patterns/plan-and-solve-agent.ts";
import { PlanAndSolveAgent } from "../../src/patterns/plan-and-solve-agent.ts";
import { calls, fails, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

const planner = (model: ScriptedModel, options: Partial<PlanAndSolveAgentOptions> = {}): PlanAndSolveAgent =>
  new PlanAndSolveAgent({ model, tools: [tool("search")], ...options });

const plan = (...steps: readonly string[]) => calls("generate_plan", { steps });

/** The phases of a run, one line each. */
const phases = (events: readonly AgentEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === "phase" ? [[event.phase, event.round, event.step].filter(Boolean).join(" ")] : [],
  );

/** What the model was asked last in a request. */
const asked = (model: ScriptedModel, at: number): string =>
  lines(model.requests[at]?.messages ?? []).at(-1) ?? "";

test("it plans by a forced call, works step by step with tools, and the last step is the answer", async () => {
  const model = new ScriptedModel([
    plan("Look it up", "Sum up"),
    calls("search", { q: "x" }),
    says("Found 40 and 2."),
    says("It is 42."),
  ]);
  const agent = planner(model, { systemPrompt: "Be brief." });
  const events = await all(agent.stream("What is it?"));

  expect(phases(events)).toEqual(["planning 1", "execution 1", "execution 2"]);
  const result = events.at(-1)?.type === "done" ? events.at(-1) : undefined;
  expect(result).toMatchObject({
    result: { text: "It is 42.", stopReason: "completed", iterations: 4, usage: { inputTokens: 400 } },
  });
  expect(lines(agent.getState().messages)).toEqual(["user: What is it?", "assistant: It is 42."]);
  expect(model.requests.map(({ tools, toolChoice }) => [tools?.map(({ name }) => name), toolChoice])).toEqual(
    [
      [["generate_plan"], { type: "tool", name: "generate_plan" }],
      [["search"], undefined],
      [["search"], undefined],
      [["search"], undefined],
    ],
  );
  expect(model.requests.every(({ system }) => system === "Be brief.")).toBe(true);
  expect(asked(model, 3)).toBe(
    [
      "user: # Question\nWhat is it?",
      "# Plan\n1. Look it up\n2. Sum up",
      "# Finished steps and their results\nStep 1: Look it up\nResult: Found 40 and 2.",
      "# Current step\nSum up",
      "Carry out the current step, and only that, and give its result.",
    ].join("\n\n"),
  );
  expect(asked(model, 1)).toContain("results\nnone\n\n# Current step\nLook it up");
});

test("every phase sees the conversation before the question", async () => {
  const model = new ScriptedModel([plan("Think"), says("Hello Ann."), plan("Remember"), says("Ann.")]);
  const agent = planner(model);
  await agent.run("I am Ann.");
  await agent.run("Who am I?");
  for (const at of [2, 3]) {
    expect(lines(model.requests[at]?.messages ?? []).slice(0, 2)).toEqual([
      "user: I am Ann.",
      "assistant: Hello Ann.",
    ]);
  }
});

test("a plan in plain text is used when the model ignores the force", async () => {
  const model = new ScriptedModel([says("Here is my plan:\n1. Look\n2. Tell"), says("seen"), says("told")]);
  expect(await planner(model).run("go")).toMatchObject({ text: "told", stopReason: "completed" });
  expect(asked(model, 2)).toContain("1. Look\n2. Tell");
});

test.each([
  ["an empty plan", plan()],
  ["steps without words", plan("", "  ")],
  ["a text without a list", says("I cannot plan this.")],
  ["silence", says("")],
])("%s ends the run at once, clearly", async (_name, answer) => {
  const model = new ScriptedModel([answer]);
  const result = await planner(model, { noPlanAnswer: "无法生成有效的计划" }).run("go");
  expect([result.stopReason, result.error?.code, result.text, lines(result.messages)]).toEqual([
    "error",
    "invalid_response",
    "无法生成有效的计划",
    ["user: go", "assistant: 无法生成有效的计划"],
  ]);
  model.assertFinished();
});

test("a plan of a thousand steps goes back once, then ends the run", async () => {
  const many = Array.from({ length: 1000 }, (_, at) => `step ${at}`);
  const model = new ScriptedModel([plan(...many), plan("one"), says("done")]);
  expect(await planner(model).run("go")).toMatchObject({ text: "done" });
  expect(asked(model, 1)).toMatch(/^error call_1: Error: The plan has 1000 steps, which is more than 50/);

  const stubborn = new ScriptedModel([
    plan(...many),
    says(many.map((step, at) => `${at}. ${step}`).join("\n")),
  ]);
  const result = await planner(stubborn).run("go");
  expect(result.error?.message).toBe(
    "The model's plan has 1000 steps, which is more than 50. Raise maxSteps, or ask for less at once.",
  );
  stubborn.assertFinished();

  const deaf = new ScriptedModel([plan(...many), plan(...many)]);
  expect((await planner(deaf).run("go")).error?.message).toMatch(
    /plan has 1000 steps, which is more than 50/,
  );
});

test("with synthesize the answer is made from all results, without tools", async () => {
  const model = new ScriptedModel([plan("a", "b"), says("one"), says("two"), says("one and two")]);
  const events = await all(planner(model, { synthesize: true }).stream("go"));
  expect(phases(events).at(-1)).toBe("final_answer");
  expect(events.at(-1)).toMatchObject({ result: { text: "one and two" } });
  expect([asked(model, 3), model.requests[3]?.tools]).toEqual([
    "user: # Question\ngo\n\n# Steps and their results\nStep 1: a\nResult: one\n\nStep 2: b\nResult: two\n\nAnswer the question from these results.",
    undefined,
  ]);
});

test("the prompts of planner, executor and synthesis can be replaced", async () => {
  const model = new ScriptedModel([plan("a"), says("one"), says("all")]);
  await planner(model, {
    synthesize: true,
    plannerPrompt: ({ question }) => `请为以下问题生成计划：${question}`,
    executorPrompt: ({ step, plan: steps, finished }) => `${step}/${steps.length}/${finished.length}`,
    synthesisPrompt: ({ finished }) => finished.map(({ result }) => result).join(),
  }).run("go");
  expect([0, 1, 2].map((at) => asked(model, at))).toEqual([
    "user: 请为以下问题生成计划：go",
    "user: a/1/0",
    "user: one",
  ]);
});

test("a step that fails gets a new plan for the rest, as often as allowed", async () => {
  const model = new ScriptedModel([
    plan("Find the file", "Read the file"),
    says("It is a.txt."),
    calls("step_failed", { reason: "a.txt is locked" }),
    plan("Read the copy"),
    says("42"),
  ]);
  const events = await all(planner(model, { maxReplans: 1 }).stream("go"));
  expect(phases(events)).toEqual(["planning 1", "execution 1", "execution 2", "planning 2", "execution 2"]);
  expect(events.at(-1)).toMatchObject({ result: { text: "42", stopReason: "completed" } });
  expect(asked(model, 3)).toContain(
    "Step 1: Find the file\nResult: It is a.txt.\n\nThen a step failed:\nRead the file\na.txt is locked",
  );
  expect(asked(model, 4)).toContain("# Plan\n1. Find the file\n2. Read the copy");
  expect(model.requests.map(({ tools }) => tools?.some(({ name }) => name === "step_failed"))).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});

test("a step at its cap is summed up and the plan goes on; with plans left it has failed", async () => {
  const script = [plan("a", "b"), calls("search"), says("so far")];
  const goOn = new ScriptedModel([...script, says("done")]);
  expect(await planner(goOn, { maxIterations: 1 }).run("go")).toMatchObject({
    text: "done",
    stopReason: "completed",
  });
  const again = new ScriptedModel([...script, plan("c"), says("fine")]);
  expect(await planner(again, { maxIterations: 1, maxReplans: 1 }).run("go")).toMatchObject({ text: "fine" });
  expect(asked(again, 3)).toContain("Its model requests were used up.");
});

test("onMaxIterations throw holds for a step, and the error carries the result of the whole run", async () => {
  const model = new ScriptedModel([plan("a", "b"), says("one"), calls("search")]);
  const agent = planner(model, { maxIterations: 1, onMaxIterations: "throw" });
  const error: unknown = await agent.run("go").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MaxIterationsError);
  expect((error as MaxIterationsError).result).toMatchObject({ text: "one", iterations: 3 });
});

test("a failed request ends the run with the results so far; a run that never had one can be taken up", async () => {
  const model = new ScriptedModel([plan("a", "b"), says("one"), fails("down")]);
  expect(await planner(model).run("go")).toMatchObject({
    stopReason: "error",
    text: "one",
    error: { code: "provider_error" },
  });
  const early = new ScriptedModel([fails("down"), plan("a"), says("one")]);
  const agent = planner(early);
  const failed = await agent.run("go");
  expect([failed.text, lines(failed.messages)]).toEqual(["", ["user: go"]]);
  expect(lines((await agent.run()).messages)).toEqual(["user: go", "assistant: one"]);
});

test.each([
  [false, 3],
  [true, 4],
])("a schema is for the final answer only (synthesize: %s)", async (synthesize, requests) => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
  const value = calls("finish", { n: 42 });
  const model = new ScriptedModel([plan("a", "b"), says("one"), ...(synthesize ? [says("two")] : []), value]);
  const result = await planner(model, { synthesize }).run("go", { schema });
  expect(result).toMatchObject({ output: { n: 42 }, text: '{"n":42}', stopReason: "structured_output" });
  expect(model.requests.map(({ tools }) => tools?.some(({ name }) => name === "finish") ?? false)).toEqual([
    ...Array.from({ length: requests - 1 }, () => false),
    true,
  ]);
});

test("a budget is one for the whole run", async () => {
  const model = new ScriptedModel([plan("a", "b"), says("one"), says("two")]);
  const result = await planner(model, { budget: { tokens: 330 } }).run("go");
  expect(result).toMatchObject({ stopReason: "budget", limit: "tokens", text: "one" });
});

test("images of the question reach every phase", async () => {
  const image = { type: "image", source: { type: "url", url: "https://example.org/a.png" } } as const;
  const model = new ScriptedModel([plan("Look"), says("A cat.")]);
  await planner(model).run([image, { type: "text", text: "What is it?" }]);
  expect(model.requests.map(({ messages }) => messages[0]?.content[0])).toEqual([image, image]);
});

test.each([
  [{ maxSteps: 0 }, "maxSteps is 0"],
  [{ maxReplans: 1.5 }, "maxReplans is 1.5"],
  [{ steps: 3 }, 'Unknown option "steps"'],
])("options that cannot work throw: %j", (options, message) => {
  expect(() => planner(new ScriptedModel([]), options as never)).toThrow(message);
});
