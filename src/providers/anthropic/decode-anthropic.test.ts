import { readFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StreamPart } from "../../core/model/model.ts";
import { createSseParser } from "../server-events.ts";
import { AnthropicDecoder } from "./anthropic-wire.ts";

const target = {
  provider: "anthropic",
  modelId: "claude-sonnet-5",
  baseUrl: "https://api.anthropic.com/v1",
  apiKey: "secret-key",
};
/** Made by hand from the API's documentation of its stream. */
const recorded = readFileSync(new URL("fixtures/thinking-text-tools.sse", import.meta.url));

function decodePieces(pieces: readonly string[]): readonly StreamPart[] {
  const parts: StreamPart[] = [];
  const decoder = new AnthropicDecoder((part) => parts.push(part), target);
  const parser = createSseParser((event, data) => decoder.event(event, data));
  for (const piece of pieces) parser.push(piece);
  parser.end();
  decoder.end();
  return parts;
}

function decode(...events: readonly object[]): readonly StreamPart[] {
  return decodePieces(events.map((event) => `data: ${JSON.stringify(event)}\n\n`));
}

const start = {
  type: "message_start",
  message: { id: "m", model: "x", usage: { input_tokens: 5, output_tokens: 1 } },
};
const stop = { type: "message_stop" };
const stopped = (stop_reason: string | null, output_tokens = 7): object => ({
  type: "message_delta",
  delta: { stop_reason },
  usage: { output_tokens },
});
const call = (json: readonly string[], input: object = {}): readonly object[] => [
  { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "f", input } },
  ...json.map((partial_json) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "input_json_delta", partial_json },
  })),
  { type: "content_block_stop", index: 0 },
];

const expectedParts: readonly StreamPart[] = [
  { type: "thinking_delta", index: 0, text: "Two cities: Zürich " },
  { type: "thinking_delta", index: 0, text: "and 東京 🗼." },
  {
    type: "block",
    index: 0,
    block: { type: "thinking", thinking: "Two cities: Zürich and 東京 🗼.", signature: "EqQBCkYIARgC" },
  },
  { type: "block", index: 1, block: { type: "thinking", thinking: "", redacted: "EmwKAhgB" } },
  { type: "text_delta", index: 2, text: "I look at Zürich" },
  { type: "text_delta", index: 2, text: ' and "東京" 🗼' },
  { type: "tool_call_start", index: 3, id: "toolu_01", name: "weather" },
  { type: "tool_call_delta", index: 3, json: '{"city": "Zür' },
  { type: "tool_call_delta", index: 3, json: 'ich"}' },
  {
    type: "block",
    index: 3,
    block: { type: "tool_use", id: "toolu_01", name: "weather", input: { city: "Zürich" } },
  },
  { type: "tool_call_start", index: 4, id: "toolu_02", name: "now" },
  { type: "block", index: 4, block: { type: "tool_use", id: "toolu_02", name: "now", input: {} } },
  {
    type: "finish",
    finishReason: { unified: "tool_use", raw: "tool_use" },
    model: "claude-sonnet-5",
    responseId: "msg_01",
    usage: {
      inputTokens: 242,
      outputTokens: 89,
      cacheReadTokens: 200,
      cacheWriteTokens: 30,
      cacheWrite1hTokens: 10,
      raw: {
        input_tokens: 12,
        cache_creation_input_tokens: 30,
        cache_read_input_tokens: 200,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
        output_tokens: 89,
        service_tier: "standard",
      },
    },
  },
];

