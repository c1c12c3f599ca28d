import { describe, expect, it } from "vitest";
import type { Clock } from "../../core/base/async.ts";
import { type Message, userMessage } from "../../core/message/message.ts";
import type { Model, ModelCallOptions, StreamPart } from "../../core/model/model.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import type { AiSdkCallOptions, AiSdkLanguageModel, AiSdkStreamPart } from "./call-options.ts";
import { type FromAiSdkOptions, fromAiSdk } from "./from-ai-sdk.ts";

/**
 * One `doStream`: an error to throw before the stream, or its chunks. After `hang` it neither goes on nor
 * ends.
 */
type Step = Error | readonly (AiSdkStreamPart | "hang")[];

interface Fake extends AiSdkLanguageModel {
  readonly calls: readonly AiSdkCallOptions[];
  readonly cancelled: () => number;
}

function fake(steps: readonly Step[], specificationVersion = "v4"): Fake {
  const calls: AiSdkCallOptions[] = [];
  let cancelled = 0;
  return {
    specificationVersion,
    provider: "acme.chat",
    modelId: "m-1",
    calls,
    cancelled: () => cancelled,
    async doStream(options: AiSdkCallOptions) {
      const step = steps[calls.length];
      calls.push(options);
      if (step === undefined) throw new Error("asked once too often");
      if (step instanceof Error) throw step;
      const chunks = [...step];
      const stream = new ReadableStream<AiSdkStreamPart>({
        pull: (controller) => {
          const chunk = chunks.shift();
          if (chunk === "hang") return new Promise<void>(() => undefined);
          if (chunk === undefined) controller.close();
          else controller.enqueue(chunk);
          return undefined;
        },
        cancel: () => {
          cancelled += 1;
        },
      });
      return { stream };
    },
  };
}

/** A clock that never waits and notes for how long it was asked to. */
function notingClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    elapsed: () => 0,
    now: () => 0,
    sleep: async (ms, signal) => {
      waits.push(ms);
      signal?.throwIfAborted();
    },
  };
}

async function ask(model: Model, options?: ModelCallOptions): Promise<readonly StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of model.stream({ messages: [userMessage("hi")] }, options)) parts.push(part);
  return parts;
}

const text: AiSdkStreamPart = { type: "text-delta", id: "1", delta: "Hi" };
const finish: AiSdkStreamPart = { type: "finish", finishReason: { unified: "stop" } };
const good = [{ type: "text-start", id: "1" }, text, { type: "text-end", id: "1" }, finish];
const hi: StreamPart = { type: "text_delta", index: 0, text: "Hi" };
const done: StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: { inputTokens: 0, outputTokens: 0 },
};

function apiError(statusCode: number | undefined, more: object = {}): Error {
  const error = new Error("said so");
  error.name = "AI_APICallError";
  return Object.assign(error, {
    statusCode,
    isRetryable: true,
    url: "https://api.acme.test/v1/chat?key=secret",
    ...more,
  });
}

const setup = (
  steps: readonly Step[],
  options: FromAiSdkOptions = {},
): { readonly model: Model; readonly sdk: Fake } => {
  const sdk = fake(steps);
  return { model: fromAiSdk(sdk, { clock: notingClock(), random: () => 0.5, ...options }), sdk };
};

