// The streams are written by hand from OpenAI's documentation of the streaming events; none was recorded.
import { describe, expect, it } from "vitest";
import { replayBody } from "../../../test/replay-stream.ts";
import { openAiResponses } from "./responses-wire.ts";

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

  it("keeps items of the provider's own, and skips events nobody asked for", () => {
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
      [
        { type: "text", text: "", provider_data: { openai_responses: { item: other } } },
        { type: "text", text: "hi" },
      ],
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

it("takes a call of a tool of plain text as any other that cannot be run", () => {
  const item = { id: "ctc_1", type: "custom_tool_call", call_id: "call_9", name: "sql", input: "" };
  const { message, finish } = decode(
    started,
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.custom_tool_call_input.delta", output_index: 0, item_id: "ctc_1", delta: "SELECT 1" },
    { type: "response.output_item.done", output_index: 0, item: { ...item, input: "SELECT 1" } },
    completed,
  );
  expect(message.content).toEqual([
    {
      type: "tool_use",
      id: "call_9",
      name: "sql",
      input: {},
      invalid_input: { reason: "malformed", raw: "SELECT 1" },
    },
  ]);
  expect(finish.finishReason.unified).toBe("tool_use");
});
