// The streams are written by hand from the vendors' documentation and published traces; none was recorded.
import { describe, expect, it } from "vitest";
import { replayBody, sseBody } from "../../../test/replay-stream.ts";
import type { FinishReason } from "../../core/model/model.ts";
import { openAiChat } from "./chat-wire.ts";

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m-1-2025" };

function chunk(delta: unknown, finish: string | null = null, more: object = {}): object {
  return { ...head, choices: [{ index: 0, delta, finish_reason: finish }], ...more };
}

function decode(...events: readonly unknown[]): ReturnType<typeof replayBody> {
  return replayBody(openAiChat, sseBody(...events));
}

const openAi = sseBody(
  chunk({ role: "assistant", content: "", refusal: null }),
  chunk({ content: "Let me " }),
  chunk({ content: 'lo"o\nk é' }),
  chunk({
    tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "read", arguments: "" } }],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"pa' } }] }),
  chunk({
    tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "list", arguments: "" } }],
  }),
  chunk({ tool_calls: [{ index: 1, function: { arguments: "{}" } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: 'th":"a"}' } }] }),
  chunk({}, "tool_calls"),
  {
    ...head,
    choices: [],
    usage: {
      prompt_tokens: 20,
      completion_tokens: 9,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 16 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
  },
  "[DONE]",
);

const openAiMessage = {
  role: "assistant",
  content: [
    { type: "text", text: 'Let me lo"o\nk é' },
    { type: "tool_use", id: "call_a", name: "read", input: { path: "a" } },
    { type: "tool_use", id: "call_b", name: "list", input: {} },
  ],
};

describe("a documented answer", () => {
  it("becomes text, two interleaved calls, usage and a finish reason", () => {
    const { message, finish, parts } = replayBody(openAiChat, openAi);
    expect(message).toEqual(openAiMessage);
    expect(finish).toEqual({
      type: "finish",
      finishReason: { unified: "tool_use", raw: "tool_calls" },
      usage: {
        inputTokens: 20,
        outputTokens: 9,
        cacheReadTokens: 16,
        reasoningTokens: 4,
        raw: expect.objectContaining({ total_tokens: 29 }),
      },
      model: "m-1-2025",
      responseId: "chatcmpl-1",
    });
    expect(parts.slice(0, 5)).toEqual([
      { type: "text_delta", index: 0, text: "Let me " },
      { type: "text_delta", index: 0, text: 'lo"o\nk é' },
      { type: "tool_call_start", index: 1, id: "call_a", name: "read" },
      { type: "tool_call_delta", index: 1, json: '{"pa' },
      { type: "tool_call_start", index: 2, id: "call_b", name: "list" },
    ]);
  });

  it("is the same wherever the body is cut", () => {
    for (let cut = 0; cut <= openAi.length; cut++) {
      expect(replayBody(openAiChat, openAi, [cut]).message).toEqual(openAiMessage);
    }
  });

  it("does not need [DONE]", () => {
    expect(replayBody(openAiChat, openAi.replace("data: [DONE]\n\n", "")).message).toEqual(openAiMessage);
  });

  it("may be full of nulls and empty lists", () => {
    const nulls = {
      role: null,
      content: null,
      tool_calls: null,
      function_call: null,
      refusal: null,
      reasoning: null,
    };
    const { message } = decode(
      { ...head, choices: [], usage: null, prompt_filter_results: [] },
      { ...head, choices: null },
      { ...head, choices: [{ index: 0, delta: null, finish_reason: null, logprobs: null }] },
      chunk({ ...nulls, tool_calls: [] }, null, { usage: null, error: null }),
      chunk({ ...nulls, content: "hi" }),
      chunk({ ...nulls, content: " you" }),
      chunk(nulls, "stop"),
    );
    expect(message.content).toEqual([{ type: "text", text: "hi you" }]);
  });

  it("may change its padding with every event", () => {
    const words = ["a", "b", '"', "d", "\\", "\u2028"];
    const events = words.map((content, at) => chunk({ content }, null, { obfuscation: "x".repeat(at) }));
    expect(decode(...events, chunk({}, "stop")).message.content).toEqual([
      { type: "text", text: words.join("") },
    ]);
  });

  it("may come whole in one event", () => {
    const message = { role: "assistant", content: "hi" };
    expect(
      decode({ ...head, choices: [{ index: 0, message, finish_reason: "stop" }] }).message.content,
    ).toEqual([{ type: "text", text: "hi" }]);
  });

  it("is the first choice alone", () => {
    const second = { ...head, choices: [{ index: 1, delta: { content: "no" } }] };
    expect(decode(chunk({ content: "yes" }), second, chunk({}, "stop")).message.content).toEqual([
      { type: "text", text: "yes" },
    ]);
  });
});

