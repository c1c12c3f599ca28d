import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { BUILT_IN_SUBAGENTS, createTaskTool } from "../../src/extensions/subagents/task-tool.ts";
import { StepCounter, sessionSteps } from "../../src/journal/steps.ts";
import { ReflectionAgent } from "../../src/patterns/reflection-agent.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";

test("an answer has the same number in the list of steps and along the entries, with subagents and patterns", async () => {
  const journal = new MemoryJournal({ sessionId: "s" });
  const model = new ScriptedModel([
    calls("task", { agent: "general", prompt: "Look." }),
    says("Seen."),
    says("Done."),
    says("A draft."),
    says("Good. No changes needed."),
    says("Bye."),
    says("Bye, once more."),
  ]);
  const tools = [createTaskTool({ agents: BUILT_IN_SUBAGENTS })];
  await new Agent({ model, tools, journal }).run("one");
  await new ReflectionAgent({ model, journal, maxRounds: 1 }).run("two");
  await new Agent({ model, journal }).run("three");
  const entries = [...journal.entries()];
  const counter = new StepCounter();
  const counted = entries.map((entry) => counter.stepOf(entry));
  const steps = sessionSteps(entries);
  expect(steps.map(({ answerAt }) => counted[answerAt])).toEqual(steps.map(({ number }) => number));
  expect(steps.map(({ run }) => run)).toEqual([1, 1, 2, 3]);
});
