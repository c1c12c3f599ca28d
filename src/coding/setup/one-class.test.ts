import { expect, test, vi } from "vitest";
import {
  Agent,
  HookRegistry,
  PlanAndSolveAgent,
  ReActAgent,
  ReflectionAgent,
  SimpleAgent,
  UserAgent,
} from "../../index.ts";
import * as patterns from "../../patterns/index.ts";
import { says } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";

const PATTERNS = { SimpleAgent, ReActAgent, PlanAndSolveAgent, ReflectionAgent };

test("every pattern is an agent, and the same class wherever it is imported from", () => {
  const model = new ScriptedModel([]);
  const made = Object.values(PATTERNS).map((Pattern) => new Pattern({ model }));
  expect([...made, new UserAgent({ input: () => "hi" })].every((agent) => agent instanceof Agent)).toBe(true);
  expect(patterns).toMatchObject(PATTERNS);
});

test("every pattern takes a model by its name, when it is made and later", async () => {
  vi.stubEnv("OPENAI_API_KEY", "");
  for (const Pattern of [Agent, ...Object.values(PATTERNS)]) {
    const agent = new Pattern({ model: "openai/gpt-5" });
    expect([agent.model.provider, agent.model.id]).toEqual(["openai", "gpt-5"]);
    expect(() => new Pattern({ model: "nowhere/x" })).toThrow('There is no provider "nowhere"');
    await agent.setModel("anthropic/claude-sonnet-5", { effort: "low" });
    expect([agent.model.provider, agent.effort]).toEqual(["anthropic", "low"]);
    await expect(agent.setModel("nowhere/x")).rejects.toThrow('There is no provider "nowhere"');
    expect(agent.model.provider).toBe("anthropic");
  }
});

test("hooks of the class are for agents of every kind", async () => {
  expect(SimpleAgent.classHooks).toBeInstanceOf(HookRegistry);
  const seen: string[] = [];
  Agent.classHooks.register("pre_reply", "test", (_agent, { messages }) => {
    seen.push(String(messages.length));
  });
  try {
    await new SimpleAgent({ model: new ScriptedModel([says("hi")]) }).run("a");
    await new Agent({ model: new ScriptedModel([says("hi")]) }).run("a");
  } finally {
    Agent.classHooks.clear();
  }
  expect(seen).toEqual(["1", "1"]);
});