describe("finish reason", () => {
  const callDelta = { tool_calls: [{ index: 0, id: "c", function: { name: "read", arguments: "{}" } }] };

  it.each<[string, FinishReason["unified"]]>([
    ["stop", "stop"],
    ["eos", "stop"],
    ["end_turn", "stop"],
    ["length", "length"],
    ["model_length", "length"],
    ["model_context_window_exceeded", "length"],
    ["content_filter", "refusal"],
    ["sensitive", "refusal"],
    ["weather", "other"],
    ["tool_calls", "stop"],
  ])("%s under a text is %s", (raw, unified) => {
    expect(decode(chunk({ content: "x" }, raw)).finish.finishReason).toEqual({ unified, raw });
  });

  it.each<[string, FinishReason["unified"]]>([
    ["tool_calls", "tool_use"],
    ["function_call", "tool_use"],
    ["stop", "tool_use"],
    ["weather", "tool_use"],
    ["length", "length"],
  ])("%s under a tool call is %s", (raw, unified) => {
    expect(decode(chunk(callDelta, raw)).finish.finishReason).toEqual({ unified, raw });
  });

  it.each(["insufficient_system_resource", "network_error", "abort"])("%s asks for a repetition", (raw) => {
    expect(() => decode(chunk({ content: "x" }, raw))).toThrow(
      expect.objectContaining({ code: "provider_error", retryable: true }),
    );
  });

  it("is a refusal where the text came as one", () => {
    const { message, finish } = decode(
      chunk({ refusal: "I can" }),
      chunk({ refusal: "not." }),
      chunk({}, "stop"),
    );
    expect([message.content, finish.finishReason]).toEqual([
      [{ type: "text", text: "I cannot." }],
      { unified: "refusal", raw: "stop" },
    ]);
  });

  it("may be missing where the provider says that it is done", () => {
    expect(decode(chunk({ content: "x" }), "[DONE]").finish.finishReason).toEqual({
      unified: "stop",
      raw: "",
    });
  });

  it.each([
    ["nothing at all was said", ["[DONE]"]],
    ["the body just stops", [chunk({ content: "x" })]],
    [
      "a call is half written",
      [chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "a", arguments: "{" } }] }), "[DONE]"],
    ],
  ])("is required where %s", (_, events) => {
    expect(() => decode(...events)).toThrow(
      expect.objectContaining({ code: "invalid_response", retryable: true }),
    );
  });
});

