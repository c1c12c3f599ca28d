import { describe, expect, it } from "vitest";
import { type ErrorCode, NanoAgentError } from "../core/base/errors.ts";
import { userMessage } from "../core/message/message.ts";
import type { Model, ModelCallOptions, StreamPart } from "../core/model/model.ts";
import { type FallbackOptions, fallbackModel, isFallbackError } from "./fallback.ts";

type Step = readonly (StreamPart | NanoAgentError)[];

/** A model that plays one step a request; fails the test on a request too many. */
function fake(id: string, ...steps: readonly Step[]): Model & { readonly left: () => number } {
  const waiting = [...steps];
  return {
    provider: `p-${id}`,
    id,
    info: { contextWindow: 1000 },
    left: () => waiting.length,
    async *stream(_request, options: ModelCallOptions = {}) {
      const step = waiting.shift();
      if (step === undefined) throw new NanoAgentError("script_mismatch", `${id} was asked once too often`);
      for (const part of step) {
        if (part instanceof NanoAgentError) throw part;
        if (options.signal?.aborted === true) throw new NanoAgentError("aborted", "aborted");
        yield part;
      }
    },
  };
}

const text = (said: string): StreamPart => ({ type: "text_delta", index: 0, text: said });
const finish: StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "x" },
  usage: { inputTokens: 1, outputTokens: 1 },
};
/** The end of an answer of a model other than the first. */
const finishOf = (id: string): StreamPart => ({
  ...finish,
  answeredBy: { provider: `p-${id}`, id, info: { contextWindow: 1000 } },
});
const failure = (code: ErrorCode, retryable = false): NanoAgentError =>
  new NanoAgentError(code, code, { retryable });
const retry = (attempt: number, error: NanoAgentError, delayMs = 0): StreamPart => ({
  type: "retry",
  attempt,
  delayMs,
  error,
});

async function ask(model: Model, options?: ModelCallOptions): Promise<readonly StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of model.stream({ messages: [userMessage("hi")] }, options)) parts.push(part);
  return parts;
}

describe("fallbackModel", () => {
  it("is the first model as long as that answers", async () => {
    const model = fallbackModel([fake("a", [text("A"), finish]), fake("b")]);
    expect([model.provider, model.id, model.info]).toEqual(["p-a", "a", { contextWindow: 1000 }]);
    expect(await ask(model)).toEqual([text("A"), finish]);
  });

  it("voids what was streamed and goes on with the next one, counting attempts over all of them", async () => {
    const busy = failure("rate_limit", true);
    const down = failure("provider_error", true);
    const a = fake("a", [text("ha"), retry(2, busy, 9), text("half"), down]);
    const b = fake("b", [retry(2, busy, 5), down]);
    const c = fake("c", [text("C"), finish]);
    expect(await ask(fallbackModel([a, b, c]))).toEqual([
      text("ha"),
      retry(2, busy, 9),
      text("half"),
      retry(3, down),
      retry(4, busy, 5),
      retry(5, down),
      text("C"),
      finishOf("c"),
    ]);
  });

  it("throws the error of the last model", async () => {
    const model = fallbackModel([
      fake("a", [failure("network", true)]),
      fake("b", [failure("authentication")]),
    ]);
    await expect(ask(model)).rejects.toMatchObject({ code: "authentication" });
  });

  it.each<[ErrorCode, boolean, boolean]>([
    ["missing_credentials", false, true],
    ["authentication", false, true],
    ["unknown_model", false, true],
    ["rate_limit", false, true],
    ["provider_error", false, true],
    ["network", false, true],
    ["timeout", true, true],
    ["invalid_response", false, true],
    ["internal", true, true],
    ["aborted", true, false],
    ["bad_request", false, false],
    ["context_overflow", false, false],
    ["invalid_argument", false, false],
    ["internal", false, false],
    ["script_mismatch", false, false],
  ])("after %s (retryable %s) goes on: %s", async (code, retryable, goesOn) => {
    const error = failure(code, retryable);
    expect(isFallbackError(error)).toBe(goesOn);
    const b = fake("b", [finish]);
    const parts = ask(fallbackModel([fake("a", [error]), b]));
    if (goesOn) expect(await parts).toEqual([retry(2, error), finishOf("b")]);
    else await expect(parts).rejects.toBe(error);
    expect(b.left()).toBe(goesOn ? 0 : 1);
  });

  it("lets `when` decide otherwise", async () => {
    const options: FallbackOptions = { when: (error) => error.code === "context_overflow" };
    const tooLong = failure("context_overflow");
    expect(await ask(fallbackModel([fake("a", [tooLong]), fake("b", [finish])], options))).toEqual([
      retry(2, tooLong),
      finishOf("b"),
    ]);
    await expect(
      ask(fallbackModel([fake("a", [failure("network", true)]), fake("b", [finish])], options)),
    ).rejects.toMatchObject({ code: "network" });
  });

  it("asks nobody else after an abort", async () => {
    const stop = new AbortController();
    const b = fake("b", [finish]);
    const a: Model = {
      provider: "p",
      id: "a",
      async *stream() {
        yield text("a");
        stop.abort();
        throw failure("network", true);
      },
    };
    await expect(ask(fallbackModel([a, b]), { signal: stop.signal })).rejects.toMatchObject({
      code: "network",
    });
    expect(b.left()).toBe(1);
  });

  it("begins with the first model again at the next request, unless it is sticky", async () => {
    const down = failure("provider_error", true);
    const plain = fallbackModel([fake("a", [down], [text("A"), finish]), fake("b", [text("B"), finish])]);
    await ask(plain);
    expect(await ask(plain)).toEqual([text("A"), finish]);
    const sticky = fallbackModel(
      [fake("a", [down], [text("A"), finish]), fake("b", [finish], [text("B"), finish], [down])],
      { sticky: true },
    );
    await ask(sticky);
    expect(await ask(sticky)).toEqual([text("B"), finishOf("b")]);
    expect(await ask(sticky)).toEqual([retry(2, down), text("A"), finish]);
  });

  it("cancels the model's stream when the reader leaves", async () => {
    let cancelled = false;
    const a: Model = {
      provider: "p",
      id: "a",
      async *stream() {
        try {
          yield text("a");
          yield text("b");
        } finally {
          cancelled = true;
        }
      },
    };
    for await (const part of fallbackModel([a]).stream({ messages: [] })) {
      expect(part).toEqual(text("a"));
      break;
    }
    expect(cancelled).toBe(true);
  });

  it("refuses an empty list", () => {
    expect(() => fallbackModel([])).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});
