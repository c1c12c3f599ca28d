// Streams written by hand from https://ai.google.dev/api/generate-content, /gemini-api/docs/thinking,
// /function-calling and /thought-signatures; none is a recording.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantBlock } from "../../core/message/message.ts";
import { AnswerCollector } from "../../core/model/answer.ts";
import type { FinishPart, StreamPart } from "../../core/model/model.ts";
import { createSseParser } from "../server-events.ts";
import type { WireTarget } from "../wire.ts";
import type { GoogleChunk, GooglePart } from "./google-json.ts";
import { GoogleDecoder } from "./google-wire.ts";

const TARGET: WireTarget = { provider: "google", modelId: "gemini-3-flash", baseUrl: "https://h/v1beta" };

interface Answer {
  readonly content: readonly AssistantBlock[];
  readonly finish: FinishPart;
}

function decode(chunks: readonly GoogleChunk[]): {
  readonly parts: readonly StreamPart[];
  readonly answer: Answer;
} {
  const parts: StreamPart[] = [];
  const decoder = new GoogleDecoder((part) => parts.push(part), TARGET);
  for (const chunk of chunks) decoder.event("", JSON.stringify(chunk));
  decoder.end();
  return { parts, answer: fold(parts) };
}

/** The message and the end; made-up call ids become `made-up`. */
function fold(parts: readonly StreamPart[]): Answer {
  const collector = new AnswerCollector();
  for (const part of parts) collector.add(part);
  const { message, finish } = collector.result();
  return { content: message.content.map(named), finish };
}

function named(block: AssistantBlock): AssistantBlock {
  return block.type === "tool_use" && /^call_[0-9a-z]{22}$/.test(block.id)
    ? { ...block, id: "made-up" }
    : block;
}

