// The streams are written by hand from the vendors' documentation and published traces; none was recorded.
import { describe, expect, it } from "vitest";
import { replayBody, sseBody, TEST_TARGET } from "../../../test/replay-stream.ts";
import type { AssistantMessage } from "../../core/message/message.ts";
import { openAiChat } from "./chat-wire.ts";

function decode(...deltas: readonly object[]): AssistantMessage {
  const chunks = deltas.map((delta) => ({
    id: "c",
    created: 1,
    choices: [{ index: 0, delta, finish_reason: null }],
  }));
  const last = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  return replayBody(openAiChat, sseBody(...chunks, last, "[DONE]")).message;
}

function thinking(text: string, openai_chat: object): object {
  return { type: "thinking", thinking: text, provider_data: { openai_chat } };
}

const answer = { type: "text", text: "42" };

describe("reasoning", () => {
  it.each(["reasoning_content", "reasoning", "reasoning_text"])("in %s is told from the answer", (field) => {
    const message = decode(
      { role: "assistant", content: null, [field]: "" },
      { content: null, [field]: "We " },
      { content: null, [field]: "think" },
      { content: null, [field]: '\n"so"' },
      { content: "4", [field]: null },
      { content: "2" },
    );
    expect(message.content).toEqual([thinking('We think\n"so"', { field }), answer]);
  });

  it("in two fields at once is read once", () => {
    const message = decode({ reasoning: "hm", reasoning_content: "hm" }, { content: "42" });
    expect(message.content).toEqual([thinking("hm", { field: "reasoning_content" }), answer]);
  });

  it("in parts of the content (Mistral) is told from the answer", () => {
    const message = decode(
      { content: "" },
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "We " }] }] },
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "think" }], closed: true }] },
      { content: [{ type: "text", text: "4" }] },
      { content: "2" },
    );
    expect(message.content).toEqual([thinking("We think", {}), answer]);
  });

  it("in reasoning_details (OpenRouter) is put together from its pieces", () => {
    const message = decode(
      {
        reasoning: "We ",
        reasoning_details: [{ type: "reasoning.text", text: "We ", index: 0, format: "anthropic-claude-v1" }],
      },
      {
        reasoning: "think",
        reasoning_details: [
          { type: "reasoning.text", text: "think", index: 0, format: "anthropic-claude-v1" },
        ],
      },
      {
        reasoning_details: [
          { type: "reasoning.text", signature: "sig", index: 0, format: "anthropic-claude-v1" },
        ],
      },
      { reasoning_details: [{ type: "reasoning.encrypted", data: "x", id: "r1", index: 1 }] },
      { reasoning_details: [{ type: "reasoning.encrypted", data: "y", id: "r2", index: 2 }] },
      { content: "42" },
    );
    const details = [
      { type: "reasoning.text", text: "We think", index: 0, format: "anthropic-claude-v1", signature: "sig" },
      { type: "reasoning.encrypted", data: "x", id: "r1", index: 1 },
      { type: "reasoning.encrypted", data: "y", id: "r2", index: 2 },
    ];
    expect(message.content).toEqual([thinking("We think", { field: "reasoning", details }), answer]);
  });

  it("that is hidden keeps its place and goes back", () => {
    const details = [{ type: "reasoning.encrypted", data: "x", id: null, index: 0 }];
    const message = decode({ content: "", reasoning_details: details }, { content: "42" });
    expect(message.content).toEqual([thinking("", { details }), answer]);
    const { body } = openAiChat.createEncoder({ ...TEST_TARGET, provider: "openrouter" })({
      messages: [message],
    });
    expect(JSON.parse(body).messages).toEqual([
      { role: "assistant", content: "42", reasoning_details: details },
    ]);
  });

  it("of DeepSeek goes back with the tool call it led to", () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "read", arguments: "{}" } };
    const message = decode({ reasoning_content: "Read it." }, { tool_calls: [call] });
    const { body } = openAiChat.createEncoder({ ...TEST_TARGET, provider: "deepseek" })({
      messages: [message],
    });
    expect(JSON.parse(body).messages).toEqual([
      {
        role: "assistant",
        content: null,
        reasoning_content: "Read it.",
        tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: "{}" } }],
      },
    ]);
  });
});
