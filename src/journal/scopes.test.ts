import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../core/agent/entries.ts";
import { MemoryJournal } from "../core/agent/journal.ts";
import { BUILT_IN_SUBAGENTS, createTaskTool } from "../extensions/subagents/task-tool.ts";
import { calls, says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { Scopes } from "./scopes.ts";

const task = (agent: string, id: string) => calls("task", { agent, prompt: "Look." }, id);

test("stored entries of subagents are published as the run published them", async () => {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([
    task("general", "t1"),
    task("general", "t2"),
    says("Innermost."),
    says("Found it."),
    says("Done."),
  ]);
  const published: AgentEvent[] = [];
  const tools = [createTaskTool({ agents: BUILT_IN_SUBAGENTS })];
  await new Agent({ model, tools, journal }).run("go", { onEvent: (event) => published.push(event) });

  const scopes = new Scopes();
  const stored = [...journal.entries()].map((entry) => scopes.toPublished(entry));
  const isStored = (event: AgentEvent): boolean =>
    event.type === "subagent" ? isStored(event.event) : "parent" in event;
  expect(published.filter(isStored)).toEqual(stored);
  expect(stored.some((event) => event.type === "subagent" && event.event.type === "subagent")).toBe(true);
});

test("phases of a pattern are of the conversation, and their subagents are found by name and call", () => {
  const scopes = new Scopes();
  const common = { id: "e", parent: null, time: 0 };
  const start = { type: "run_start", sessionId: "s", model: "m", tools: [], agent: "explore" } as const;
  const events = [
    { ...common, type: "tool_intent", callId: "a/1", name: "task", input: {}, scope: "plan/2" },
    { ...common, ...start, scope: "plan/2/task/a/1/2" },
    { ...common, type: "phase_entry", scope: "plan/2" },
  ] as unknown as readonly AgentEvent[];
  expect(events.map((event) => scopes.of(event)?.callId)).toEqual([undefined, "a/1", undefined]);
});
