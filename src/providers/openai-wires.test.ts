import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageText, userMessage } from "../core/message/message.ts";
import { AnswerCollector, type CollectedAnswer } from "../core/model/answer.ts";
import type { Model, ModelRequest, StreamPart, ToolSpec } from "../core/model/model.ts";
import { openAiChat } from "./openai-chat/chat-wire.ts";
import { openAiResponses } from "./openai-responses/responses-wire.ts";
import { createTransport } from "./transport.ts";
import { createWireModel } from "./wire-model.ts";

const weather: ToolSpec = {
  name: "get_weather",
  description: "Weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** The server's view of a request, in the shape of Chat Completions for both wires. */
interface SeenRequest {
  readonly messages: readonly { readonly role: string }[];
}

interface Answer extends CollectedAnswer {
  readonly parts: readonly StreamPart[];
}

async function ask(model: Model, request: ModelRequest): Promise<Answer> {
  const collector = new AnswerCollector();
  const parts: StreamPart[] = [];
  for await (const part of model.stream(request)) parts.push(collector.add(part));
  return { ...collector.result(), parts };
}

describe.each([
  { wire: openAiChat, stop: "stop", calls: "tool_calls" },
  { wire: openAiResponses, stop: "completed", calls: "completed" },
])("$wire.name against an independent server", ({ wire, stop, calls }) => {
  const mock = new LLMock({ port: 0, chunkSize: 5 });
  let model: Model;

  beforeAll(async () => {
    mock.on(
      { userMessage: "too fast", hasToolResult: false },
      { error: { message: "Slow down", type: "rate_limit_error", code: "rate_limit_exceeded" }, status: 429 },
    );
    mock.on({ toolResultContains: "Sunny" }, { content: "Sunny in Köln." });
    mock.on(
      { userMessage: "weather", hasToolResult: false },
      {
        content: "Looking.",
        toolCalls: [
          { name: "get_weather", arguments: '{"city":"Köln"}', id: "call_k" },
          { name: "get_weather", arguments: '{"city":"Oslo"}', id: "call_o" },
        ],
      },
    );
    mock.on(
      { userMessage: "hello" },
      {
        content: 'Hello to you, wide "world" 🌍\n',
        reasoning: "They greet.",
        usage: { prompt_tokens: 7, completion_tokens: 3, input_tokens: 7, output_tokens: 3 },
      },
    );
    await mock.start();
    model = createWireModel({
      provider: "openai",
      id: "gpt-5.1",
      wire,
      target: { provider: "openai", modelId: "gpt-5.1", baseUrl: `${mock.url}/v1`, apiKey: "test" },
      transport: createTransport(),
      network: { maxRetries: 0 },
    });
  });

  afterAll(async () => {
    await mock.stop();
  });

  it("reads a streamed answer with reasoning and usage", async () => {
    const { message, finish } = await ask(model, {
      system: "Be kind.",
      messages: [userMessage("hello")],
      effort: "low",
    });
    expect({ content: message.content, reason: finish.finishReason }).toEqual({
      content: [
        expect.objectContaining({ type: "thinking", thinking: "They greet." }),
        { type: "text", text: 'Hello to you, wide "world" 🌍\n' },
      ],
      reason: { unified: "stop", raw: stop },
    });
    expect([finish.usage.inputTokens, finish.usage.outputTokens]).toEqual([7, 3]);
  });

  it("runs a turn with two calls of one tool, and the server finds both results", async () => {
    const question = userMessage("weather please");
    const first = await ask(model, { messages: [question], tools: [weather], toolChoice: "required" });
    // The server adds encrypted reasoning where it was asked for.
    const content = first.message.content.filter((block) => block.type !== "thinking");
    expect({ content, reason: first.finish.finishReason }).toEqual({
      content: [
        { type: "text", text: "Looking." },
        { type: "tool_use", id: "call_k", name: "get_weather", input: { city: "Köln" } },
        { type: "tool_use", id: "call_o", name: "get_weather", input: { city: "Oslo" } },
      ],
      reason: { unified: "tool_use", raw: calls },
    });
    const results = userMessage([
      { type: "tool_result", tool_use_id: "call_k", content: "Rain" },
      { type: "tool_result", tool_use_id: "call_o", content: "Sunny" },
    ]);
    const second = await ask(model, { messages: [question, first.message, results], tools: [weather] });
    expect(messageText(second.message)).toBe("Sunny in Köln.");
    const seen = mock.getRequests().at(-1)?.body as SeenRequest;
    const answered = seen.messages.filter(({ role }) => role === "tool");
    expect(answered).toMatchObject([
      { tool_call_id: "call_k", content: "Rain" },
      { tool_call_id: "call_o", content: "Sunny" },
    ]);
  });

  it("reports a refusal of the server with its words", async () => {
    await expect(ask(model, { messages: [userMessage("too fast")] })).rejects.toMatchObject({
      code: "rate_limit",
      retryable: true,
      message: expect.stringContaining("Slow down"),
    });
  });
});