describe("usage", () => {
  const plain = { inputTokens: 10, outputTokens: 3 };

  it.each([
    [
      "beside the last choice",
      chunk({}, "stop", { usage: { prompt_tokens: 10, completion_tokens: 3 } }),
      plain,
    ],
    [
      "in x_groq",
      chunk({}, "stop", { x_groq: { id: "r", usage: { prompt_tokens: 10, completion_tokens: 3 } } }),
      plain,
    ],
    [
      "in the choice, with cached_tokens beside it (Moonshot)",
      {
        choices: [
          {
            delta: {},
            finish_reason: "stop",
            usage: { prompt_tokens: 10, completion_tokens: 3, cached_tokens: 4 },
          },
        ],
      },
      { ...plain, cacheReadTokens: 4 },
    ],
    [
      "with prompt_cache_hit_tokens (DeepSeek)",
      chunk({}, "stop", {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 3,
          prompt_cache_hit_tokens: 8,
          prompt_cache_miss_tokens: 2,
        },
      }),
      { ...plain, cacheReadTokens: 8 },
    ],
    [
      "with cache writes (DashScope)",
      chunk({}, "stop", {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 3,
          prompt_tokens_details: { cached_tokens: 1, cache_creation_input_tokens: 6 },
        },
      }),
      { ...plain, cacheReadTokens: 1, cacheWriteTokens: 6 },
    ],
    [
      "with reasoning counted apart (xAI)",
      chunk({}, "stop", {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 3,
          total_tokens: 18,
          completion_tokens_details: { reasoning_tokens: 5 },
        },
      }),
      { inputTokens: 10, outputTokens: 8, reasoningTokens: 5 },
    ],
    [
      "with nulls for details",
      chunk({}, "stop", {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 3,
          prompt_tokens_details: null,
          completion_tokens_details: null,
        },
      }),
      plain,
    ],
  ])("is read %s", (_, last, expected) => {
    const { raw: __, ...usage } = decode(chunk({ content: "x" }), last, "[DONE]").finish.usage;
    expect(usage).toEqual(expected);
  });

  it("is the newest where every event has one", () => {
    const events = [1, 2].map((n) =>
      chunk({ content: "x" }, null, { usage: { prompt_tokens: 10, completion_tokens: n } }),
    );
    const { usage } = decode(...events, chunk({}, "stop")).finish;
    expect([usage.inputTokens, usage.outputTokens]).toEqual([10, 2]);
  });

  it("is zero without raw where none was reported", () => {
    expect(decode(chunk({ content: "x" }, "stop")).finish.usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});

describe("an error inside the stream", () => {
  it.each([
    [
      "OpenAI",
      { error: { message: "Too long.", type: "invalid_request_error", code: "context_length_exceeded" } },
      "context_overflow",
      false,
    ],
    [
      "OpenAI quota",
      { error: { message: "Out.", type: "insufficient_quota", code: "insufficient_quota" } },
      "rate_limit",
      false,
    ],
    [
      "OpenAI server",
      { error: { message: "Oops.", type: "server_error", code: null } },
      "provider_error",
      true,
    ],
    [
      "OpenRouter",
      {
        id: "g",
        choices: [{ index: 0, delta: {}, finish_reason: "error" }],
        error: { code: 429, message: "Slow down" },
      },
      "rate_limit",
      true,
    ],
    ["vLLM", { object: "error", message: "bad", type: "BadRequestError", code: 400 }, "bad_request", false],
    ["DashScope", { code: "InternalError", message: "boom", request_id: "r" }, "provider_error", true],
    ["a text", { error: "overloaded" }, "provider_error", true],
  ])("of %s is thrown with its words", (_, event, code, retryable) => {
    expect(() => decode(chunk({ content: "x" }), event)).toThrow(
      expect.objectContaining({ code, retryable }),
    );
  });

  it("may be named by its event alone", () => {
    const body = 'event: error\ndata: {"message":"gone wrong"}\n\n';
    expect(() => replayBody(openAiChat, body)).toThrow(/acme failed: gone wrong/);
  });

  it.each(["<html>", "{", "1", "[]"])("is thrown for %s, which is not an event of the protocol", (data) => {
    expect(() => replayBody(openAiChat, `data: ${data}\n\n`)).toThrow(
      expect.objectContaining({ code: "invalid_response", retryable: true }),
    );
  });
});

describe("the cost that a vendor reports", () => {
  const usage = { prompt_tokens: 194, completion_tokens: 2, total_tokens: 196, cost: 0.95 };
  it.each([
    ["OpenRouter", "openrouter", usage, 0.95],
    [
      "OpenRouter with a key of one's own",
      "openrouter",
      { ...usage, cost: 0.25, is_byok: true, cost_details: { upstream_inference_cost: 0.5 } },
      0.75,
    ],
    [
      "OpenRouter, which repeats it beside",
      "openrouter",
      { ...usage, is_byok: false, cost_details: { upstream_inference_cost: 0.95 } },
      0.95,
    ],
    ["a server whose currency nobody knows", "custom", usage, undefined],
    ["OpenRouter that reports none", "openrouter", { ...usage, cost: null }, undefined],
  ])("is taken from %s", (_, provider, reported, costUsd) => {
    const body = sseBody(chunk({ content: "hi" }), chunk({}, "stop", { usage: reported }));
    expect(replayBody(openAiChat, body, [], { provider }).finish.costUsd).toBe(costUsd);
  });
});
