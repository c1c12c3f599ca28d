import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { toolCallsOf } from "../../src/core/message/message.ts";
import type { StopState, StopWhen } from "../../src/hooks/stop-when.ts";
import { PlanAndSolveAgent } from "../../src/patterns/plan-and-solve-agent.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

const tools = [tool("look")];
const looks = (text: string) => [says(text), calls("look", { at: text })];

test("a run ends when its caller has seen enough, with every call answered, and can go on", async () => {
  const seen: StopState[] = [];
  const model = new ScriptedModel([looks("one"), looks("two"), says("Blue.")], {
    info: { price: { input: 1, output: 1 } },
  });
  const agent = new Agent({
    model,
    tools,
    stopWhen: async (state) => {
      seen.push(state);
      return state.messages.flatMap(toolCallsOf).length >= 2;
    },
  });
  const result = await agent.run("What colour?");
  expect(result).toMatchObject({
    stopReason: "completed",
    text: "two",
    iterations: 2,
    detail: "stopWhen was true after 2 model requests.",
  });
  expect(lines(result.messages).slice(-2)).toEqual([
    'calls look {"at":"two"}',
    'result call_2: look {"at":"two"}',
  ]);
  expect(seen.map(({ iterations, lastText, usage, cost }) => [iterations, lastText, usage, cost])).toEqual([
    [1, "one", { inputTokens: 100, outputTokens: 20 }, 0.00012],
    [2, "two", { inputTokens: 200, outputTokens: 40 }, 0.00024],
  ]);
  expect(await agent.run()).toMatchObject({ stopReason: "completed", text: "Blue." });
  model.assertFinished();
});

test("one of a run wins over that of the agent, and a text ends the run unasked", async () => {
  const model = new ScriptedModel([looks("one"), looks("two"), says("Blue.")]);
  const agent = new Agent({ model, tools, stopWhen: () => true });
  expect((await agent.run("go", { stopWhen: () => false })).text).toBe("Blue.");
});

test("a condition that throws or gives back neither true nor false ends the run with an error", async () => {
  const ends = async (stopWhen: StopWhen) =>
    (await new Agent({ model: new ScriptedModel([looks("one")]), tools, stopWhen }).run("go")).error?.message;
  const broken = (): boolean => {
    throw new Error("no database");
  };
  expect([await ends(broken), await ends((() => undefined) as unknown as StopWhen)]).toEqual([
    "no database",
    "stopWhen returned neither true nor false: return one of them.",
  ]);
  expect(() => new Agent({ model: new ScriptedModel([]), stopWhen: 3 as never })).toThrow("stopWhen");
});

test("a condition that never answers keeps no run from being stopped", async () => {
  const agent = new Agent({ model: new ScriptedModel([looks("one")]), tools });
  const stopWhen = (): Promise<boolean> => {
    agent.stop();
    return new Promise(() => undefined);
  };
  expect((await agent.run("go", { stopWhen })).stopReason).toBe("aborted");
});

test("a phase of a pattern is looked at by itself, a subagent is not", async () => {
  const planner = new PlanAndSolveAgent({
    model: new ScriptedModel([
      calls("generate_plan", { steps: ["first", "second"] }),
      looks("one"),
      looks("two"),
    ]),
    tools,
    stopWhen: ({ iterations, lastText }) => iterations >= 1 && lastText !== "",
  });
  expect(await planner.run("go")).toMatchObject({ stopReason: "completed", text: "two" });

  const asked: number[] = [];
  const delegate = tool("delegate", {
    execute: async (_input: unknown, { runAgent }) =>
      (await runAgent({ agent: "scout", prompt: "Look.", tools })).text,
  });
  const model = new ScriptedModel([calls("delegate"), looks("inside"), says("Found."), says("Done.")]);
  const agent = new Agent({
    model,
    tools: [delegate],
    stopWhen: ({ iterations }) => asked.push(iterations) < 1,
  });
  expect((await agent.run("go")).text).toBe("Done.");
  expect(asked).toEqual([1]);
});