describe("the stream of the Messages API", () => {
  it("becomes parts: thinking with its signature, text, calls with and without arguments, usage in full", () => {
    expect(decodePieces([recorded.toString()])).toEqual(expectedParts);
  });

  it("gives the same parts wherever it is cut in two", () => {
    for (let at = 0; at <= recorded.length; at++) {
      const decoder = new StringDecoder("utf8");
      const pieces = [
        decoder.write(recorded.subarray(0, at)),
        decoder.write(recorded.subarray(at)),
        decoder.end(),
      ];
      expect(decodePieces(pieces)).toEqual(expectedParts);
    }
  });

  it("gives the same parts byte by byte and with any line ends", () => {
    const decoder = new StringDecoder("utf8");
    const bytes = [...Buffer.from(recorded.toString().replaceAll("\n", "\r\n"))].map((byte) =>
      decoder.write(Buffer.of(byte)),
    );
    expect(decodePieces(bytes)).toEqual(expectedParts);
  });

  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["tool_use", "tool_use"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["pause_turn", "pause"],
    ["compaction", "pause"],
    ["refusal", "refusal"],
    ["something_new", "other"],
    ["constructor", "other"],
  ])("reads the stop reason %s as %s", (raw, unified) => {
    expect(decode(start, stopped(raw), stop)).toEqual([
      {
        type: "finish",
        finishReason: { unified, raw },
        model: "x",
        responseId: "m",
        usage: { inputTokens: 5, outputTokens: 7, raw: { input_tokens: 5, output_tokens: 7 } },
      },
    ]);
  });

  it("takes later usage for totals and does not believe zeros that follow figures", () => {
    const late = {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 0, output_tokens: 9 },
    };
    expect(decode(start, stopped(null, 4), late, stop).at(-1)).toMatchObject({
      usage: { inputTokens: 5, outputTokens: 9 },
    });
  });

  it.each<
    readonly [
      string,
      { readonly json?: readonly string[]; readonly input?: object; readonly reason: string },
      object,
    ]
  >([
    [
      "cut by the output limit",
      { json: ['{"a": [1'], reason: "max_tokens" },
      { input: {}, invalid_input: { reason: "truncated", raw: '{"a": [1' } },
    ],
    [
      "cut before its first argument",
      { reason: "max_tokens" },
      { input: {}, invalid_input: { reason: "truncated", raw: "" } },
    ],
    [
      "written wrongly",
      { json: ['{"a" 1}'], reason: "tool_use" },
      { input: {}, invalid_input: { reason: "malformed", raw: '{"a" 1}' } },
    ],
    [
      "complete although the answer was cut later",
      { json: ['{"a":1}'], reason: "max_tokens" },
      { input: { a: 1 } },
    ],
    ["handed over whole at its start", { input: { a: 1 }, reason: "tool_use" }, { input: { a: 1 } }],
  ])("reads a call that is %s", (_name, { json = [], input = {}, reason }, expected) => {
    const parts = decode(start, ...call(json, input), stopped(reason), stop);
    expect(parts.filter((part) => part.type === "block")).toEqual([
      { type: "block", index: 0, block: { type: "tool_use", id: "t", name: "f", ...expected } },
    ]);
  });

  it("keeps blocks it has no name for, to be sent back as they came", () => {
    const block = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
    const parts = decode(
      start,
      { type: "content_block_start", index: 0, content_block: block },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: '{"query":"x"}' },
      },
      { type: "content_block_stop", index: 0 },
      stopped("pause_turn"),
      stop,
    );
    expect(parts[0]).toEqual({
      type: "block",
      index: 0,
      block: {
        type: "text",
        text: "",
        provider_data: { anthropic: { block: { ...block, input: { query: "x" } } } },
      },
    });
  });

  it("keeps no search that the output limit cut off from its result", () => {
    const search = (index: number, id: string): readonly object[] => [
      {
        type: "content_block_start",
        index,
        content_block: { type: "server_tool_use", id, name: "web_search" },
      },
      { type: "content_block_stop", index },
    ];
    const found = { type: "web_search_tool_result", tool_use_id: "a", content: [] };
    const events = [
      start,
      ...search(0, "a"),
      { type: "content_block_start", index: 1, content_block: found },
      { type: "content_block_stop", index: 1 },
      ...search(2, "b"),
    ];
    const indexes = (reason: string): readonly number[] =>
      decode(...events, stopped(reason), stop).flatMap((part) => (part.type === "block" ? [part.index] : []));
    expect([indexes("max_tokens"), indexes("pause_turn")]).toEqual([
      [0, 1],
      [0, 1, 2],
    ]);
  });

  it("says why an answer was refused", () => {
    const delta = {
      stop_reason: "refusal",
      stop_details: { type: "refusal", category: "cyber", explanation: "No." },
    };
    expect(decode(start, { type: "message_delta", delta }, stop).at(-1)).toMatchObject({
      finishReason: { unified: "refusal", raw: "refusal", detail: "No." },
    });
  });

  it("throws when the answer broke off, inside a call too, and emits no half call", () => {
    const parts: StreamPart[] = [];
    const decoder = new AnthropicDecoder((part) => parts.push(part), target);
    for (const event of [start, ...call(['{"a":']).slice(0, 2)]) decoder.event("", JSON.stringify(event));
    expect(decoder.done()).toBe(false);
    expect(() => decoder.end()).toThrow(
      expect.objectContaining({ code: "invalid_response", retryable: true }),
    );
    expect(parts.filter((part) => part.type === "block")).toEqual([]);
  });

  it.each([
    ["overloaded_error", "provider_error", true],
    ["api_error", "provider_error", true],
    ["rate_limit_error", "rate_limit", true],
    ["authentication_error", "authentication", false],
    ["invalid_request_error", "bad_request", false],
  ])("throws for the event %s", (type, code, retryable) => {
    const event = { type: "error", error: { type, message: "No secret-key today" }, request_id: "req_1" };
    expect(() => decode(start, event)).toThrow(
      expect.objectContaining({
        code,
        retryable,
        message: expect.stringContaining("No [key] today."),
        details: { provider: "anthropic", model: "claude-sonnet-5", type, requestId: "req_1" },
      }),
    );
  });

  it("throws for an event that is not JSON", () => {
    expect(() => decodePieces(["data: {oops\n\n"])).toThrow(
      expect.objectContaining({ code: "invalid_response", retryable: true }),
    );
  });
});

describe("text deltas", () => {
  const delta = fc.record({
    index: fc.nat(3),
    delta: fc.oneof(
      fc.record({ type: fc.constant("text_delta"), text: fc.string({ unit: "grapheme" }) }),
      fc.record({ type: fc.constant("text_delta"), text: fc.string(), x: fc.constant("b") }),
      fc.record({ type: fc.constant("other_delta"), text: fc.string() }),
    ),
  });

  it("arrive whole in any order and with any padding, and nothing else is taken for one", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(delta, fc.nat(5))), (events) => {
        const data = events.map(
          ([event, pad]) =>
            `${JSON.stringify({ type: "content_block_delta", ...event }).slice(0, -1)}${" ".repeat(pad)}}`,
        );
        const parts = decodePieces(
          [...data, JSON.stringify(stopped("end_turn")), JSON.stringify(stop)].map(
            (each) => `data: ${each}\n\n`,
          ),
        );
        expect(parts.slice(0, -1)).toEqual(
          events.flatMap(
            ([
              {
                index,
                delta: { type, text },
              },
            ]) => (type === "text_delta" && text !== "" ? [{ type: "text_delta", index, text }] : []),
          ),
        );
      }),
    );
  });
});
