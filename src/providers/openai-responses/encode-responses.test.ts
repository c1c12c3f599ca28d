import { describe, expect, it } from "vitest";
import { TEST_TARGET } from "../../../test/replay-stream.ts";
import { assistantMessage, type Message, userMessage } from "../../core/message/message.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import type { WireTarget } from "../wire.ts";
import { openAiResponses } from "./responses-wire.ts";

const hello: ModelRequest = { messages: [userMessage("hi")] };
const call = { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } } as const;
const wireCall = { type: "function_call", call_id: "call_1", name: "read", arguments: '{"path":"a"}' };

function bodyOf(request: ModelRequest, target: Partial<WireTarget> = {}): { [key: string]: unknown } {
  return JSON.parse(openAiResponses.createEncoder({ ...TEST_TARGET, ...target })(request).body);
}

function inputOf(...messages: readonly Message[]): unknown {
  return bodyOf({ messages })["input"];
}

describe("request", () => {
  it("is a stateless POST to /responses", () => {
    expect(openAiResponses.createEncoder({ ...TEST_TARGET, apiKey: "k" })(hello)).toEqual({
      url: "https://api.example/v1/responses",
      headers: { "content-type": "application/json", accept: "text/event-stream", authorization: "Bearer k" },
      body: '{"model":"m-1","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],"stream":true,"store":false,"include":["reasoning.encrypted_content"]}',
    });
  });

  it("carries every setting of the request", () => {
    const { input: _, ...body } = bodyOf({
      ...hello,
      system: "Be brief.",
      tools: [{ name: "read", description: "Reads.", parameters: { type: "object" } }],
      toolChoice: { type: "tool", name: "read" },
      parallelToolCalls: false,
      maxOutputTokens: 99,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
      effort: "low",
      sessionId: "s1",
      providerOptions: { openai_responses: { service_tier: "flex", tools: [{ type: "web_search" }] } },
    });
    expect(body).toEqual({
      model: "m-1",
      instructions: "Be brief.",
      tools: [
        {
          type: "function",
          name: "read",
          description: "Reads.",
          parameters: { type: "object" },
          strict: false,
        },
        { type: "web_search" },
      ],
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "low", summary: "auto" },
      tool_choice: { type: "function", name: "read" },
      parallel_tool_calls: false,
      max_output_tokens: 99,
      temperature: 0.5,
      top_p: 0.9,
      prompt_cache_key: "s1",
      service_tier: "flex",
    });
  });

  it.each(["gpt-4o", "gpt-4.1-mini", "openai/gpt-4o", "chatgpt-4o-latest", "gpt-5-chat-latest"])(
    "says nothing of reasoning to %s, which has none",
    (modelId) => {
      const body = bodyOf({ ...hello, effort: "high" }, { modelId });
      expect([body["include"], body["reasoning"]]).toEqual([undefined, undefined]);
    },
  );

  it("asks for no summary of reasoning that is off, and not for encryption where the target says so", () => {
    const body = bodyOf({ ...hello, effort: "none" }, { quirks: { encrypted_reasoning: false } });
    expect([body["include"], body["reasoning"]]).toEqual([undefined, { effort: "none" }]);
  });

  it("gives the same text when a grown transcript is sent again", () => {
    const encode = openAiResponses.createEncoder(TEST_TARGET);
    const messages = [userMessage("a"), assistantMessage([{ type: "thinking", thinking: "x" }])];
    const grown = [...messages, userMessage("b")];
    encode({ messages });
    expect(encode({ messages: grown }).body).toBe(bodyText(grown));
  });

  function bodyText(messages: readonly Message[]): string {
    return openAiResponses.createEncoder(TEST_TARGET)({ messages }).body;
  }
});

describe("input", () => {
  const item = {
    type: "reasoning",
    id: "rs_1",
    summary: [{ type: "summary_text", text: "hm" }],
    encrypted_content: "x",
  };
  const own = { type: "thinking", thinking: "hm", provider_data: { openai_responses: { item } } } as const;

  it("gives reasoning items back unchanged, before what followed them", () => {
    const text = {
      type: "text",
      text: "ok",
      provider_data: { openai_responses: { phase: "commentary" } },
    } as const;
    expect(inputOf(assistantMessage([own, text, call]))).toEqual([
      item,
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "ok" }],
        phase: "commentary",
      },
      wireCall,
    ]);
  });

  it.each([
    ["of other wires", { type: "thinking", thinking: "hm", signature: "s" } as const],
    [
      "that only the provider's memory could resolve",
      {
        ...own,
        provider_data: { openai_responses: { item: { type: "reasoning", id: "rs_1", summary: [] } } },
      },
    ],
  ])("leaves out reasoning %s", (_, thinking) => {
    expect(inputOf(assistantMessage([thinking, call]))).toEqual([wireCall]);
  });

  it("leaves out reasoning that nothing follows", () => {
    expect(inputOf(assistantMessage([{ type: "text", text: "a" }, own]), userMessage("b"))).toEqual([
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "a" }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "b" }] },
    ]);
  });

  it("gives open reasoning of a local server back", () => {
    const open = { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "hm" }] };
    const thinking = { ...own, provider_data: { openai_responses: { item: open } } };
    expect(inputOf(assistantMessage([thinking, call]))).toEqual([open, wireCall]);
  });

  it("sends results as text or as parts, and says which failed", () => {
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "AAA" },
    } as const;
    const text = { type: "text", text: "shot" } as const;
    const part = { type: "input_image", image_url: "data:image/png;base64,AAA", detail: "auto" };
    const results = userMessage([
      { type: "text", text: "and?" },
      { type: "tool_result", tool_use_id: "a", content: "fine" },
      { type: "tool_result", tool_use_id: "b", content: [text], is_error: true },
      { type: "tool_result", tool_use_id: "c", content: [text, image] },
      { type: "tool_result", tool_use_id: "d", content: [image], is_error: true },
      { type: "tool_result", tool_use_id: "e", content: "Error: no", is_error: true },
    ]);
    expect(inputOf(results)).toEqual([
      { type: "function_call_output", call_id: "a", output: "fine" },
      { type: "function_call_output", call_id: "b", output: "Error: shot" },
      { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "shot" }, part] },
      { type: "function_call_output", call_id: "d", output: [{ type: "input_text", text: "Error:" }, part] },
      { type: "function_call_output", call_id: "e", output: "Error: no" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "and?" }] },
    ]);
  });

  it("shows images by address", () => {
    const image = { type: "image", source: { type: "url", url: "https://i.example/a.png" } } as const;
    expect(inputOf(userMessage([image]))).toEqual([
      {
        type: "message",
        role: "user",
        content: [{ type: "input_image", image_url: "https://i.example/a.png", detail: "auto" }],
      },
    ]);
  });
});
