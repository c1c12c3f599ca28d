// The streams are written by hand from OpenAI's documentation of the streaming events; none was recorded.
import { describe, expect, it } from "vitest";
import { replayBody, sseBody } from "../../../test/replay-stream.ts";
import type { FinishReason } from "../../core/model/model.ts";
import { openAiResponses } from "./responses-wire.ts";

type Event = { readonly type: string; readonly [key: string]: unknown };

function decode(...events: readonly Event[]): ReturnType<typeof replayBody> {
  return replayBody(openAiResponses, sseBody(...events));
}

const started: Event = { type: "response.created", response: { id: "resp_1", status: "in_progress" } };
const completed: Event = {
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output: [] },
};
const call = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "read",
  arguments: '{"path":"a"}',
};

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
    expect(decode(started, incomplete(raw)).finish.finishReason).toEqual({ unified, raw });
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
