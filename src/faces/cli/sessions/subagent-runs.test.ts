import { expect, test } from "vitest";
import { Agent } from "../../../agent/agent.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { MemoryJournal } from "../../../core/agent/journal.ts";
import { NanoAgentError } from "../../../core/base/errors.ts";
import { defineTool } from "../../../core/tool/tool.ts";
import { BUILT_IN_SUBAGENTS } from "../../../extensions/subagents/built-in-subagents.ts";
import { createTaskTool } from "../../../extensions/subagents/task-tool.ts";
import { sessionUsage } from "../../../journal/session-usage.ts";
import { PlanAndSolveAgent } from "../../../patterns/plan-and-solve-agent.ts";
import { calls, fails, type ScriptAnswer, says } from "../../../testing/script.ts";
import { ScriptedModel } from "../../../testing/scripted-model.ts";
import { stepLines } from "./step-lines.ts";
import { subagentRuns } from "./subagent-runs.ts";
import { subagentJson, subagentText } from "./subagent-text.ts";

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

test("what subagents did stands below the step that started them: requests, tools, tokens, cost, result or failure", async () => {
  const entries = await recorded([
    [says("Delegating."), task("general", "t1"), task("explore", "t2")],
    [says("Looking."), calls("read", { path: "gone" }, "r1"), task("explore", "t3")],
    says("Innermost."),
    says("Found it."),
    fails(new NanoAgentError("bad_request", "no such luck")),
    says("Done."),
  ]);
  const steps = stepLines(entries);
  expect(steps.map(({ step, tools, subagents }) => [step, tools, subagents.length])).toEqual([
    [1, ["task", "task"], 2],
    [2, [], 0],
  ]);
  expect(subagentText(steps[0]?.subagents ?? [], "  ")).toEqual([
    "  general (t1): 3 requests, 2 tool calls (1 failed or refused), 300 tokens in, 60 out, $0.0009, 0 ms; completed",
    "    - Looking. → read, task",
    "    - Found it.",
    "    explore (t3): 1 request, 0 tool calls, 100 tokens in, 20 out, $0.0003, 0 ms; completed",
    "      - Innermost.",
    "  explore (t2): 0 requests, 0 tool calls, 0 tokens in, 0 out, $0.0000, 0 ms; error: no such luck",
  ]);
  expect(subagentRuns(entries).map(subagentJson)).toMatchObject([
    {
      call_id: "t1",
      agent: "general",
      requests: 3,
      stop_reason: "completed",
      subagents: [{ call_id: "t3" }],
    },
    { call_id: "t2", agent: "explore", cost_usd: 0, error: { code: "bad_request" }, turns: [] },
  ]);
});

test("a subagent that was cut says so", async () => {
  const entries = await recorded([task("explore", "t1"), says("Found it."), says("Done.")]);
  const cut = entries.filter(({ scope, type }) => scope === undefined || type !== "run_end");
  expect(subagentText(subagentRuns(cut), "")).toEqual([
    "explore (t1): 1 request, 0 tool calls, 100 tokens in, 20 out, $0.0003, 0 ms; cut or still at work",
    "  - Found it.",
  ]);
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
