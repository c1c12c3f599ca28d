import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { createRedaction } from "../../src/permission/secrets/create-redaction.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/batch-tool.ts";
import { tool } from "./conversation.ts";

const SECRET = "k9-Very+Secret/Value_0123456789";
const redact = createRedaction({ secrets: [{ name: "MY_KEY", value: SECRET }] });

test("a secret in a result, its title, its facts, its progress or its failure reaches neither model nor journal nor reader", async () => {
  const leak = defineTool({
    name: "leak",
    description: "leaks",
    *execute() {
      yield SECRET.slice(0, 9);
      yield `${SECRET.slice(9)} and more`;
      return { content: `a ${SECRET} b`, title: SECRET, metadata: { list: [SECRET] } };
    },
  });
  const fail = tool("fail", { execute: () => Promise.reject(new Error(`bad ${SECRET}`)) });
  const tools = [leak, fail, createBatchTool()];
  const model = new ScriptedModel([
    [calls("leak"), calls("fail"), calls("batch", { calls: [{ tool: "leak", input: {} }] })],
    says("end"),
  ]);
  const journal = new MemoryJournal();
  const events: AgentEvent[] = [];
  const result = await new Agent({ model, tools, journal, redact }).run("go", {
    onEvent: (event) => events.push(event),
  });
  const seen = JSON.stringify([model.requests, journal.entries(), events, result]);
  expect(seen).not.toContain(SECRET.slice(0, 16));
  expect(seen).not.toContain(SECRET.slice(9));
  expect(seen).toContain("a «redacted:MY_KEY» b");
  const progress = events.flatMap((event) => (event.type === "tool_update" ? [event.text] : []));
  expect(progress).toContain("«redacted:MY_KEY» and more");
});

test("a hook after a tool sees the result without its secrets, and what it adds is looked at too", async () => {
  const seen: string[] = [];
  const model = new ScriptedModel([[calls("leak")], says("end")]);
  const agent = new Agent({
    model,
    tools: [tool("leak", { execute: () => SECRET })],
    redact,
  });
  agent.hooks.register("post_acting", "again", (_agent, _args, output) => {
    seen.push(String(output.content));
    return { content: `again ${SECRET}` };
  });
  await agent.run("go");
  expect({ seen, last: JSON.stringify(model.requests.at(-1)).includes(SECRET) }).toEqual({
    seen: ["«redacted:MY_KEY»"],
    last: false,
  });
});

test("without the option texts stay as they are", async () => {
  const model = new ScriptedModel([[calls("leak")], says("end")]);
  await new Agent({ model, tools: [tool("leak", { execute: () => SECRET })] }).run("go");
  expect(JSON.stringify(model.requests.at(-1))).toContain(SECRET);
});
