import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NanoAgentError } from "../core/base/errors.ts";
import { userMessage } from "../core/message/message.ts";
import type { ModelRequest, StreamPart } from "../core/model/model.ts";
import { calls, fails, finishes, SCRIPTED_USAGE, says, thinks, waits } from "./script.ts";
import { ScriptedModel } from "./scripted-model.ts";

const REQUEST: ModelRequest = { messages: [userMessage("hi")] };

async function partsOf(model: ScriptedModel, signal?: AbortSignal, request = REQUEST): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of model.stream(request, signal === undefined ? {} : { signal })) parts.push(part);
  return parts;
}

describe("ScriptedModel", () => {
  it("streams text, reasoning and calls of one answer as a provider would", async () => {
    const model = new ScriptedModel(
      [[thinks("hm", "sig"), says("Hello"), calls("read", { path: "a" }), calls("now")]],
      {
        chunkSize: 4,
      },
    );
    expect(await partsOf(model)).toEqual([
      { type: "thinking_delta", index: 0, text: "hm" },
      { type: "block", index: 0, block: { type: "thinking", thinking: "hm", signature: "sig" } },
      { type: "text_delta", index: 1, text: "Hell" },
      { type: "text_delta", index: 1, text: "o" },
      { type: "tool_call_start", index: 2, id: "call_1", name: "read" },
      { type: "tool_call_delta", index: 2, json: '{"pa' },
      { type: "tool_call_delta", index: 2, json: 'th":' },
      { type: "tool_call_delta", index: 2, json: '"a"}' },
      {
        type: "block",
        index: 2,
        block: { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } },
      },
      { type: "tool_call_start", index: 3, id: "call_2", name: "now" },
      { type: "tool_call_delta", index: 3, json: "{}" },
      { type: "block", index: 3, block: { type: "tool_use", id: "call_2", name: "now", input: {} } },
      {
        type: "finish",
        finishReason: { unified: "tool_use", raw: "tool_use" },
        usage: SCRIPTED_USAGE,
        model: "scripted",
      },
    ]);
  });

  it("ends an answer as it is told to", async () => {
    const usage = { inputTokens: 1, outputTokens: 2 };
    const model = new ScriptedModel([
      [says("cut"), finishes({ unified: "length", raw: "max_tokens" }, usage)],
    ]);
    expect((await partsOf(model)).at(-1)).toEqual({
      type: "finish",
      finishReason: { unified: "length", raw: "max_tokens" },
      usage,
      model: "scripted",
    });
  });

  it("sends malformed arguments as a model would", async () => {
    const model = new ScriptedModel([calls("read", '{"path":')]);
    expect((await partsOf(model)).find((part) => part.type === "block")).toEqual({
      type: "block",
      index: 0,
      block: {
        type: "tool_use",
        id: "call_1",
        name: "read",
        input: {},
        invalid_input: { reason: "malformed", raw: '{"path":' },
      },
    });
  });

  it("asks a step that is a function for its answer", async () => {
    const model = new ScriptedModel([async (request, index) => says(`${index}: ${request.messages.length}`)]);
    expect((await partsOf(model))[0]).toEqual({ type: "text_delta", index: 0, text: "0: 1" });
  });

  it("answers every request when the script is a function", async () => {
    const model = new ScriptedModel(() => says("again"));
    await partsOf(model);
    await partsOf(model);
    expect(model.requests.length).toBe(2);
    model.assertFinished();
  });

  it("fails on a request too many and says what it was asked", async () => {
    const model = new ScriptedModel([says("done")]);
    await partsOf(model);
    await expect(partsOf(model)).rejects.toMatchObject({
      code: "script_mismatch",
      message:
        'The script has 1 step and was asked for one more: without tools, after a user message of text "hi". It played says("done"). Add a step, or find out why the model is asked again.',
    });
  });

  it("fails on steps left over and names them", () => {
    const model = new ScriptedModel([[says("a"), calls("read")], () => says("b")]);
    expect(() => model.assertFinished()).toThrow(
      'The script has 2 steps but was asked for 0; left over: says("a") + calls(read), a function.',
    );
  });

  it("keeps requests as they were when they were made", async () => {
    const messages = [userMessage("one")];
    const model = new ScriptedModel([says("1"), says("2")]);
    await partsOf(model, undefined, { messages });
    messages.push(userMessage("two"));
    await partsOf(model, undefined, { messages });
    expect(model.requests.map((request) => request.messages.length)).toEqual([1, 2]);
    expect(model.requests[1]?.messages[0]).toBe(messages[0]);
  });

  it("fails where the script says so, after what came before", async () => {
    const error = new NanoAgentError("network", "gone");
    const seen: StreamPart[] = [];
    const reading = (async () => {
      for await (const part of new ScriptedModel([[says("half"), fails(error)]]).stream(REQUEST))
        seen.push(part);
    })();
    await expect(reading).rejects.toBe(error);
    expect(seen).toEqual([{ type: "text_delta", index: 0, text: "half" }]);
  });

  it("waits for a promise or a signal", async () => {
    const gate = new AbortController();
    const model = new ScriptedModel([[waits(Promise.resolve()), waits(gate.signal), says("on")]]);
    const reading = partsOf(model);
    gate.abort();
    expect((await reading)[0]).toEqual({ type: "text_delta", index: 0, text: "on" });
    expect(getEventListeners(gate.signal, "abort")).toEqual([]);
  });

  it("fails with aborted, before anything is sent and during a wait", async () => {
    await expect(partsOf(new ScriptedModel([says("x")]), AbortSignal.abort())).rejects.toMatchObject({
      code: "aborted",
    });
    const controller = new AbortController();
    const never = new Promise<never>(() => undefined);
    const reading = partsOf(new ScriptedModel([waits(never)]), controller.signal);
    controller.abort("enough");
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("streams every text whole, in deltas that are well formed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme" }),
        fc.integer({ min: 1, max: 9 }),
        async (text, chunkSize) => {
          const parts = await partsOf(new ScriptedModel([says(text)], { chunkSize }));
          const deltas = parts.flatMap((part) => (part.type === "text_delta" ? [part.text] : []));
          expect(deltas.join("")).toBe(text);
          expect(deltas.filter((delta) => !delta.isWellFormed() || delta === "")).toEqual([]);
        },
      ),
    );
  });
});
