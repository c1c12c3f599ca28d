import { describe, expect, it } from "vitest";
import { answerError, parseErrorBody, redact } from "./provider-errors.ts";
import type { WireTarget } from "./wire.ts";

const target: WireTarget = {
  provider: "acme",
  modelId: "m-1",
  baseUrl: "https://api.acme.test/v1",
  apiKey: "key-of-mine",
};

function error(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ReturnType<typeof answerError> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return answerError({ status, headers, body: text, target }, Date.UTC(2026, 0, 1));
}

describe("providerWords", () => {
  it.each<readonly [string, unknown, object]>([
    [
      "OpenAI",
      { error: { message: "No", type: "invalid_request_error", param: "tools", code: "bad" } },
      { message: "No", type: "invalid_request_error", param: "tools", code: "bad" },
    ],
    [
      "Anthropic",
      { type: "error", error: { type: "overloaded_error", message: "Overloaded" }, request_id: "req" },
      { message: "Overloaded", type: "overloaded_error", requestId: "req" },
    ],
    [
      "Google",
      [
        {
          error: {
            code: 429,
            message: "Slow",
            status: "RESOURCE_EXHAUSTED",
            details: [{ "@type": "x" }, { retryDelay: "1.5s" }],
          },
        },
      ],
      {
        message: "Slow",
        type: "RESOURCE_EXHAUSTED",
        code: "429",
        details: '[{"@type":"x"},{"retryDelay":"1.5s"}]',
        retryAfterMs: 1_500,
      },
    ],
    [
      "Mistral",
      { object: "error", message: "No", type: "x", code: 3051 },
      { message: "No", type: "x", code: "3051" },
    ],
    ["Ollama", { error: "model 'x' not found" }, { message: "model 'x' not found" }],
    [
      "xAI",
      { code: "invalid-argument", error: "Bad model" },
      { message: "Bad model", code: "invalid-argument" },
    ],
    [
      "DashScope",
      { code: "Throttling", message: "Slow", request_id: "r" },
      { message: "Slow", code: "Throttling", requestId: "r" },
    ],
    [
      "FastAPI",
      { detail: [{ loc: ["body"], msg: "missing" }] },
      { message: '[{"loc":["body"],"msg":"missing"}]' },
    ],
    [
      "OpenRouter",
      { error: { code: 502, message: "Provider returned error", metadata: { raw: "upstream is down" } } },
      { message: "Provider returned error upstream is down", code: "502" },
    ],
    ["a text", "just words", {}],
    ["a JSON text", '"just words"', { message: "just words" }],
    ["an answer without an error", { ok: true }, {}],
  ])("reads the words of %s", (_name, body, words) => {
    expect(parseErrorBody(typeof body === "string" ? body : JSON.stringify(body))).toEqual(words);
  });
});

