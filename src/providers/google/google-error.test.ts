import { describe, expect, it } from "vitest";
import type { NanoAgentError } from "../../core/base/errors.ts";
import { answerError } from "../provider-errors.ts";
import type { WireTarget } from "../wire.ts";

const target: WireTarget = {
  provider: "google",
  modelId: "gemini-9",
  baseUrl: "https://h/v1beta",
  apiKey: "AIzaSyVerySecretKey",
};

function errorOf(status: number, error: object, headers: { readonly [name: string]: string } = {}): unknown {
  return answerError({
    status,
    headers,
    body: JSON.stringify({ error: { code: status, ...error } }),
    target,
  });
}

const QUOTA = "type.googleapis.com/google.rpc.QuotaFailure";
const RETRY = "type.googleapis.com/google.rpc.RetryInfo";

describe("errors of Google", () => {
  it.each<[number, object, string, boolean]>([
    [400, { status: "INVALID_ARGUMENT", message: 'Unknown name "x".' }, "bad_request", false],
    [
      400,
      { status: "INVALID_ARGUMENT", message: "API key not valid.", details: [{ reason: "API_KEY_INVALID" }] },
      "authentication",
      false,
    ],
    [
      400,
      { status: "INVALID_ARGUMENT", message: "API Key not found. Please pass a valid API key." },
      "authentication",
      false,
    ],
    [
      400,
      {
        status: "INVALID_ARGUMENT",
        message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
      },
      "context_overflow",
      false,
    ],
    [
      400,
      { status: "INVALID_ARGUMENT", message: "Request payload size exceeds the limit: 20971520 bytes." },
      "context_overflow",
      false,
    ],
    [
      400,
      { status: "FAILED_PRECONDITION", message: "User location is not supported for the API use." },
      "bad_request",
      false,
    ],
    [
      401,
      { status: "UNAUTHENTICATED", message: "Request had invalid credentials." },
      "authentication",
      false,
    ],
    [
      403,
      { status: "PERMISSION_DENIED", message: "Method doesn't allow unregistered callers." },
      "authentication",
      false,
    ],
    [
      404,
      { status: "NOT_FOUND", message: "models/gemini-9 is not found for API version v1beta." },
      "unknown_model",
      false,
    ],
    [
      429,
      { status: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted (e.g. check quota)." },
      "rate_limit",
      true,
    ],
    [
      429,
      {
        status: "RESOURCE_EXHAUSTED",
        message: "Quota.",
        details: [
          { "@type": QUOTA, violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] },
        ],
      },
      "rate_limit",
      false,
    ],
    [500, { status: "INTERNAL", message: "An internal error has occurred." }, "provider_error", true],
    [
      503,
      { status: "UNAVAILABLE", message: "The model is overloaded. Please try again later." },
      "provider_error",
      true,
    ],
    [504, { status: "DEADLINE_EXCEEDED", message: "Deadline expired." }, "provider_error", true],
  ])("HTTP %i %o is %s, retryable %s", (status, error, code, retryable) => {
    expect(errorOf(status, error)).toMatchObject({ code, retryable, details: { status } });
  });

  it.each([
    ["31s", 31_000],
    ["0.5s", 500],
    ["soon", undefined],
  ])("reads the retry delay %s", (retryDelay, retryAfterMs) => {
    const details = [
      { "@type": QUOTA, violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" }] },
      { "@type": RETRY, retryDelay },
    ];
    const error = errorOf(429, { status: "RESOURCE_EXHAUSTED", message: "Quota.", details });
    expect(error).toMatchObject({ code: "rate_limit", retryable: true });
    expect((error as NanoAgentError).details["retryAfterMs"]).toBe(retryAfterMs);
  });

  it("reads errors that come in a list", () => {
    const body = JSON.stringify([
      { error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } },
    ]);
    expect(answerError({ status: 400, headers: {}, body, target })).toMatchObject({ code: "authentication" });
  });

  it("advises fewer images where the bytes are too many", () => {
    const message = "Request payload size exceeds the limit: 20971520 bytes.";
    expect(errorOf(400, { status: "INVALID_ARGUMENT", message })).toMatchObject({
      code: "context_overflow",
      message: expect.stringContaining("send fewer images"),
    });
  });

  it("never shows the key", () => {
    expect(
      String(errorOf(400, { message: "key AIzaSyVerySecretKey is bad", status: "INVALID_ARGUMENT" })),
    ).not.toContain("VerySecret");
  });

  it("survives details of any shape", () => {
    const body = JSON.stringify({
      error: { message: 3, details: [null, 1, { violations: "x" }, { violations: [null] }] },
    });
    expect(answerError({ status: 429, headers: {}, body, target })).toMatchObject({ code: "rate_limit" });
  });
});
