import { expect, test } from "vitest";
import { Agent } from "../core/agent/agent.ts";
import { defineTool } from "../core/tool/define-tool.ts";
import { calls, says } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { runLog } from "./run-log.ts";

test("a run in lines, one for each thing that happens, whatever is in it", async () => {
  const lines: string[] = [];
  const see = runLog((service, text) => lines.push(`[${service}] ${text.replace(/\d+ ms/, "N ms")}`));
  const long = defineTool({
    name: "long",
    description: "Says much.",
    execute: () => `a\n${"b".repeat(400)}`,
  });
  const model = new ScriptedModel([[calls("long"), calls("gone")], says("done")], {
    info: { price: { input: 1, output: 2 } },
  });
  const agent = new Agent({
    model,
    tools: [long, defineTool({ name: "gone", description: "Never runs.", execute: () => "" })],
    sessionId: "s1",
    permission: {
      check: ({ name }) =>
        name === "gone" ? { action: "deny", reason: "no\nway", rule: "gone" } : { action: "allow" },
    },
  });
  await agent.run("go", { onEvent: see });
  expect(lines).toEqual([
    "[run] session s1, scripted/scripted, tools long gone",
    "[model] request 1",
    "[model] scripted/scripted answered tool_use in N ms: 100 tokens in, 20 out, $0.00014, calls long gone",
    "[permission] deny gone (call_2) by rule [gone]: no way",
    "[tool] long (call_1) starts: {}",
    "[tool] gone (call_2) denied in N ms: Error: Tool call was not approved: no way",
    `[tool] long (call_1) ok in N ms: a ${"b".repeat(298)}…`,
    "[model] request 2",
    "[model] scripted/scripted answered stop in N ms: 100 tokens in, 20 out, $0.00014",
    "[run] ended completed after 2 requests",
  ]);
});
