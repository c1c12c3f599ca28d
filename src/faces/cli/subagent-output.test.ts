import { expect, test } from "vitest";
import type { EventLine } from "../../../test/e2e/event-schema.ts";
import { Agent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../core/agent/entries.ts";
import { defineTool } from "../../core/tool/tool.ts";
import { calls, says } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { RunTally } from "../../view/outcome.ts";
import { EventLines } from "./json-lines.ts";

/** The events of a run in which a subagent reads, asks another subagent, and is refused a call. */
async function events(): Promise<readonly AgentEvent[]> {
  const delegate = defineTool({
    name: "task",
    description: "hands on",
    execute: async (_input, context) => (await context.runAgent({ agent: "helper", prompt: "Look." })).text,
  });
  const again = { ...delegate, name: "again" };
  const read = defineTool({
    name: "read",
    description: "reads",
    parameters: { type: "object", properties: { path: { type: "string" } } } as const,
    execute: () => "text",
  });
  const agent = new Agent({
    model: new ScriptedModel([
      calls("task", {}, "t1"),
      calls("read", { path: "a" }, "r1"),
      calls("again", {}, "t2"),
      says("innermost"),
      [says("inner"), calls("write", {}, "w1")],
      says("inner end"),
      says("outer"),
    ]),
    tools: [delegate, again, read, { ...read, name: "write" }],
    permission: {
      check: ({ name }) => ({ action: name === "write" ? "deny" : "allow", reason: "no writing" }),
    },
  });
  const seen: AgentEvent[] = [];
  await agent.run("go", { onEvent: (event) => seen.push(event) });
  return seen;
}

test("lines of a subagent name the call that started it, and hold no pieces of its answers", async () => {
  const lines = new EventLines({ partial: true });
  const told = (await events())
    .flatMap((event) => lines.lines(event) as unknown as readonly EventLine[])
    .map((line) => {
      if (line.type === "stream_event") return `piece in ${line.parent_tool_use_id}`;
      if (line.type !== "assistant" && line.type !== "user") return line.type;
      const kinds = line.message.content.map((block) =>
        block.type === "tool_use" ? block.id : block.type === "text" ? block.text : block.type,
      );
      return `${line.type} ${kinds.join(", ")} in ${line.parent_tool_use_id}`;
    });
  expect(told.filter((line) => !line.startsWith("piece in null"))).toEqual([
    "assistant t1 in null",
    "assistant r1 in t1",
    "user tool_result in t1",
    "assistant t2 in t1",
    "assistant innermost in t2",
    "user tool_result in t1",
    "assistant inner, w1 in t1",
    "user tool_result in t1",
    "assistant inner end in t1",
    "user tool_result in null",
    "assistant outer in null",
  ]);
});

test("what subagents spend and are refused counts for the run; its turns are those of the conversation", async () => {
  const tally = new RunTally();
  for (const event of await events()) tally.add(event);
  const { turns, usage, denials } = tally.facts;
  expect([turns, usage.inputTokens, tally.partialText, denials]).toEqual([
    2,
    700,
    "outer",
    [{ name: "write", callId: "w1", input: {}, reason: "no writing" }],
  ]);
});
