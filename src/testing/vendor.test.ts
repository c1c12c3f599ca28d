import { describe, expect, it } from "vitest";
import { VENDORS } from "./check-request.ts";
import { calls, finishes, says, thinks } from "./script.ts";
import type { AnswerRenderer } from "./vendor.ts";

const USAGE = {
  inputTokens: 100,
  outputTokens: 20,
  cacheReadTokens: 60,
  cacheWriteTokens: 10,
  reasoningTokens: 4,
};

const ANSWER = [
  thinks("hm", "sig"),
  says("Hello"),
  calls("read", { path: "a" }, "c1"),
  finishes("tool_use", USAGE),
];

/** The data of the events of an answer, each checked for its form. */
function eventsOf(speech: AnswerRenderer): readonly unknown[] {
  const context = { model: "m", chunkSize: 5, wantsUsage: true, number: 1, nextCallId: () => "unused" };
  return [...speech(ANSWER, context)].map((event) => {
    const [, name, data = ""] = /^(?:event: (\S+)\n)?data: (.*)\r?\n\r?\n$/.exec(String(event)) ?? [];
    const value: unknown = data === "[DONE]" ? data : JSON.parse(data);
    if (name !== undefined) expect(value).toMatchObject({ type: name });
    return value;
  });
}

describe("speech", () => {
  it("speaks the Messages API", () => {
    const json = (index: number, delta: object): object => ({ type: "content_block_delta", index, delta });
    expect(eventsOf(VENDORS.anthropic.render)).toEqual([
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: 30,
            cache_creation_input_tokens: 10,
            cache_read_input_tokens: 60,
            cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 0 },
            output_tokens: 1,
            service_tier: "standard",
          },
        },
      },
      { type: "ping" },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "thinking", thinking: "", signature: "" },
      },
      json(0, { type: "thinking_delta", thinking: "hm" }),
      json(0, { type: "signature_delta", signature: "sig" }),
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      json(1, { type: "text_delta", text: "Hello" }),
      { type: "content_block_stop", index: 1 },
      {
        type: "content_block_start",
        index: 2,
        content_block: { type: "tool_use", id: "c1", name: "read", input: {} },
      },
      json(2, { type: "input_json_delta", partial_json: "" }),
      json(2, { type: "input_json_delta", partial_json: '{"pat' }),
      json(2, { type: "input_json_delta", partial_json: 'h":"a' }),
      json(2, { type: "input_json_delta", partial_json: '"}' }),
      { type: "content_block_stop", index: 2 },
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: { output_tokens: 20 },
      },
      { type: "message_stop" },
    ]);
  });

  it("speaks Chat Completions", () => {
    const events = eventsOf(VENDORS.openai_chat.render) as {
      readonly choices: readonly { readonly delta: unknown }[];
    }[];
    expect(events.slice(0, -3).map((event) => event.choices[0]?.delta)).toEqual([
      { role: "assistant", content: null, refusal: null },
      { reasoning_content: "hm" },
      { content: "Hello" },
      { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"pat' } }] },
      { tool_calls: [{ index: 0, function: { arguments: 'h":"a' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '"}' } }] },
    ]);
    expect(events.slice(-3)).toEqual([
      expect.objectContaining({
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: "tool_calls" }],
        usage: null,
      }),
      expect.objectContaining({
        object: "chat.completion.chunk",
        choices: [],
        usage: expect.objectContaining({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }),
      }),
      "[DONE]",
    ]);
  });

  it("speaks Responses with numbers in sequence and a whole response at the end", () => {
    const events = eventsOf(VENDORS.openai_responses.render) as {
      readonly type: string;
      readonly sequence_number: number;
    }[];
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
    expect([...new Set(events.map((event) => event.type))]).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.completed",
    ]);
    expect(events.at(-1)).toMatchObject({
      response: {
        status: "completed",
        output: [
          {
            id: "rs_1_0",
            type: "reasoning",
            summary: [{ type: "summary_text", text: "hm" }],
            encrypted_content: "sig",
          },
          {
            id: "msg_1_1",
            type: "message",
            role: "assistant",
            content: [{ type: "output_text", text: "Hello" }],
          },
          { id: "fc_1_2", type: "function_call", call_id: "c1", name: "read", arguments: '{"path":"a"}' },
        ],
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 60 },
          output_tokens: 20,
          total_tokens: 120,
        },
      },
    });
  });

  it("speaks generateContent", () => {
    const events = eventsOf(VENDORS.google.render) as {
      readonly candidates: readonly { readonly content: object }[];
    }[];
    expect(events.map((event) => event.candidates[0]?.content)).toEqual([
      { role: "model", parts: [{ text: "hm", thought: true }] },
      { role: "model", parts: [{ text: "Hello", thoughtSignature: "sig" }] },
      { role: "model", parts: [{ functionCall: { id: "c1", name: "read", args: { path: "a" } } }] },
      { role: "model", parts: [{ text: "" }] },
    ]);
    expect(events.at(-1)).toEqual({
      candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: 100,
        candidatesTokenCount: 16,
        totalTokenCount: 120,
        cachedContentTokenCount: 60,
        thoughtsTokenCount: 4,
      },
      modelVersion: "m",
      responseId: "response-1",
    });
  });
});
