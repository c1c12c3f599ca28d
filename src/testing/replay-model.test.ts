import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NanoAgentError } from "../core/base/errors.ts";
import { firstDifference } from "../core/base/json.ts";
import { userMessage } from "../core/message/message.ts";
import type { Model, ModelRequest, StreamPart } from "../core/model/model.ts";
import { Cassette, parseCassette, recordModel, replayModel } from "./cassette.ts";
import { calls, fails, type ScriptStep, says, thinks } from "./script.ts";
import { ScriptedModel } from "./scripted-model.ts";

const REQUEST: ModelRequest = { system: "Be brief.", messages: [userMessage("hi")], sessionId: "one" };

async function partsOf(model: Model, request = REQUEST, signal?: AbortSignal): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of model.stream(request, signal === undefined ? {} : { signal })) parts.push(part);
  return parts;
}

/** A cassette with one request for each step, saved and read again. */
async function recorded(...steps: readonly ScriptStep[]): Promise<Cassette> {
  const cassette = new Cassette();
  const model = recordModel(new ScriptedModel(steps, { provider: "acme", id: "large" }), { cassette });
  for (const _ of steps) await partsOf(model).catch(() => undefined);
  return parseCassette(JSON.stringify(cassette));
}

describe("replayModel", () => {
  it("answers as the recorded model did, failures included", async () => {
    const steps = [
      [thinks("hm", "s"), says("Hello"), calls("read", { path: "a" })],
      fails(new NanoAgentError("rate_limit", "slow", { retryable: true })),
    ];
    const replay = replayModel(await recorded(...steps));
    const original = new ScriptedModel(steps, { id: "large" });
    expect([replay.provider, replay.id]).toEqual(["acme", "large"]);
    expect(await partsOf(replay, { ...REQUEST, sessionId: "two" })).toEqual(await partsOf(original));
    await expect(partsOf(replay)).rejects.toMatchObject({
      code: "rate_limit",
      message: "slow",
      retryable: true,
    });
    replay.assertFinished();
  });

  it("replays retries with their error", async () => {
    const error = new NanoAgentError("network", "gone", { retryable: true });
    const parts: StreamPart[] = [
      { type: "retry", attempt: 2, delayMs: 500, error },
      {
        type: "finish",
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: 1, outputTokens: 1 },
      },
    ];
    const cassette = new Cassette();
    const model: Model = {
      provider: "p",
      id: "m",
      async *stream() {
        yield* parts;
      },
    };
    await partsOf(recordModel(model, { cassette }));
    expect(await partsOf(replayModel(parseCassette(JSON.stringify(cassette))))).toEqual(parts);
  });

  it("names where a changed request first differs, and both values", async () => {
    const replay = replayModel(await recorded(says("a")));
    const changed = { ...REQUEST, messages: [userMessage("hi there")] };
    await expect(partsOf(replay, changed)).rejects.toMatchObject({
      code: "script_mismatch",
      message:
        'Request 1 is not the recorded one. It first differs at messages[0].content[0].text: recorded "hi", now "hi there". Record the cassette again if that is right.',
    });
  });

  it("fails on a request too many and on exchanges left over", async () => {
    const replay = replayModel(await recorded(says("a")));
    expect(() => replay.assertFinished()).toThrow(
      "The cassette holds 1 exchanges but only 0 were asked for.",
    );
    await partsOf(replay);
    replay.assertFinished();
    await expect(partsOf(replay)).rejects.toThrow(
      "The cassette holds 1 exchanges and was asked for one more.",
    );
  });

  it("does not make up the rest of an answer whose reader left", async () => {
    const cassette = new Cassette();
    for await (const _ of recordModel(new ScriptedModel([says("a long answer")], { chunkSize: 4 }), {
      cassette,
    }).stream(REQUEST))
      break;
    await expect(partsOf(replayModel(cassette))).rejects.toThrow(
      "The answer to request 1 was only read for 1 parts when it was recorded.",
    );
  });

  it("honours the signal", async () => {
    const replay = replayModel(await recorded(says("a")));
    await expect(partsOf(replay, REQUEST, AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
    await partsOf(replay);
  });
});

describe("parseCassette", () => {
  it.each([
    "{",
    {},
    { version: 2, provider: "p", model: "m", exchanges: [] },
    { version: 1, provider: "p", model: "m", exchanges: [{}] },
  ])("refuses %j", (saved) => {
    expect(() => parseCassette(saved)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});

describe("firstDifference", () => {
  it.each<[unknown, unknown, object]>([
    [1, "1", { path: "the top", left: "1", right: '"1"' }],
    [{ a: [1, 2] }, { a: [1] }, { path: "a[1]", left: "2", right: "nothing" }],
    [{ a: 1 }, { a: 1, b: {} }, { path: "b", left: "nothing", right: "{}" }],
    [
      `${"x".repeat(100)}a`,
      `${"x".repeat(100)}b`,
      { path: "the top", left: `…"${"x".repeat(20)}a"`, right: `…"${"x".repeat(20)}b"` },
    ],
  ])("of %j and %j", (left, right, difference) => {
    expect(firstDifference(left, right)).toEqual(difference);
  });

  it("finds one exactly where values are not equal", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const values = [left, right].map((value): unknown => JSON.parse(JSON.stringify(value)));
        const equal = isDeepStrictEqual(values[0], values[1]);
        expect(firstDifference(values[0], values[1]) === undefined).toBe(equal);
        expect(firstDifference(values[0], structuredClone(values[0]))).toBeUndefined();
      }),
    );
  });
});