const chunk = (parts: readonly GooglePart[], finishReason?: string, more: GoogleChunk = {}): GoogleChunk => ({
  ...more,
  candidates: [
    { content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
});

const EVERYTHING: readonly GoogleChunk[] = [
  chunk([{ text: "**Plan**\n", thought: true }], undefined, {
    modelVersion: "gemini-3-flash",
    responseId: "r1",
    usageMetadata: { promptTokenCount: 9 },
  }),
  chunk([{ text: "look around", thought: true }]),
  chunk([{ text: "Let me " }]),
  chunk([{ text: "see. 你好 😀" }]),
  chunk([
    { functionCall: { id: "fc1", name: "read", args: { path: 'a\n"b"' } }, thoughtSignature: "SIG+/=" },
    { functionCall: { name: "list" } },
  ]),
  chunk([{ functionCall: { id: "fc3", name: "read", args: {} } }]),
  chunk([{ text: "" }], "STOP", {
    usageMetadata: {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      toolUsePromptTokenCount: 5,
      totalTokenCount: 155,
    },
  }),
];

const EVERYTHING_ANSWER: Answer = {
  content: [
    { type: "thinking", thinking: "**Plan**\nlook around" },
    { type: "text", text: "Let me see. 你好 😀" },
    {
      type: "tool_use",
      id: "fc1",
      name: "read",
      input: { path: 'a\n"b"' },
      provider_data: { google: { thoughtSignature: "SIG+/=" } },
    },
    { type: "tool_use", id: "made-up", name: "list", input: {} },
    { type: "tool_use", id: "fc3", name: "read", input: {} },
  ],
  finish: {
    type: "finish",
    finishReason: { unified: "tool_use", raw: "STOP" },
    usage: {
      inputTokens: 105,
      outputTokens: 50,
      cacheReadTokens: 60,
      reasoningTokens: 30,
      raw: EVERYTHING.at(-1)?.usageMetadata,
    },
    model: "gemini-3-flash",
    responseId: "r1",
  },
};

describe("an answer", () => {
  it("with thoughts, text and calls in one and several events becomes one message", () => {
    expect(decode(EVERYTHING).answer).toEqual(EVERYTHING_ANSWER);
  });

  it("announces each call before its block", () => {
    const { parts } = decode([chunk([{ functionCall: { id: "c", name: "read", args: { a: 1 } } }], "STOP")]);
    expect(parts.slice(0, 2)).toEqual([
      { type: "tool_call_start", index: 0, id: "c", name: "read" },
      { type: "block", index: 0, block: { type: "tool_use", id: "c", name: "read", input: { a: 1 } } },
    ]);
  });

  it("split at every byte is the same message, with either line ending", () => {
    for (const eol of ["\n", "\r\n"]) {
      const bytes = new TextEncoder().encode(
        EVERYTHING.map((event) => `data: ${JSON.stringify(event)}${eol}${eol}`).join(""),
      );
      for (let cut = 0; cut <= bytes.length; cut++)
        expect(fromBytes([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(EVERYTHING_ANSWER);
      expect(fromBytes(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(EVERYTHING_ANSWER);
    }
  });

  it("keeps a signed text apart, and a signature without text in a thinking block no other wire sends", () => {
    const stream = [
      chunk([{ text: "a" }]),
      chunk([{ text: "b", thoughtSignature: "S1" }]),
      chunk([{ text: "c" }]),
      chunk([{ text: "thought", thought: true, thoughtSignature: "S2" }]),
      chunk([{ text: "", thoughtSignature: "S3" }], "STOP"),
    ];
    expect(decode(stream).answer.content).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b", provider_data: { google: { thoughtSignature: "S1" } } },
      { type: "text", text: "c" },
      {
        type: "thinking",
        thinking: "thought",
        provider_data: { google: { thought: true, thoughtSignature: "S2" } },
      },
      { type: "thinking", thinking: "", provider_data: { google: { thoughtSignature: "S3" } } },
    ]);
  });

  it("makes up an id that is its own for a call without one and for a repeated one", () => {
    const stream = [
      chunk(
        [
          { functionCall: { id: "x", name: "a" } },
          { functionCall: { id: "x", name: "a" } },
          { functionCall: { id: "", name: "a" } },
        ],
        "STOP",
      ),
    ];
    const { parts } = decode(stream);
    const ids = parts.flatMap((part) => (part.type === "tool_call_start" ? [part.id] : []));
    expect(ids[0]).toBe("x");
    expect(new Set(ids).size).toBe(3);
  });

  it("marks arguments that are not an object", () => {
    const stream = [chunk([{ functionCall: { id: "x", name: "a", args: [1] } }], "STOP")];
    expect(decode(stream).answer.content).toEqual([
      { type: "tool_use", id: "x", name: "a", input: {}, invalid_input: { reason: "malformed", raw: "[1]" } },
    ]);
  });

  it("is the same when many events look alike, and has the counts of the last one that had any", () => {
    const texts = ["a", "b", 'q"uote', "", "d\n", "e", "f", "g"];
    const counted = (text: string, at: number, thought: boolean): GoogleChunk =>
      chunk([thought ? { text, thought } : { text }], undefined, {
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: at, totalTokenCount: 3 + at },
        responseId: "r",
      });
    const stream = [
      ...texts.map((text, at) => counted(text, at, true)),
      ...texts.map((text, at) => counted(text, at + 10, false)),
      chunk([], "STOP"),
    ];
    expect(decode(stream).answer).toEqual({
      content: [
        { type: "thinking", thinking: texts.join("") },
        { type: "text", text: texts.join("") },
      ],
      finish: {
        type: "finish",
        finishReason: { unified: "stop", raw: "STOP" },
        usage: {
          inputTokens: 3,
          outputTokens: 17,
          raw: { promptTokenCount: 3, candidatesTokenCount: 17, totalTokenCount: 20 },
        },
        responseId: "r",
      },
    });
  });

  it("goes on after a finish reason that older models repeat in every event", () => {
    const decoder = new GoogleDecoder(() => undefined, TARGET);
    decoder.event("", JSON.stringify(chunk([{ text: "a" }], "STOP")));
    expect(decoder.done()).toBe(false);
    expect(decode([chunk([{ text: "a" }], "STOP"), chunk([{ text: "b" }], "STOP")]).answer.content).toEqual([
      { type: "text", text: "ab" },
    ]);
  });

  it("keeps parts of the provider's own, and skips the end mark some gateways add", () => {
    const parts: StreamPart[] = [];
    const decoder = new GoogleDecoder((part) => parts.push(part), TARGET);
    decoder.event("", JSON.stringify(chunk([{ inlineData: { mimeType: "image/png", data: "AA" } }], "STOP")));
    decoder.event("", "[DONE]");
    decoder.end();
    expect(parts.map(({ type }) => type)).toEqual(["block", "finish"]);
  });
});

describe("the finish reason", () => {
  it.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "refusal"],
    ["RECITATION", "refusal"],
    ["LANGUAGE", "refusal"],
    ["BLOCKLIST", "refusal"],
    ["PROHIBITED_CONTENT", "refusal"],
    ["SPII", "refusal"],
    ["IMAGE_SAFETY", "refusal"],
    ["IMAGE_PROHIBITED_CONTENT", "refusal"],
    ["IMAGE_RECITATION", "refusal"],
    ["TOO_MANY_TOOL_CALLS", "error"],
    ["MISSING_THOUGHT_SIGNATURE", "error"],
    ["CONTINUATION", "length"],
    ["OTHER", "other"],
    ["FINISH_REASON_UNSPECIFIED", "other"],
    ["NO_IMAGE", "other"],
    ["SOMETHING_NEW", "other"],
  ])("%s is %s", (raw, unified) => {
    expect(decode([chunk([{ text: "x" }], raw)]).answer.finish.finishReason).toEqual({ unified, raw });
  });

  it.each([
    ["STOP", "tool_use"],
    ["FUNCTION_CALL", "tool_use"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "refusal"],
  ])("%s with calls is %s", (raw, unified) => {
    expect(
      decode([chunk([{ functionCall: { id: "c", name: "a" } }], raw)]).answer.finish.finishReason,
    ).toEqual({ unified, raw });
  });

  it.each([
    ["MALFORMED_FUNCTION_CALL", "Malformed function call: print(default_api.read(path='a'))", "read"],
    ["UNEXPECTED_TOOL_CALL", "Unexpected tool call: call:list{path:a}", "list"],
    ["MALFORMED_FUNCTION_CALL", "", "malformed_function_call"],
  ])("%s (%s) becomes a call that tells the model", (finishReason, finishMessage, name) => {
    const { answer } = decode([{ candidates: [{ finishReason, finishMessage }] }]);
    expect(answer).toEqual({
      content: [
        {
          type: "tool_use",
          id: "made-up",
          name,
          input: {},
          invalid_input: { reason: "malformed", raw: finishMessage },
        },
      ],
      finish: {
        type: "finish",
        finishReason: { unified: "tool_use", raw: finishReason },
        usage: { inputTokens: 0, outputTokens: 0 },
      },
    });
  });

  it("of a blocked prompt is a refusal with the reason", () => {
    const { answer } = decode([
      { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 4 } },
    ]);
    expect(answer).toEqual({
      content: [],
      finish: {
        type: "finish",
        finishReason: { unified: "refusal", raw: "PROHIBITED_CONTENT" },
        usage: { inputTokens: 4, outputTokens: 0, raw: { promptTokenCount: 4 } },
      },
    });
  });
});

