import { describe, expect, it } from "vitest";
import type { StreamPart } from "../../core/model/model.ts";
import type { AiSdkStreamPart } from "./call-options.ts";
import { AiSdkDecoder } from "./from-ai-sdk.ts";

function decode(...chunks: readonly AiSdkStreamPart[]): readonly StreamPart[] {
  const parts: StreamPart[] = [];
  const decoder = new AiSdkDecoder("p.chat", (part) => parts.push(part));
  for (const chunk of chunks) if (decoder.chunk(chunk)) break;
  return parts;
}

const finish = (unified: string, raw?: string): AiSdkStreamPart => ({
  type: "finish",
  finishReason: { unified, raw },
  usage: {
    inputTokens: { total: 10, cacheRead: 4, cacheWrite: 3 },
    outputTokens: { total: 6, reasoning: 2 },
    raw: { x: 1 },
  },
});
const usage = {
  inputTokens: 10,
  outputTokens: 6,
  cacheReadTokens: 4,
  cacheWriteTokens: 3,
  reasoningTokens: 2,
  raw: { x: 1 },
};
const ended = (unified: string, raw: string): object => ({
  type: "finish",
  finishReason: { unified, raw },
  usage,
});

describe("AiSdkDecoder", () => {
  it("turns reasoning, text and a call into parts, with what must go back", () => {
    const parts = decode(
      { type: "stream-start" },
      { type: "response-metadata", id: "r1", modelId: "m-1" },
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { anthropic: { signature: "S" } } },
      { type: "reasoning-end", id: "0" },
      { type: "text-start", id: "1", providerMetadata: { openai: { itemId: "i" } } },
      { type: "text-delta", id: "1", delta: "Hel" },
      { type: "text-delta", id: "1", delta: "lo" },
      { type: "text-end", id: "1", providerMetadata: { openai: { phase: "final" } } },
      { type: "tool-input-start", id: "c1", toolName: "read" },
      { type: "tool-input-delta", id: "c1", delta: '{"a"' },
      { type: "tool-input-delta", id: "c1", delta: ":1}" },
      { type: "tool-input-end", id: "c1" },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "read",
        input: '{"a":1}',
        providerMetadata: { google: { thoughtSignature: "T" } },
      },
      { type: "source", id: "s" },
      finish("tool-calls", "tool_use"),
    );
    const data = (metadata: object): object => ({ ai_sdk: { provider: "p.chat", metadata } });
    expect(parts).toEqual([
      { type: "thinking_delta", index: 0, text: "hm" },
      {
        type: "block",
        index: 0,
        block: { type: "thinking", thinking: "hm", provider_data: data({ anthropic: { signature: "S" } }) },
      },
      { type: "text_delta", index: 1, text: "Hel" },
      { type: "text_delta", index: 1, text: "lo" },
      {
        type: "block",
        index: 1,
        block: {
          type: "text",
          text: "Hello",
          provider_data: data({ openai: { itemId: "i", phase: "final" } }),
        },
      },
      { type: "tool_call_start", index: 2, id: "c1", name: "read" },
      { type: "tool_call_delta", index: 2, json: '{"a"' },
      { type: "tool_call_delta", index: 2, json: ":1}" },
      {
        type: "block",
        index: 2,
        block: {
          type: "tool_use",
          id: "c1",
          name: "read",
          input: { a: 1 },
          provider_data: data({ google: { thoughtSignature: "T" } }),
        },
      },
      { ...ended("tool_use", "tool_use"), model: "m-1", responseId: "r1" },
    ]);
  });

  it("keeps redacted reasoning, which has metadata but no text, and drops a block with neither", () => {
    const parts = decode(
      { type: "reasoning-start", id: "0", providerMetadata: { anthropic: { redactedData: "R" } } },
      { type: "reasoning-end", id: "0" },
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-end", id: "1" },
      finish("stop"),
    );
    const provider_data = { ai_sdk: { provider: "p.chat", metadata: { anthropic: { redactedData: "R" } } } };
    expect(parts).toEqual([
      { type: "block", index: 0, block: { type: "thinking", thinking: "", provider_data } },
      ended("stop", "stop"),
    ]);
  });

  it("keeps a signature on text without characters in a thinking block that says so", () => {
    const parts = decode(
      { type: "text-start", id: "0" },
      { type: "text-end", id: "0", providerMetadata: { google: { thoughtSignature: "T" } } },
      finish("stop"),
    );
    const provider_data = {
      ai_sdk: { provider: "p.chat", metadata: { google: { thoughtSignature: "T" } }, emptyText: true },
    };
    expect(parts[0]).toEqual({
      type: "block",
      index: 0,
      block: { type: "thinking", thinking: "", provider_data },
    });
  });

  it("takes calls that come whole, and interleaved ones", () => {
    const parts = decode(
      { type: "tool-input-start", id: "a", toolName: "x" },
      { type: "tool-input-start", id: "b", toolName: "y" },
      { type: "tool-call", toolCallId: "b", toolName: "y", input: "" },
      { type: "tool-call", toolCallId: "a", toolName: "x", input: "{}" },
      { type: "tool-call", toolCallId: "c", toolName: "z", input: '{"k":[1]}' },
      finish("stop", "end"),
    );
    expect(parts.filter((part) => part.type === "block" || part.type === "finish")).toEqual([
      { type: "block", index: 1, block: { type: "tool_use", id: "b", name: "y", input: {} } },
      { type: "block", index: 0, block: { type: "tool_use", id: "a", name: "x", input: {} } },
      { type: "block", index: 2, block: { type: "tool_use", id: "c", name: "z", input: { k: [1] } } },
      ended("tool_use", "end"),
    ]);
  });

  it.each([
    ["length", "truncated", "length"],
    ["tool-calls", "malformed", "tool_use"],
  ])("of arguments that are not JSON, with %s, says they are %s", (unified, reason, expected) => {
    const parts = decode(
      { type: "tool-call", toolCallId: "a", toolName: "x", input: '{"k":' },
      finish(unified),
    );
    expect(parts.slice(1)).toEqual([
      {
        type: "block",
        index: 0,
        block: { type: "tool_use", id: "a", name: "x", input: {}, invalid_input: { reason, raw: '{"k":' } },
      },
      ended(expected, unified),
    ]);
  });

  it("closes what is still open when the answer is cut by the output limit", () => {
    const parts = decode(
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "tool-input-start", id: "a", toolName: "x" },
      { type: "tool-input-delta", id: "a", delta: '{"k' },
      finish("length"),
    );
    expect(parts.filter((part) => part.type === "block")).toEqual([
      {
        type: "block",
        index: 0,
        block: { type: "thinking", thinking: "hm", provider_data: { ai_sdk: { provider: "p.chat" } } },
      },
      {
        type: "block",
        index: 1,
        block: {
          type: "tool_use",
          id: "a",
          name: "x",
          input: {},
          invalid_input: { reason: "truncated", raw: '{"k' },
        },
      },
    ]);
  });

  it("skips tools that ran at the provider", () => {
    const parts = decode(
      { type: "tool-input-start", id: "s", toolName: "web_search", providerExecuted: true },
      { type: "tool-input-delta", id: "s", delta: "{}" },
      { type: "tool-call", toolCallId: "s", toolName: "web_search", input: "{}", providerExecuted: true },
      { type: "tool-result", toolCallId: "s" },
      finish("stop"),
    );
    expect(parts).toEqual([ended("stop", "stop")]);
  });

  it.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content-filter", "refusal"],
    ["tool-calls", "tool_use"],
    ["error", "error"],
    ["other", "other"],
    ["new-word", "other"],
    ["constructor", "other"],
  ])("the finish reason %s is %s", (unified, expected) => {
    expect(decode(finish(unified, "raw"))).toEqual([ended(expected, "raw")]);
  });

  it("takes an interrupted stream for a cut answer", () => {
    expect(() => decode(finish("interrupted"))).toThrow(
      expect.objectContaining({ code: "invalid_response", retryable: true }),
    );
  });

  it("leaves figures out that were not reported", () => {
    const bare: AiSdkStreamPart = { type: "finish", finishReason: "stop" };
    expect(decode(bare)).toEqual([
      {
        type: "finish",
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: 0, outputTokens: 0 },
      },
    ]);
  });
});
