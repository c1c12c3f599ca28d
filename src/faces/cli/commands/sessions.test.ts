import { expect, test } from "vitest";
import { Agent } from "../../../agent/agent.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { MemoryJournal } from "../../../core/agent/journal.ts";
import { NanoAgentError } from "../../../core/base/errors.ts";
import { defineTool } from "../../../core/tool/tool.ts";
import { BUILT_IN_SUBAGENTS, createTaskTool } from "../../../extensions/subagents/task-tool.ts";
import { sessionUsage } from "../../../journal/session-usage.ts";
import { PlanAndSolveAgent } from "../../../patterns/plan-and-solve-agent.ts";
import { calls, fails, type ScriptAnswer, says } from "../../../testing/script.ts";
import { ScriptedModel } from "../../../testing/scripted-model.ts";
import { stepsJson } from "./sessions.ts";

const read = defineTool({
  name: "read",
  description: "reads",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  readOnly: true,
  execute: ({ path }) => (path === "gone" ? { content: "no such file", isError: true } : "text"),
});
const task = (agent: string, id: string) => calls("task", { agent, prompt: "Look." }, id);

function modelOf(script: readonly ScriptAnswer[]): ScriptedModel {
  return new ScriptedModel(script, { info: { price: { input: 1, output: 10 } } });
}

/** The journal of a run of these answers; its clock stands still. */
async function recorded(script: readonly ScriptAnswer[]) {
  const journal = new MemoryJournal();
  const tools = [read, createTaskTool({ agents: BUILT_IN_SUBAGENTS })];
  await new Agent({ model: modelOf(script), tools, journal }).run("go");
  return [...journal.entries()].map((entry) => ({ ...entry, time: 0 }));
}

test("a step has the subagents it started: requests, tools, tokens, cost, result or failure", async () => {
  const entries = await recorded([
    [says("Delegating."), task("general", "t1"), task("explore", "t2")],
    [says("Looking."), calls("read", { path: "gone" }, "r1"), task("explore", "t3")],
    says("Innermost."),
    says("Found it."),
    fails(new NanoAgentError("bad_request", "no such luck")),
    says("Done."),
  ]);
  expect(stepsJson(entries)).toMatchObject([
    {
      step: 1,
      run: 1,
      input: ["go"],
      text: "Delegating.",
      tools: ["task", "task"],
      subagents: [
        {
          call_id: "t1",
          agent: "general",
          model: "scripted/scripted",
          state: "ok",
          requests: 3,
          tool_calls: 2,
          failed_calls: 1,
          input_tokens: expect.any(Number),
          duration_ms: 0,
          stop_reason: "completed",
          turns: [{ text: "Looking.", tools: ["read", "task"] }, { text: "Found it." }],
          text: "Found it.",
          calls: [
            { tool: "read", title: "gone", state: "error" },
            { tool: "task", state: "ok" },
          ],
          subagents: [{ call_id: "t3", text: "Innermost.", turns: [{ text: "Innermost." }] }],
        },
        {
          call_id: "t2",
          agent: "explore",
          state: "error",
          cost_usd: 0,
          error: { code: "bad_request" },
          calls: [],
        },
      ],
    },
    { step: 2, text: "Done.", tools: [] },
  ]);
  const cut = entries.filter(({ scope, type }) => scope === undefined || type !== "run_end");
  expect(stepsJson(cut)[0]).toMatchObject({ subagents: [{ stop_reason: null }, { stop_reason: null }] });
});

test("the time in tools is that of the calls of the conversation and of phases; that of subagents is in the call that started them", async () => {
  const journal = new MemoryJournal();
  const script = [calls("generate_plan", { steps: ["look"] }), calls("read", { path: "a" }), says("seen")];
  await new PlanAndSolveAgent({ model: modelOf(script), tools: [read], journal }).run("go");
  const entries: readonly JournalEntry[] = [
    ...journal.entries(),
    ...(await recorded([task("explore", "t1"), calls("read", { path: "a" }), says("x"), says("y")])),
  ];
  const timed = entries.map((entry) => (entry.type === "tool_result" ? { ...entry, durationMs: 7 } : entry));
  const { toolMs, tools } = sessionUsage(timed);
  expect([toolMs, Object.entries(tools).map(([name, { calls }]) => [name, calls])]).toEqual([
    21,
    [
      ["generate_plan", 1],
      ["read", 2],
      ["task", 1],
    ],
  ]);
});