describe("fromAiSdk", () => {
  it.each(["v3", "v4"])("is a model over a %s one", async (version) => {
    const sdk = fake([good], version);
    const model = fromAiSdk(sdk, { info: { contextWindow: 5 } });
    expect([model.provider, model.id, model.info]).toEqual(["acme.chat", "m-1", { contextWindow: 5 }]);
    expect(await ask(model)).toEqual([hi, done]);
    expect(sdk.calls).toMatchObject([
      { prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] },
    ]);
  });

  it.each([
    ["a model of AI SDK 5", { ...fake([]), specificationVersion: "v2" }, /"v2".*needs v3 or v4/],
    ["a model id", "anthropic/claude", /got "anthropic\/claude"/],
    ["nothing", undefined, /got undefined/],
  ])("refuses %s", (_what, value, message) => {
    expect(() => fromAiSdk(value as AiSdkLanguageModel)).toThrow(
      expect.objectContaining({ code: "invalid_argument", message: expect.stringMatching(message) }),
    );
  });

  it("tries again after retryable failures, before and within the stream, and says so", async () => {
    const clock = notingClock();
    const overloaded: AiSdkStreamPart = {
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    };
    const cut = [text];
    const { model, sdk } = setup(
      [
        apiError(529),
        apiError(429, { responseHeaders: { "Retry-After": "7" } }),
        [text, overloaded],
        cut,
        good,
      ],
      { clock },
    );
    const parts = await ask(model);
    expect(
      parts.map((part) =>
        part.type === "retry" ? [part.attempt, part.delayMs, part.error.code] : part.type,
      ),
    ).toEqual([
      [2, 375, "provider_error"],
      [3, 7000, "rate_limit"],
      "text_delta",
      [4, 1500, "provider_error"],
      "text_delta",
      [5, 3000, "invalid_response"],
      "text_delta",
      "finish",
    ]);
    expect(clock.waits).toEqual([375, 7000, 1500, 3000]);
    expect(sdk.calls).toHaveLength(5);
  });

  it("gives up after maxRetries", async () => {
    const { model, sdk } = setup([apiError(500), apiError(500), apiError(503)], { maxRetries: 2 });
    await expect(ask(model)).rejects.toMatchObject({ code: "provider_error", retryable: true });
    expect(sdk.calls).toHaveLength(3);
  });

  it("reports a wait that is too long instead of sleeping", async () => {
    const clock = notingClock();
    const { model } = setup([apiError(429, { responseHeaders: { "retry-after": "3600" } })], { clock });
    await expect(ask(model)).rejects.toMatchObject({
      code: "rate_limit",
      details: { retryAfterMs: 3_600_000 },
    });
    expect(clock.waits).toEqual([]);
  });

  it("waits for a server that loads its model, far longer than retries last, and says it once", async () => {
    const loading = apiError(503, { responseBody: '{"error":{"code":503,"message":"Loading model"}}' });
    const steps = [...Array.from({ length: 30 }, () => loading), good];
    const { model, sdk } = setup(steps, { maxRetries: 0 });
    const retry = { type: "retry", attempt: 2, delayMs: 2_000, error: expect.anything() };
    expect(await ask(model)).toEqual([retry, hi, done]);
    expect(sdk.calls).toHaveLength(31);
  });

  it("gives a server up that never ends loading", async () => {
    const loading = apiError(503, { responseBody: '{"error":{"code":503,"message":"Loading model"}}' });
    const clock = new FakeClock();
    const { model } = setup(
      Array.from({ length: 9 }, () => loading),
      { clock, firstEventTimeoutMs: 5_000 },
    );
    const asked = ask(model);
    asked.catch(() => undefined);
    await clock.advance(10_000);
    await expect(asked).rejects.toThrow("It did so for 5000 ms. Raise firstEventTimeoutMs");
  });

  it("asks again without an image that the model refuses, also in later requests, and sends none to a model that takes none", async () => {
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "AAAA" },
    } as const;
    const refusal = apiError(500, {
      responseBody: '{"error":"image input is not supported - mmproj missing"}',
    });
    const sentTo = async (
      steps: readonly Step[],
      options: FromAiSdkOptions = {},
    ): Promise<readonly boolean[]> => {
      const { model, sdk } = setup(steps, options);
      const messages: readonly Message[] = [
        { role: "user", content: [image, { type: "text", text: "see" }] },
      ];
      for (const _ of [1, 2]) for await (const _part of model.stream({ messages })) continue;
      return sdk.calls.map((call) => JSON.stringify(call.prompt).includes("An image was left out here"));
    };
    expect([
      await sentTo([refusal, good, good]),
      await sentTo([good, good], { info: { images: false } }),
    ]).toEqual([
      [false, true, true],
      [true, true],
    ]);
  });

  it("ends an answer that is longer than it may be, and does not ask again", async () => {
    const { model, sdk } = setup([[...Array.from({ length: 60 }, () => text), finish]], {
      maxAnswerChars: 100,
    });
    await expect(ask(model)).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringMatching(/longer than 100 characters.* or raise maxAnswerChars/),
    });
    expect([sdk.calls.length, sdk.cancelled()]).toEqual([1, 1]);
  });

  it.each<[string, Error, string]>([
    ["HTTP 400", apiError(400, { responseBody: '{"error":{"message":"bad field"}}' }), "bad_request"],
    [
      "HTTP 400 over the window",
      apiError(400, { responseBody: '{"error":{"message":"prompt is too long: 9 > 8"}}' }),
      "context_overflow",
    ],
    ["HTTP 401", apiError(401), "authentication"],
    [
      "HTTP 404",
      apiError(404, { responseBody: '{"error":{"message":"no such model m-1"}}' }),
      "unknown_model",
    ],
    [
      "no key",
      Object.assign(new Error("Acme API key is missing."), { name: "AI_LoadAPIKeyError" }),
      "missing_credentials",
    ],
    [
      "an unsupported feature",
      Object.assign(new Error("no"), { name: "AI_UnsupportedFunctionalityError" }),
      "bad_request",
    ],
  ])("does not repeat %s", async (_what, error, code) => {
    const { model, sdk } = setup([error]);
    await expect(ask(model)).rejects.toMatchObject({ code, retryable: false });
    expect(sdk.calls).toHaveLength(1);
  });

  it.each<[string, Error, string]>([
    ["a refused connection", apiError(undefined), "network"],
    [
      "a connection that broke",
      Object.assign(new TypeError("terminated"), { cause: { code: "UND_ERR_SOCKET" } }),
      "network",
    ],
    [
      "an answer that is not JSON",
      Object.assign(new Error("x"), { name: "AI_JSONParseError" }),
      "invalid_response",
    ],
    ["a success that makes no sense", apiError(200), "invalid_response"],
  ])("repeats %s", async (_what, error, code) => {
    const { model } = setup([error, good]);
    expect(await ask(model)).toMatchObject([{ type: "retry", error: { code } }, hi, done]);
  });

  it("never shows a key from the address", async () => {
    const { model } = setup([apiError(401)]);
    const error: unknown = await ask(model).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(
      `${String(error)} ${JSON.stringify((error as { readonly details: unknown }).details)}`,
    ).not.toContain("secret");
  });

  it("ends with `aborted` while it streams, also when the model does not listen", async () => {
    const stop = new AbortController();
    const { model, sdk } = setup([[text, "hang"]]);
    const seen: StreamPart[] = [];
    const run = async (): Promise<void> => {
      for await (const part of model.stream({ messages: [] }, { signal: stop.signal })) {
        seen.push(part);
        setImmediate(() => stop.abort(new Error("enough")));
      }
    };
    await expect(run()).rejects.toMatchObject({ code: "aborted", cause: { message: "enough" } });
    expect(seen).toEqual([hi]);
    expect(sdk.calls[0]?.abortSignal?.aborted).toBe(true);
    expect(sdk.cancelled()).toBe(1);
  });

  it("ends with `aborted` before it begins, and while it waits to try again", async () => {
    const { model, sdk } = setup([good]);
    await expect(ask(model, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    expect(sdk.calls).toHaveLength(0);
    const stop = new AbortController();
    const waiting = setup([apiError(500), good]);
    const run = async (): Promise<void> => {
      for await (const part of waiting.model.stream({ messages: [] }, { signal: stop.signal }))
        if (part.type === "retry") stop.abort();
    };
    await expect(run()).rejects.toMatchObject({ code: "aborted" });
    expect(waiting.sdk.calls).toHaveLength(1);
  });

  it("ends with `aborted` while it waits for the answer to begin", async () => {
    const stop = new AbortController();
    const never: AiSdkLanguageModel = { ...fake([]), doStream: () => new Promise(() => undefined) };
    const asked = ask(fromAiSdk(never), { signal: stop.signal });
    setImmediate(() => stop.abort());
    await expect(asked).rejects.toMatchObject({ code: "aborted" });
  });

  it("tries nothing again after an abort, whatever the model throws then", async () => {
    const stop = new AbortController();
    const clock = notingClock();
    const listens: AiSdkLanguageModel = {
      ...fake([]),
      doStream: ({ abortSignal }: { readonly abortSignal: AbortSignal }) =>
        new Promise((_resolve, reject) => abortSignal.addEventListener("abort", () => reject(apiError(500)))),
    };
    const asked = ask(fromAiSdk(listens, { clock }), { signal: stop.signal });
    setImmediate(() => stop.abort());
    await expect(asked).rejects.toMatchObject({ code: "aborted" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.waits).toEqual([]);
  });

  it("cancels the request when the reader leaves", async () => {
    const { model, sdk } = setup([[text, text, "hang"]]);
    for await (const part of model.stream({ messages: [] })) {
      expect(part).toEqual(hi);
      break;
    }
    expect(sdk.calls[0]?.abortSignal?.aborted).toBe(true);
    expect(sdk.cancelled()).toBe(1);
  });
});
