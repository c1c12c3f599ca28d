import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AssistantBlock,
  assistantMessage,
  type Message,
  userMessage,
} from "../../core/message/message.ts";
import type { FinishPart, Model, ModelRequest, StreamPart, ToolSpec } from "../../core/model/model.ts";
import { createTransport } from "../transport.ts";
import { createWireModel } from "../wire-model.ts";
import { googleWire } from "./google-wire.ts";

const weather: ToolSpec = {
  name: "get_weather",
  description: "Weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

describe("googleWire against an independent server", () => {
  const mock = new LLMock({ port: 0, chunkSize: 5 });
  let model: Model;

  beforeAll(async () => {
    mock.on(
      { userMessage: "fail", hasToolResult: false },
      { error: { message: "Overloaded", type: "UNAVAILABLE" }, status: 503 },
    );
    mock.on({ hasToolResult: true }, { content: "Sunny in Köln." });
    mock.on(
      { userMessage: "weather" },
      {
        toolCalls: [
          { name: "get_weather", arguments: '{"city":"Köln"}' },
          { name: "get_weather", arguments: '{"city":"Oslo"}' },
        ],
      },
    );
    mock.on({ userMessage: "hello" }, { content: "Hello to you, wide world 🌍", reasoning: "They greet." });
    await mock.start();
    model = createWireModel({
      provider: "google",
      id: "gemini-2.5-flash",
      wire: googleWire,
      target: { provider: "google", modelId: "gemini-2.5-flash", baseUrl: mock.url, apiKey: "test" },
      transport: createTransport(),
      network: { maxRetries: 0 },
    });
  });

  afterAll(async () => {
    await mock.stop();
  });

  it("reads a streamed answer with reasoning", async () => {
    const { text, thinking, finish } = await ask(model, {
      system: "Be kind.",
      messages: [userMessage("hello")],
      effort: "low",
    });
    expect({ text, thinking, finishReason: finish?.finishReason }).toEqual({
      text: "Hello to you, wide world 🌍",
      thinking: "They greet.",
      finishReason: { unified: "stop", raw: "STOP" },
    });
  });

  it("runs a turn with two calls of one tool, and the server pairs both results", async () => {
    const question = userMessage("weather please");
    const first = await ask(model, { messages: [question], tools: [weather], toolChoice: "required" });
    expect(first.finish?.finishReason.unified).toBe("tool_use");
    expect(first.blocks).toMatchObject([
      { type: "tool_use", name: "get_weather", input: { city: "Köln" } },
      { type: "tool_use", name: "get_weather", input: { city: "Oslo" } },
    ]);
    const messages: readonly Message[] = [
      question,
      assistantMessage(first.blocks),
      userMessage(
        first.blocks.flatMap((block) =>
          block.type === "tool_use" ? [{ type: "tool_result", tool_use_id: block.id, content: "sun" }] : [],
        ),
      ),
    ];
    const second = await ask(model, { messages, tools: [weather] });
    expect(second.text).toBe("Sunny in Köln.");
    const { messages: seen } = (mock.getRequests().at(-1)?.body ?? { messages: [] }) as SeenRequest;
    const calls = seen.flatMap((message) => message.tool_calls ?? []).map(({ id }) => id);
    const results = seen.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : []));
    expect(calls).toHaveLength(2);
    expect(results).toEqual(calls);
  });

  it("reports an overloaded server as a retryable failure of the provider", async () => {
    await expect(ask(model, { messages: [userMessage("fail")] })).rejects.toMatchObject({
      code: "provider_error",
      retryable: true,
    });
  });
});

/** The server's view of the request. */
interface SeenRequest {
  readonly messages: readonly {
    readonly role: string;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly { readonly id: string }[];
  }[];
}

interface AskAnswer {
  readonly text: string;
  readonly thinking: string;
  readonly blocks: readonly AssistantBlock[];
  readonly finish: FinishPart | undefined;
}

async function ask(model: Model, request: ModelRequest): Promise<AskAnswer> {
  const parts: StreamPart[] = [];
  for await (const part of model.stream(request)) parts.push(part);
  return {
    text: parts.map((part) => (part.type === "text_delta" ? part.text : "")).join(""),
    thinking: parts.map((part) => (part.type === "thinking_delta" ? part.text : "")).join(""),
    blocks: parts.flatMap((part) => (part.type === "block" ? [part.block] : [])),
    finish: parts.find((part) => part.type === "finish"),
  };
}
