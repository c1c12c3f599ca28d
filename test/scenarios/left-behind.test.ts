import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { defineTool, type ToolContext } from "../../src/core/tool/tool.ts";
import { calls, ScriptedModel, says, waits } from "../../src/testing/index.ts";

const never = new Promise<never>(() => undefined);
const silent = defineTool({ name: "silent", description: "Never answers.", execute: () => never });

function leaving(leave: (context: ToolContext) => unknown): Agent {
  const forgetful = defineTool({
    name: "forgetful",
    description: "Waits for nothing it begins.",
    execute: (_input, context) => {
      leave(context);
      return "done";
    },
  });
  const model = new ScriptedModel((_request, at) =>
    at === 0 ? calls("forgetful") : at === 1 ? says("Fine.") : [says("Part"), waits(never)],
  );
  return new Agent({ model, tools: [forgetful, silent], journal: new MemoryJournal() });
}

test("calls that a tool does not wait for have their results before its own, and none comes after the run", async () => {
  const types: string[] = [];
  const { stopReason } = await leaving((context) => [
    context.callTool("silent", {}),
    context.callTool("missing", {}),
  ]).run("go", {
    onEvent: (event) => {
      if (event.type === "tool_result") types.push(`${event.callId} ${event.status}`);
      if (event.type === "run_end" || event.type === "done") types.push(event.type);
    },
  });
  expect([stopReason, types.toSorted().slice(0, 3), types.slice(-3)]).toEqual([
    "completed",
    ["call_1 ok", "call_1/1 aborted", "call_1/2 aborted"],
    ["call_1 ok", "run_end", "done"],
  ]);
});

test("what a tool begins when its call is over does not begin", async () => {
  let kept: ToolContext | undefined;
  const agent = leaving((context) => {
    kept = context;
  });
  const { sessionId } = await agent.run("go");
  const before = agent.getState().messages.length;
  expect(await kept?.callTool("silent", {})).toMatchObject({ isError: true });
  await expect(kept?.runAgent({ agent: "helper", prompt: "Help." })).rejects.toMatchObject({
    code: "aborted",
  });
  expect([agent.getState().messages.length, agent.sessionId]).toEqual([before, sessionId]);
});
