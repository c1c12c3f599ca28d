import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { defineTool } from "../core/tool/tool.ts";
import { calls, says } from "../testing/script.ts";
import { startScriptedServer } from "../testing/scripted-server.ts";
import { resolveModel } from "./resolve-model.ts";
import { wellFormedJson } from "./serialise-once.ts";

test("JSON stays what it is but for halves of characters", () => {
  const text = fc.array(fc.constantFrom("\\", "\\ud800", "u", "d", '"', "\ud83d", "\ude00", "a", "\n"));
  fc.assert(
    fc.property(
      text.map((pieces) => pieces.join("")),
      (value) => {
        const said: unknown = JSON.parse(wellFormedJson(JSON.stringify({ value })));
        expect(said).toEqual({ value: value.toWellFormed() });
      },
    ),
  );
});

test.each([
  ["anthropic/claude-sonnet-4-5", "ANTHROPIC", ""],
  ["openai-chat/gpt-5", "OPENAI", "/v1"],
  ["openai-responses/gpt-5", "OPENAI", "/v1"],
  ["google/gemini-2.5-pro", "GEMINI", ""],
])("%s is sent no half of a character, whoever wrote it", async (name, vendor, path) => {
  const server = await startScriptedServer([calls("echo", '{"text":"\\ud83d"}'), says("Done.")]);
  const environment: { [name: string]: string } = {
    [`${vendor}_API_KEY`]: "none",
    [`${vendor}_BASE_URL`]: `${server.url}${path}`,
  };
  const agent = new Agent({
    model: resolveModel(name, { env: (variable) => environment[variable] }),
    systemPrompt: "Be brief\ud83d.",
    messages: [
      { role: "user", content: "Hi\ude00" },
      { role: "assistant", content: "Yes\ud83d?" },
    ],
    tools: [
      defineTool({
        name: "echo",
        description: "Says\ud83d it again.",
        parameters: { type: "object", properties: { text: { type: "string" } } },
        execute: () => "ok",
      }),
    ],
  });
  const { stopReason } = await agent.run("Go");
  const bodies = server.requests.map(({ body }) => JSON.stringify(body));
  await server.close();
  expect([stopReason, bodies.length, bodies.filter((body) => /\\ud[89a-f]/.test(body))]).toEqual([
    "completed",
    2,
    [],
  ]);
});
