import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { defineTool, type ToolContext } from "../../src/core/tool/tool.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/batch-tool.ts";
import { tool } from "./conversation.ts";

interface Shop {
  readonly user: string;
}

test("tools get the context of the run, else of the agent, in batches and subagents too, and no request has it", async () => {
  const seen: string[] = [];
  const order = defineTool({
    name: "order",
    description: "Orders a thing.",
    parameters: { type: "object", properties: { thing: { type: "string" } }, required: ["thing"] },
    execute: ({ thing }, { context }: ToolContext<Shop>) => {
      seen.push(`${context.user}: ${thing}`);
    },
  });
  const delegate = tool("delegate", {
    execute: async (_input: unknown, { runAgent }) =>
      (await runAgent({ agent: "buyer", prompt: "Order.", tools: [order] })).text,
  });
  const model = new ScriptedModel([
    calls("order", { thing: "tea" }),
    says("Ordered."),
    [calls("batch", { calls: [{ tool: "order", input: { thing: "milk" } }] }), calls("delegate")],
    calls("order", { thing: "cups" }),
    says("Ordered."),
    says("All of it."),
  ]);
  const context: Shop = { user: "Ann" };
  const agent = new Agent({ model, tools: [order, delegate, createBatchTool()], context });
  await agent.run("Tea.");
  await agent.run("Milk and cups.", { context: { user: "Bob" } });
  await agent.callTool("order", { thing: "jam" }, { context: { user: "Cleo" } });
  expect(seen).toEqual(["Ann: tea", "Bob: milk", "Bob: cups", "Cleo: jam"]);
  expect(JSON.stringify(model.requests)).not.toMatch(/Ann|Bob/);
});
