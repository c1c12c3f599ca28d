import { expect, test } from "vitest";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  PlanAndSolveAgent,
  ReActAgent,
  ReflectionAgent,
  SimpleAgent,
} from "../../src/index.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

/** One screen for all agents. */
function shown(event: AgentEvent): readonly string[] {
  switch (event.type) {
    case "phase":
      return [`== ${[event.phase, event.round ?? event.step].filter(Boolean).join(" ")}`];
    case "assistant_message":
      return lines([event.message]);
    case "tool_result":
      return [`${event.name}: ${event.status}`];
    case "run_end":
      return [`(${event.stopReason})`];
    case "done":
      return [`=> ${event.result.text}`];
    default:
      return [];
  }
}

/**
 * The same conversation for every agent: it answers what it is asked, and looks something up before it
 * answers a question.
 */
const conversation = (): ScriptedModel =>
  new ScriptedModel(({ messages, tools, toolChoice }) => {
    if (typeof toolChoice === "object") return calls("generate_plan", { steps: ["Find it"] });
    const last = messages.at(-1);
    if (last?.content.some(({ type }) => type === "tool_result")) return says("It is 42.");
    if (lines(messages).at(-1)?.includes("Examine this answer")) return says("无需改进");
    return tools === undefined ? says("It is 42.") : calls("search", { q: "it" });
  });

const kinds: readonly (readonly [string, (options: AgentOptions) => Agent, readonly string[]])[] = [
  ["Agent", (options) => new Agent(options), []],
  ["SimpleAgent", (options) => new SimpleAgent(options), []],
  ["ReActAgent", (options) => new ReActAgent(options), []],
  ["PlanAndSolveAgent", (options) => new PlanAndSolveAgent(options), ["== planning 1", "== execution 1"]],
  ["ReflectionAgent", (options) => new ReflectionAgent(options), ["== initial_execution", "== reflection 1"]],
];

test.each(kinds)("%s shows the same conversation on the same screen", async (_name, make, phases) => {
  const agent = make({ model: conversation(), tools: [tool("search")] });
  const screen = (await all(agent.stream("What is it?"))).flatMap(shown);
  expect(screen.filter((line) => line.startsWith("=="))).toEqual(phases);
  expect(screen.slice(-2)).toEqual(["(completed)", "=> It is 42."]);
  expect(screen).toEqual(
    expect.arrayContaining(['calls search {"q":"it"}', "search: ok", "assistant: It is 42."]),
  );
});

test.each(kinds)(
  "%s streams what it runs: the same requests, one done event, the same result",
  async (_name, make) => {
    const [first, second] = [conversation(), conversation()];
    const options = { tools: [tool("search")], sessionId: "s" };
    const result = await make({ ...options, model: first }).run("What is it?");
    const events = await all(make({ ...options, model: second }).stream("What is it?"));
    expect(second.requests).toEqual(first.requests);
    expect(events.filter(({ type }) => type === "done")).toEqual([{ type: "done", result }]);
    expect(events.filter(({ type }) => type === "run_start" || type === "run_end")).toHaveLength(2);
  },
);

test.each(kinds)(
  "%s keeps a conversation that can be sent again, whatever ends the run",
  async (_name, make) => {
    for (const tokens of [1, 130, 250, 370, 490]) {
      const agent = make({ model: conversation(), tools: [tool("search")], budget: { tokens } });
      const { messages, stopReason } = await agent.run("What is it?");
      expect([stopReason === "budget" || stopReason === "completed", transcriptViolations(messages)]).toEqual(
        [true, []],
      );
    }
    for (const leaveAt of ["turn_start", "tool_intent", "tool_result", "assistant_message"]) {
      const agent = make({ model: conversation(), tools: [tool("search")] });
      for await (const event of agent.stream("What is it?")) if (event.type === leaveAt) break;
      expect([agent.isRunning, transcriptViolations(agent.getState().messages)]).toEqual([false, []]);
      expect((await agent.run("Go on.")).text).toBe("It is 42.");
    }
  },
);

test.each(kinds)(
  "%s is sent messages, is steered, stopped, reset and asked for its state as every agent is",
  async (_name, make) => {
    const agent = make({ model: conversation(), tools: [tool("search")] });
    const seen: string[] = [];
    const text = await agent.sendMessage("What is it?", { onEvent: ({ type }) => seen.push(type) });
    expect([text, seen.at(-1), seen.includes("tool_use")]).toEqual(["It is 42.", "done", true]);
    expect(agent.getState().totalTokens.input).toBeGreaterThanOrEqual(200);
    agent.reset();
    expect(agent.getState()).toMatchObject({ messages: [], totalTokens: { input: 0, output: 0 } });
    const stopped = await agent.run("What is it?", {
      onEvent: (event) => {
        if (event.type === "tool_intent") agent.stop();
      },
    });
    expect(stopped.stopReason).toBe("aborted");
  },
);

test.each(kinds)("%s takes the name of a model", async (_name, make) => {
  expect(make({ model: "anthropic/claude-sonnet-4-5" })).toBeInstanceOf(Agent);
  expect(() => make({ model: "nowhere/x" })).toThrow("nowhere");
  expect(() => make({} as never)).toThrow("model is missing");
});