describe("a broken stream", () => {
  const retryable = expect.objectContaining({ code: "invalid_response", retryable: true });

  it("that ends without a finish reason is reported", () => {
    expect(() => decode([chunk([{ text: "half" }])])).toThrow(retryable);
  });

  it("with a malformed answer is reported", () => {
    expect(() => decode([chunk([], "MALFORMED_RESPONSE")])).toThrow(retryable);
  });

  it.each(["not json", "3", "null"])("with an event %s is reported", (data) => {
    expect(() => new GoogleDecoder(() => undefined, TARGET).event("", data)).toThrow(retryable);
  });

  it.each([
    [{ code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" }, "provider_error", true],
    [{ code: 429, message: "Quota.", status: "RESOURCE_EXHAUSTED" }, "rate_limit", true],
    [{ code: 400, message: "Bad.", status: "INVALID_ARGUMENT" }, "bad_request", false],
  ])("with the error %o throws it", (error, code, isRetryable) => {
    expect(() => decode([chunk([{ text: "a" }]), { error }])).toThrow(
      expect.objectContaining({ code, retryable: isRetryable }),
    );
  });

  it("never throws anything but a typed error, whatever stands in its fields", () => {
    const odd = fc.constantFrom<unknown>(null, 0, "x", [], {}, [null], true, undefined);
    const fields = (model: { readonly [key: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<unknown> =>
      fc.record(
        Object.fromEntries(Object.entries(model).map(([key, value]) => [key, fc.oneof(odd, value)])),
        { requiredKeys: [] },
      );
    const functionCall = fields({ id: fc.string(), name: fc.string(), args: fields({ a: fc.string() }) });
    const part = fields({
      text: fc.string(),
      thought: fc.boolean(),
      thoughtSignature: fc.string(),
      functionCall,
    });
    const content = fields({ parts: fc.array(fc.oneof(odd, part), { maxLength: 3 }) });
    const candidate = fields({
      content,
      finishReason: fc.constantFrom("STOP", "CONTINUATION", "MALFORMED_FUNCTION_CALL"),
    });
    const event = fields({
      candidates: fc.array(fc.oneof(odd, candidate), { maxLength: 2 }),
      usageMetadata: fields({ promptTokenCount: fc.nat() }),
      promptFeedback: fields({ blockReason: fc.string() }),
      modelVersion: fc.string(),
      error: fields({ code: fc.nat(), message: fc.string(), details: fc.array(odd) }),
    });
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            event.map((value) => JSON.stringify(value)),
            fc.string(),
          ),
          { maxLength: 4 },
        ),
        (events) => {
          const decoder = new GoogleDecoder(() => undefined, TARGET);
          try {
            for (const data of events) decoder.event("", data);
            decoder.end();
          } catch (error) {
            expect(error).toMatchObject({ name: "NanoAgentError" });
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

function fromBytes(pieces: readonly Uint8Array[]): Answer {
  const parts: StreamPart[] = [];
  const decoder = new GoogleDecoder((part) => parts.push(part), TARGET);
  const parser = createSseParser(decoder.event);
  const utf8 = new TextDecoder();
  for (const piece of pieces) parser.push(utf8.decode(piece, { stream: true }));
  parser.push(utf8.decode());
  parser.end();
  decoder.end();
  return fold(parts);
}
