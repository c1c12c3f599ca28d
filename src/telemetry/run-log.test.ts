import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { defineTool } from "../core/tool/tool.ts";
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
    "[run] ended completed after 2 requests: 200 tokens in, 40 out, $0.00028",
  ]);
});

test("what subagents do, questions that wait, compactions and requests beside the conversation have lines too", async () => {
  const lines: string[] = [];
  const see = runLog((service, text) => lines.push(`[${service}] ${text.replace(/\d+ ms/, "N ms")}`));
  const delegate = defineTool({
    name: "delegate",
    description: "Hands on.",
    execute: async (_input, context) =>
      (await context.runAgent({ agent: "helper", prompt: "look", tools: [] })).text,
  });
  const model = new ScriptedModel([calls("delegate"), says("found"), calls("delegate")], {
    info: { price: { input: 1, output: 2 } },
  });
  let asked = 0;
  const agent = new Agent({
    model,
    tools: [delegate],
    sessionId: "s1",
    onAsk: "pause",
    permission: { check: () => ({ action: ++asked === 1 ? "allow" : "ask", reason: "costly" }) },
  });
  await agent.run("go", { onEvent: see });
  const entry = { id: "e", parent: null, time: 0 };
  see({
    ...entry,
    type: "compaction",
    reason: "threshold",
    method: "summary",
    messages: [],
    kept: 1,
    tokensBefore: 900,
    tokensAfter: 100,
  });
  see({ ...entry, type: "compaction_undone", target: "e" });
  see({
    ...entry,
    type: "model_usage",
    purpose: "retry",
    model: "p/m",
    usage: { inputTokens: 7, outputTokens: 3, estimated: true },
    durationMs: 20,
  });
  expect(lines).toEqual([
    "[run] session s1, scripted/scripted, tools delegate",
    "[model] request 1",
    "[model] scripted/scripted answered tool_use in N ms: 100 tokens in, 20 out, $0.00014, calls delegate",
    "[tool] delegate (call_1) starts: {}",
    "[run] helper (call_1) > session s1, scripted/scripted, tools none",
    "[model] helper (call_1) > request 1",
    "[model] helper (call_1) > scripted/scripted answered stop in N ms: 100 tokens in, 20 out, $0.00014",
    "[run] helper (call_1) > ended completed after 1 request: 0 tool calls, 100 tokens in, 20 out, $0.00014",
    "[tool] delegate (call_1) ok in N ms: found",
    "[model] request 2",
    "[model] scripted/scripted answered tool_use in N ms: 100 tokens in, 20 out, $0.00014, calls delegate",
    "[permission] delegate (call_2) waits for an answer: costly",
    "[run] ended awaiting_approval after 2 requests: 300 tokens in, 60 out, $0.00042",
    "[context] compaction (threshold) by summary: about 900 tokens before, 100 after",
    "[context] compaction undone",
    "[model] p/m used for retry, N ms: 7 tokens in, 3 out, cost unknown, estimated",
  ]);
});

test("a secret is taken out before a text is cut, wherever the cut falls", async () => {
  const token = `hush-${"x9".repeat(10)}`;
  for (let at = 250; at <= 300; at++) {
    const lines: string[] = [];
    const redact = (text: string): string => text.replaceAll(token, "«gone»");
    const see = runLog((_service, text) => lines.push(text), { redact });
    const text = `${"b".repeat(at)} ${token} ${"c".repeat(400)}`;
    const parameters = { type: "object", properties: { text: { type: "string" } } } as const;
    const echo = defineTool({ name: "echo", description: "Says it.", parameters, execute: () => text });
    const model = new ScriptedModel([[calls("echo", { text })], says("done")]);
    await new Agent({ model, tools: [echo], sessionId: "s1" }).run("go", { onEvent: see });
    expect(lines.filter((line) => line.includes("bbb"))).toHaveLength(2);
    expect(lines.join("\n")).not.toContain(token.slice(0, 4));
  }
});
