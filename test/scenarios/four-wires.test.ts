import { afterEach, describe, expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import type { WireName } from "../../src/core/message/message.ts";
import type { Model } from "../../src/core/model/model.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { summaryCompaction } from "../../src/memory/context/summary-compaction.ts";
import { resolveModel } from "../../src/providers/resolve-model.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { calls, fails, finishes, says, thinks } from "../../src/testing/script.ts";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.ts";
import { replies, type ServerStep } from "../../src/testing/server-step.ts";

const MODELS: readonly (readonly [WireName, name: string, base: string])[] = [
  ["anthropic", "anthropic/claude-sonnet-4-5", "/v1"],
  ["openai_chat", "openai-chat/gpt-4.1", "/v1"],
  ["openai_responses", "openai-responses/gpt-5", "/v1"],
  ["google", "google/gemini-2.5-pro", "/v1beta"],
];

const running: ScriptedServer[] = [];

async function serve(steps: readonly ServerStep[]): Promise<ScriptedServer> {
  const server = await startScriptedServer(steps, { chunkSize: 7 });
  running.push(server);
  return server;
}

function modelAt(server: ScriptedServer, name: string, base: string): Model {
  return resolveModel(name, { baseUrl: server.url + base, apiKey: "key" });
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const look = defineTool({
  name: "look",
  description: "Looks.",
  parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] } as const,
  execute: ({ at }) => {
    if (at === "nothing") return "";
    if (at === "wall") throw new Error("cannot see through it");
    if (at === "long") return "a line of something long to look at\n".repeat(200);
    if (at === "picture") {
      return {
        content: [
          { type: "text", text: "It hangs there:" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
        ],
      };
    }
    return "half a pair: \ud83d, NUL: \u0000";
  },
});

const CONVERSATION = [
  [
    thinks("I should look.", "c2lnbmF0dXJl"),
    says("Let me look – né 😀"),
    calls("look", { at: "nothing" }),
    calls("look", { at: "wall" }),
    calls("look", { at: "picture" }),
    calls("look", {}),
    calls("see", { at: "x" }),
  ],
  calls("look", { at: "odd text" }),
  [says("All seen."), finishes("stop", { inputTokens: 50, outputTokens: 5 })],
];

describe.each(MODELS)("an agent on the wire %s", (wire, name, base) => {
  it.each([
    ["at once", {}],
    ["byte by byte", { splitBytes: 1 }],
  ])("goes through a conversation that arrives %s, with requests the vendor accepts", async (_, faults) => {
    const server = await serve(CONVERSATION.map((answer) => replies({ answer, ...faults })));
    const agent = new Agent({ model: modelAt(server, name, base), tools: [look], systemPrompt: "Be brief." });
    const result = await agent.run("What is there?");
    expect([result.error, result.stopReason, result.text, result.iterations]).toEqual([
      undefined,
      "completed",
      "All seen.",
      3,
    ]);
    expect(result.usage).toMatchObject({ inputTokens: 250, outputTokens: 45 });
    expect(server.requests.map((request) => [request.wire, request.violations])).toEqual(
      [1, 2, 3].map(() => [wire, []]),
    );
    server.assertFinished();
  });

  it("sends a compacted conversation, asked for at its own end, as the vendor accepts it", async () => {
    const server = await serve([
      ...Array.from({ length: 4 }, () => [thinks("Hm.", "c2lnbmF0dXJl"), calls("look", { at: "long" })]),
      fails(new NanoAgentError("context_overflow", "prompt is too long: 200001 tokens > 200000 maximum")),
      says("## Done: looked twice"),
      [thinks("Hm.", "c2lnbmF0dXJl"), calls("look", { at: "long" })],
      says("All seen."),
      says("## Done: all of it"),
    ]);
    const compaction = summaryCompaction();
    const model = modelAt(server, name, base);
    const agent = new Agent({ model, tools: [look], compaction, loopGuard: false });
    const result = await agent.run("What is there?");
    expect([result.error, result.text]).toEqual([undefined, "All seen."]);
    expect(await agent.compact()).toMatchObject({ method: "summary" });
    expect(server.requests.flatMap(({ violations }) => violations)).toEqual([]);
    server.assertFinished();
  });

  it("reads on after a connection that broke in the middle of an answer", async () => {
    const server = await serve([
      replies({ answer: says("Hello there, all of you"), cut: 150 }),
      says("Hello"),
    ]);
    const clock = new FakeClock();
    const model = resolveModel(name, { baseUrl: server.url + base, apiKey: "key", clock });
    const passTime = (event: AgentEvent): void => {
      if (event.type === "retry") void clock.untilSleeping().then(() => clock.advance(event.delayMs));
    };
    const result = await new Agent({ model }).run("hi", { onEvent: passTime });
    expect([result.error, result.text]).toEqual([undefined, "Hello"]);
    server.assertFinished();
  });
});
