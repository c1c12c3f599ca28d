// The streams are written by hand from OpenAI's documentation of the streaming events; none was recorded.
import { describe, expect, it } from "vitest";
import { replayBody } from "../../../test/replay-stream.ts";
import type { FinishReason } from "../../core/model/model.ts";
import { openAiResponses } from "./provider.ts";

type Event = { readonly type: string; readonly [key: string]: unknown };

function body(events: readonly Event[]): string {
  return events
    .map(
      (event, at) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`,
    )
    .join("");
}

function decode(...events: readonly Event[]): ReturnType<typeof replayBody> {
  return replayBody(openAiResponses, body(events));
}

const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 16 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
};
const started: Event = {
  type: "response.created",
  response: { id: "resp_1", model: "m-1-2025", status: "in_progress", output: [], usage: null },
};
const completed: Event = {
  type: "response.completed",
  response: { id: "resp_1", model: "m-1-2025", status: "completed", output: [], usage },
};

const reasoning = {
  id: "rs_1",
  type: "reasoning",
  summary: [
    { type: "summary_text", text: "**Plan** it" },
    { type: "summary_text", text: "Do it" },
  ],
  encrypted_content: "gAAA",
};
const said = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  phase: "commentary",
  content: [{ type: "output_text", text: 'Let me lo"ok é', annotations: [] }],
};
const call = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_1",
  name: "read",
  arguments: '{"path":"a"}',
};

const whole: readonly Event[] = [
  started,
  { type: "response.in_progress", response: {} },
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gA" },
  },
  {
    type: "response.reasoning_summary_part.added",
    item_id: "rs_1",
    output_index: 0,
    summary_index: 0,
    part: { type: "summary_text", text: "" },
  },
  {
    type: "response.reasoning_summary_text.delta",
    item_id: "rs_1",
    output_index: 0,
    summary_index: 0,
    delta: "**Plan** ",
  },
  {
    type: "response.reasoning_summary_text.delta",
    item_id: "rs_1",
    output_index: 0,
    summary_index: 0,
    delta: "it",
  },
  {
    type: "response.reasoning_summary_text.done",
    item_id: "rs_1",
    output_index: 0,
    summary_index: 0,
    text: "**Plan** it",
  },
  {
    type: "response.reasoning_summary_text.delta",
    item_id: "rs_1",
    output_index: 0,
    summary_index: 1,
    delta: "Do it",
  },
  { type: "response.output_item.done", output_index: 0, item: { ...reasoning, status: null } },
  {
    type: "response.output_item.added",
    output_index: 1,
    item: { ...said, status: "in_progress", content: [] },
  },
  {
    type: "response.content_part.added",
    item_id: "msg_1",
    output_index: 1,
    content_index: 0,
    part: { type: "output_text", text: "" },
  },
  {
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 1,
    content_index: 0,
    delta: "Let me ",
    logprobs: [],
    obfuscation: "abc",
  },
  {
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 1,
    content_index: 0,
    delta: 'lo"ok',
    logprobs: [],
    obfuscation: "",
  },
  {
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 1,
    content_index: 0,
    delta: " é",
    logprobs: [],
    obfuscation: "x",
  },
  { type: "response.output_text.annotation.added", item_id: "msg_1", output_index: 1, annotation: {} },
  {
    type: "response.output_text.done",
    item_id: "msg_1",
    output_index: 1,
    content_index: 0,
    text: 'Let me lo"ok é',
  },
  {
    type: "response.content_part.done",
    item_id: "msg_1",
    output_index: 1,
    content_index: 0,
    part: said.content[0],
  },
  { type: "response.output_item.done", output_index: 1, item: said },
  {
    type: "response.output_item.added",
    output_index: 2,
    item: { ...call, status: "in_progress", arguments: "" },
  },
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: '{"pa' },
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: 'th":"a"}' },
  {
    type: "response.function_call_arguments.done",
    item_id: "fc_1",
    output_index: 2,
    arguments: '{"path":"a"}',
  },
  { type: "response.output_item.done", output_index: 2, item: call },
  completed,
];

const message = {
  role: "assistant",
  content: [
    {
      type: "thinking",
      thinking: "**Plan** it\n\nDo it",
      provider_data: { openai_responses: { item: reasoning } },
    },
    { type: "text", text: 'Let me lo"ok é', provider_data: { openai_responses: { phase: "commentary" } } },
    { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } },
  ],
};

describe("a documented answer", () => {
  it("becomes reasoning, text, a call, usage and a finish reason", () => {
    const answer = decode(...whole);
    expect(answer.message).toEqual(message);
    expect(answer.finish).toEqual({
      type: "finish",
      finishReason: { unified: "tool_use", raw: "completed" },
      usage: { inputTokens: 20, outputTokens: 9, cacheReadTokens: 16, reasoningTokens: 4, raw: usage },
      model: "m-1-2025",
      responseId: "resp_1",
    });
  });

  it("streams every piece once", () => {
    const shown = decode(...whole).parts.map((part) =>
      part.type === "text_delta" || part.type === "thinking_delta"
        ? part.text
        : part.type === "tool_call_delta"
          ? part.json
          : part.type,
    );
    expect(shown).toEqual([
      "**Plan** ",
      "it",
      "\n\n",
      "Do it",
      "block",
      "Let me ",
      'lo"ok',
      " é",
      "block",
      "tool_call_start",
      '{"pa',
      'th":"a"}',
      "block",
      "finish",
    ]);
  });

  it("is the same wherever the body is cut", () => {
    const text = body(whole);
    for (let cut = 0; cut <= text.length; cut += 1) {
      expect(replayBody(openAiResponses, text, [cut]).message).toEqual(message);
    }
  });

  it.each([
    [
      "the list at its end",
      [{ ...completed, response: { status: "completed", output: [reasoning, said, call] } }],
    ],
    [
      "items that are done",
      [
        ...[reasoning, said, call].map((item, output_index) => ({
          type: "response.output_item.done",
          output_index,
          item,
        })),
        completed,
      ],
    ],
    [
      "items without positions",
      [...[reasoning, said, call].map((item) => ({ type: "response.output_item.done", item })), completed],
    ],
    ["events without positions", whole.map(({ output_index: _, ...event }) => event as Event)],
    [
      "events that all have position 0",
      whole.map((event) => ("output_index" in event ? { ...event, output_index: 0 } : event)),
    ],
    [
      "events whose ids change",
      whole.map((event, at) => ("item_id" in event ? { ...event, item_id: `x${at}` } : event)),
    ],
    [
      "everything, and the list once more",
      [
        ...whole.slice(0, -1),
        { ...completed, response: { status: "completed", output: [reasoning, said, call] } },
      ],
    ],
  ] as [string, Event[]][])("is complete from %s", (_, events) => {
    expect(decode(...events).message).toEqual(message);
  });

  it("takes the name of an event from the data or from the event", () => {
    const unnamed = whole.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const untyped = whole
      .map(({ type, ...event }) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join("");
    expect(replayBody(openAiResponses, unnamed).message).toEqual(message);
    expect(replayBody(openAiResponses, `${untyped}data: [DONE]\n\n`).message).toEqual(message);
  });

  it("skips events and items nobody asked for", () => {
    const other = { type: "web_search_call", id: "ws_1", status: "completed" };
    const answer = decode(
      started,
      { type: "response.output_item.added", output_index: 0, item: other },
      { type: "response.web_search_call.searching", output_index: 0, item_id: "ws_1" },
      { type: "response.output_item.done", output_index: 0, item: other },
      { type: "response.brand_new.delta", output_index: 0, delta: "?" },
      { type: "response.output_text.done", output_index: 1, item_id: "m", content_index: 0, text: "hi" },
      completed,
    );
    expect([answer.message.content, answer.finish.finishReason.unified]).toEqual([
      [{ type: "text", text: "hi" }],
      "stop",
    ]);
  });

  it("may hold open reasoning (local servers)", () => {
    const item = {
      type: "reasoning",
      id: "rs",
      summary: [],
      content: [{ type: "reasoning_text", text: "hm" }],
    };
    const answer = decode(
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.reasoning_text.delta", output_index: 0, item_id: "rs", content_index: 0, delta: "h" },
      { type: "response.reasoning_text.delta", output_index: 0, item_id: "rs", content_index: 0, delta: "m" },
      { type: "response.output_item.done", output_index: 0, item },
      completed,
    );
    expect(answer.message.content).toEqual([
      { type: "thinking", thinking: "hm", provider_data: { openai_responses: { item } } },
    ]);
  });
});

describe("the end of an answer", () => {
  const half: readonly Event[] = [
    { type: "response.output_item.added", output_index: 0, item: { ...call, arguments: "" } },
    { type: "response.function_call_arguments.delta", output_index: 0, item_id: "fc_1", delta: '{"path":"a' },
  ];
  const incomplete = (reason: string): Event => ({
    type: "response.incomplete",
    response: { status: "incomplete", incomplete_details: { reason } },
  });

  it.each<[string, FinishReason["unified"]]>([
    ["max_output_tokens", "length"],
    ["content_filter", "refusal"],
    ["weather", "other"],
  ])("that is incomplete for %s is %s", (raw, unified) => {
    expect(decode(...whole.slice(0, -1), incomplete(raw)).finish.finishReason).toEqual({ unified, raw });
  });

  it("says of a cut call that it is cut", () => {
    expect(decode(...half, incomplete("max_output_tokens")).message.content).toEqual([
      {
        type: "tool_use",
        id: "call_1",
        name: "read",
        input: {},
        invalid_input: { reason: "truncated", raw: '{"path":"a' },
      },
    ]);
  });

  it("is a refusal where the message is one", () => {
    const item = { type: "message", id: "m", content: [{ type: "refusal", refusal: "No." }] };
    const answer = decode(
      { type: "response.refusal.delta", output_index: 0, item_id: "m", content_index: 0, delta: "No" },
      { type: "response.refusal.done", output_index: 0, item_id: "m", content_index: 0, refusal: "No." },
      { type: "response.output_item.done", output_index: 0, item },
      completed,
    );
    expect([answer.message.content, answer.finish.finishReason]).toEqual([
      [{ type: "text", text: "No." }],
      { unified: "refusal", raw: "completed" },
    ]);
  });

  it("has to be said", () => {
    expect(() => decode(...half)).toThrow(
      expect.objectContaining({ code: "invalid_response", retryable: true }),
    );
  });

  it.each([
    ["server_error", "provider_error", true],
    ["rate_limit_exceeded", "rate_limit", true],
    ["context_length_exceeded", "context_overflow", false],
    ["insufficient_quota", "rate_limit", false],
    ["invalid_prompt", "bad_request", false],
    ["image_too_large", "bad_request", false],
  ])("that failed with %s is thrown as %s", (word, code, retryable) => {
    const failed = {
      type: "response.failed",
      response: { status: "failed", error: { code: word, message: "No." } },
    };
    expect(() => decode(started, failed)).toThrow(expect.objectContaining({ code, retryable }));
    const event = { type: "error", code: word, message: "No.", param: null };
    if (!word.startsWith("image"))
      expect(() => decode(started, event)).toThrow(expect.objectContaining({ code, retryable }));
  });

  it("may be an error in the shape of the HTTP API", () => {
    const error = {
      type: "error",
      error: { type: "invalid_request_error", code: "model_not_found", message: "No model m-1." },
    };
    expect(() => decode(error)).toThrow(expect.objectContaining({ code: "unknown_model", retryable: false }));
  });
});

describe("an answer that is not 2xx", () => {
  it.each([
    [401, { code: "invalid_api_key" }, "authentication", false],
    [404, { code: "model_not_found", message: "The model `m-1` does not exist" }, "unknown_model", false],
    [400, { code: "context_length_exceeded" }, "context_overflow", false],
    [429, { code: "insufficient_quota", type: "insufficient_quota" }, "rate_limit", false],
    [429, { code: "rate_limit_exceeded" }, "rate_limit", true],
    [503, { message: "busy" }, "provider_error", true],
  ])("%i %j is %s", (status, error, code, retryable) => {
    const target = { provider: "openai", modelId: "m-1", baseUrl: "https://api.example/v1" };
    const answer = {
      status,
      headers: {},
      body: JSON.stringify({ error: { message: "No.", ...error } }),
      target,
    };
    expect(openAiResponses.toError(answer)).toMatchObject({ code, retryable });
  });
});
