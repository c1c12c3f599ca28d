import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../core/message/message.ts";
import type { StreamPart } from "../../core/model/model.ts";
import { resolveModel } from "../resolve-model.ts";
import { createTransport } from "../transport.ts";

/** An independent server that speaks the Messages API: it judges what is sent and writes what is read. */
const mock = new LLMock({ port: 0, chunkSize: 7 });
const transport = createTransport();

beforeAll(async () => {
  mock.onToolResult("toolu_1", { content: "It is 21 degrees in Zürich." });
  mock.onMessage("weather", {
    content: "I look it up.",
    reasoning: "They want the weather.",
    reasoningSignature: "c2lnbmF0dXJl",
    toolCalls: [
      { id: "toolu_1", name: "weather", arguments: '{"city":"Zürich"}' },
      { id: "toolu_2", name: "now", arguments: "{}" },
    ],
  });
  mock.onMessage("fail", { error: { message: "Overloaded", type: "overloaded_error" }, status: 529 });
  await mock.start();
});
afterAll(async () => {
  transport.close();
  await mock.stop();
});

const tools = [
  {
    name: "weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
  { name: "now", description: "The time.", parameters: { type: "object", properties: {} } },
];

async function ask(messages: readonly Message[]): Promise<readonly StreamPart[]> {
  const model = resolveModel("anthropic/claude-sonnet-4-5", {
    apiKey: "k",
    baseUrl: mock.url,
    transport,
    network: { maxRetries: 0 },
  });
  const parts: StreamPart[] = [];
  for await (const part of model.stream({ system: "Be brief.", messages, tools })) parts.push(part);
  return parts;
}

const question: Message = { role: "user", content: [{ type: "text", text: "How is the weather?" }] };

describe("Anthropic, judged by aimock", () => {
  it("holds a conversation with thinking, text, two calls and their results", async () => {
    const parts = await ask([question]);
    const blocks = parts.flatMap((part) => (part.type === "block" ? [part.block] : []));
    const text = parts.map((part) => (part.type === "text_delta" ? part.text : "")).join("");
    expect([text, ...blocks]).toEqual([
      "I look it up.",
      {
        type: "thinking",
        thinking: "They want the weather.",
        signature: "c2lnbmF0dXJl",
        provider_data: { anthropic: { made_by: expect.any(String) } },
      },
      { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Zürich" } },
      { type: "tool_use", id: "toolu_2", name: "now", input: {} },
    ]);
    expect(parts.at(-1)).toMatchObject({
      type: "finish",
      finishReason: { unified: "tool_use", raw: "tool_use" },
    });

    const [thinking, first, second] = blocks;
    if (thinking === undefined || first === undefined || second === undefined)
      throw new Error("blocks are missing");
    const answer = await ask([
      question,
      { role: "assistant", content: [thinking, { type: "text", text }, first, second] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_2", content: "noon" },
          { type: "tool_result", tool_use_id: "toolu_1", content: "21" },
        ],
      },
    ]);
    expect(answer.map((part) => (part.type === "text_delta" ? part.text : "")).join("")).toBe(
      "It is 21 degrees in Zürich.",
    );
    expect(answer.at(-1)).toMatchObject({
      type: "finish",
      finishReason: { unified: "stop", raw: "end_turn" },
    });
  });

  it("reports its errors", async () => {
    await expect(ask([{ role: "user", content: [{ type: "text", text: "fail" }] }])).rejects.toMatchObject({
      code: "provider_error",
      retryable: true,
      details: { status: 529, type: "overloaded_error" },
    });
  });
});