describe("answerError", () => {
  const openai = (message: string, code?: string): object => ({ error: { message, code } });

  it.each<readonly [number, unknown, string, boolean]>([
    [400, openai("No"), "bad_request", false],
    [400, openai("Too long", "context_length_exceeded"), "context_overflow", false],
    [400, openai("This model's maximum context length is 8192 tokens."), "context_overflow", false],
    [400, openai("prompt is too long: 200001 tokens > 200000 maximum"), "context_overflow", false],
    [
      400,
      openai("The input token count (9) exceeds the maximum number of tokens allowed (8)."),
      "context_overflow",
      false,
    ],
    [400, openai("the request exceeds the available context size"), "context_overflow", false],
    [400, openai("max_tokens is too large: 9"), "bad_request", false],
    [401, openai("Who?"), "authentication", false],
    [402, openai("Insufficient Balance"), "rate_limit", false],
    [403, openai("No"), "authentication", false],
    [404, openai("The model `m-1` does not exist", "model_not_found"), "unknown_model", false],
    [404, "<html>Not found</html>", "bad_request", false],
    [408, "", "timeout", true],
    [409, openai("Conflict"), "provider_error", true],
    [413, openai("Request exceeds the maximum size"), "context_overflow", false],
    [422, openai("Unprocessable"), "bad_request", false],
    [429, openai("Slow"), "rate_limit", true],
    [429, openai("Used up", "insufficient_quota"), "rate_limit", false],
    [500, openai("Oops"), "provider_error", true],
    [501, openai("Never"), "provider_error", false],
    [503, "", "provider_error", true],
    [529, openai("Overloaded"), "provider_error", true],
    [200, { error: { code: 429, message: "Slow" } }, "rate_limit", true],
    [200, { error: { type: "overloaded_error", message: "Busy" } }, "provider_error", true],
  ])("HTTP %i with %j is %s (retryable: %s)", (status, body, code, retryable) => {
    const { code: actual, retryable: repeat } = error(status, body);
    expect([actual, repeat]).toEqual([code, retryable]);
  });

  it("says who, what and what to do, with the provider's words and without a key", () => {
    const { message, details } = error(
      401,
      {
        error: {
          message: "Incorrect API key provided: key-of-mine",
          type: "invalid_request_error",
          code: "invalid_api_key",
        },
      },
      { "x-request-id": "req-1" },
    );
    expect({ message, details }).toEqual({
      message:
        "acme refused the credentials (HTTP 401, invalid_request_error): Incorrect API key provided: [key]. Check the API key for acme, and that it may use this model.",
      details: {
        provider: "acme",
        model: "m-1",
        status: 401,
        type: "invalid_request_error",
        code: "invalid_api_key",
        requestId: "req-1",
      },
    });
  });

  it("shows the text of a page, and names the base URL where nothing is found", () => {
    expect(error(404, "<html><style>p{}</style><h1>404</h1><p>Not  here</p></html>").message).toBe(
      "acme does not know this address (HTTP 404): 404 Not here. Check the base URL https://api.acme.test/v1: it must be the address of the API, with the version path where it has one.",
    );
  });

  it.each<readonly [Record<string, string>, unknown, number | undefined]>([
    [{ "retry-after": "7" }, "", 7_000],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, "", 30_000],
    [{ "retry-after-ms": "1234.5", "retry-after": "7" }, "", 1_235],
    [{ "retry-after": "-5" }, "", undefined],
    [{ "retry-after": "soon" }, "", undefined],
    [{}, { error: { message: "x", details: [{ retryDelay: "34s" }] } }, 34_000],
  ])("reads the wait in %j and %j as %s", (headers, body, ms) => {
    expect(error(429, body, headers).details["retryAfterMs"]).toBe(ms);
  });

  it("believes the provider's own word on repeating", () => {
    expect(error(500, "", { "x-should-retry": "false" }).retryable).toBe(false);
    expect(error(400, "", { "x-should-retry": "true" }).retryable).toBe(true);
  });
});

describe("what is behind a failure", () => {
  it.each<readonly [number, string, string | undefined]>([
    [503, "Loading model", "model_loading"],
    [503, "Model Qwen/Qwen3-8B is currently loading", "model_loading"],
    [503, "The service is unavailable", undefined],
    [500, "Error while loading the plugin", undefined],
    [500, "Failed to parse input at pos 12: <tool_call>", "unreadable_output"],
    [
      500,
      "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]",
      "unreadable_output",
    ],
    [500, "Invalid diff: now finding less tool calls!", "unreadable_output"],
    [
      500,
      "The model produced output that does not match the expected peg-native format",
      "unreadable_output",
    ],
    [500, "error parsing tool call: raw='{\"a\"', err=unexpected end of JSON input", "unreadable_output"],
    [400, "Failed to call a function. Please adjust your prompt.", "unreadable_output"],
    [400, "Failed to parse tools: unknown keyword", undefined],
    [400, "Failed to parse the request body as JSON", undefined],
  ])("%i %s: %s", (status, message, reason) => {
    expect(error(status, { error: { message } }).details["reason"]).toBe(reason);
  });
});

describe("redact", () => {
  it.each([
    ["Bearer abcdefgh12345 was sent", "Bearer [key] was sent"],
    ["sk-ant-api03-abcdef_123 is wrong", "[key] is wrong"],
    ["/v1?key=AIzaSyabcdefghijklmnopqrstu&x=1", "/v1?key=[key]&x=1"],
    ["AIzaSyabcdefghijklmnopqrstuvw", "[key]"],
    ["gsk_abcdefghijkl and xai-abcdefghijkl", "[key] and [key]"],
    ["the task-oriented risk-averse model", "the task-oriented risk-averse model"],
  ])("makes of %s: %s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});
