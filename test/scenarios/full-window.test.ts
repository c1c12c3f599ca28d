import { afterEach, describe, expect, it } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import type { Model } from "../../src/core/model/model.ts";
import { summaryCompaction } from "../../src/memory/context/summary-compaction.ts";
import { resolveModel } from "../../src/providers/resolve-model.ts";
import { calls, finishes, type ScriptAnswer, says } from "../../src/testing/script.ts";
import { type ScriptedServer, startScriptedServer } from "../../src/testing/scripted-server.ts";
import type { ServerStep } from "../../src/testing/server-step.ts";
import { lines, tool } from "./conversation.ts";

const running: ScriptedServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function serve(steps: Parameters<typeof startScriptedServer>[0]): Promise<ScriptedServer> {
  const server = await startScriptedServer(steps);
  running.push(server);
  return server;
}

const look = tool("look", { execute: () => "a line of something long to look at\n".repeat(200) });
/** Looks four times, then what a full window leaves of an answer, then summaries and the answer. */
function script(cut: ScriptAnswer): Extract<ServerStep, (...args: never) => unknown> {
  return ({ body }, index) => {
    if (JSON.stringify(body).includes("## Findings")) return says("## Done: looked");
    if (index < 4) return calls("look", {});
    return index === 4 ? cut : says("All seen.");
  };
}

const WINDOW = 200_000;
/** Reasoning and prompt fill the window before a word is written. */
const NOTHING: ScriptAnswer = finishes("length", { inputTokens: WINDOW - 10_000, outputTokens: 9_000 });

const MODELS: readonly (readonly [
  name: string,
  base: string,
  word: string | undefined,
  reportsUsage: boolean,
])[] = [
  ["anthropic/claude-sonnet-4-5", "/v1", "model_context_window_exceeded", true],
  ["mistral/m", "/v1", "model_length", false],
  ["zhipu/m", "/v1", "model_context_window_exceeded", true],
  ["openai-responses/gpt-5", "/v1", undefined, true],
  ["google/gemini-2.5-pro", "/v1beta", undefined, true],
];

describe.each(MODELS)("a window that %s finds full", (name, base, word, reportsUsage) => {
  function modelAt(server: ScriptedServer): Model {
    const facts = { contextWindow: WINDOW, maxOutputTokens: 64_000 };
    const [provider = ""] = name.split("/");
    const models = { [name.slice(provider.length + 1)]: facts };
    return resolveModel(name, {
      baseUrl: server.url + base,
      apiKey: "key",
      providers: { [provider]: { models } },
    });
  }

  /** The same answer in the vendor's own word, where it has one. */
  const full: readonly ScriptAnswer[] = [
    ...(reportsUsage ? [NOTHING] : []),
    ...(word === undefined ? [] : [[says("Half an"), finishes({ unified: "length", raw: word })]]),
  ];

  it("is compacted, and the request goes once more; the void answer is paid for", async () => {
    for (const cut of full) {
      const server = await serve(script(cut));
      const events: AgentEvent[] = [];
      const agent = new Agent({ model: modelAt(server), tools: [look], compaction: summaryCompaction() });
      const result = await agent.run("What is there?", { onEvent: (event) => events.push(event) });
      expect([result.error, result.stopReason, result.text]).toEqual([undefined, "completed", "All seen."]);
      expect(events.map(({ type }) => type)).toEqual(
        expect.arrayContaining(["retry", "compaction_start", "compaction"]),
      );
      expect(JSON.stringify(result.messages)).not.toContain("Half an");
      if (cut === NOTHING) expect(result.usage.inputTokens).toBeGreaterThan(WINDOW - 10_000);
    }
  });

  it("is compacted for a subagent too", async () => {
    const [cut = NOTHING] = full;
    const inner = script(cut);
    let outer = 0;
    const server = await serve((request, index) => {
      const isInner = !JSON.stringify(request.body).includes('"delegate"');
      if (isInner) return inner(request, index - outer);
      outer += 1;
      return outer === 1 ? calls("delegate", { prompt: "Look." }) : says("Thanks.");
    });
    const model = modelAt(server);
    const delegate = tool("delegate", {
      execute: async (_input, { runAgent }) => {
        const { text, stopReason } = await runAgent({ agent: "scout", prompt: "Look.", tools: [look] });
        return `${stopReason}: ${text}`;
      },
    });
    const compaction = summaryCompaction();
    const result = await new Agent({ model, tools: [delegate], compaction }).run("What is there?");
    expect(lines(result.messages)).toContainEqual(
      expect.stringMatching(/^result \S+: completed: All seen\.$/),
    );
    expect(result.text).toBe("Thanks.");
  });

  it("ends the run as the output limit does where nothing makes room, and says so", async () => {
    const server = await serve(() => full[0] ?? NOTHING);
    const result = await new Agent({ model: modelAt(server), compaction: false }).run("What is there?");
    expect(result.stopReason).toBe("output_limit");
    if (reportsUsage) expect(result.detail).toContain("is full");
  });
});
