import { describe, expect, it } from "vitest";
import { assistantMessage, type Message, userMessage } from "../../core/message/message.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import type { AiSdkVersion } from "./call-options.ts";
import { createCallOptions } from "./call-options.ts";

const provider = "anthropic.messages";
const convert = (request: ModelRequest, version: AiSdkVersion = "v4"): unknown =>
  createCallOptions(version, provider)(request);
const prompt = (messages: readonly Message[], version?: AiSdkVersion): unknown =>
  (convert({ messages }, version) as { readonly prompt: unknown }).prompt;

const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } } as const;
const web = { type: "image", source: { type: "url", url: "https://h/a.png" } } as const;
const url = new URL("https://h/a.png");
const called = assistantMessage([{ type: "tool_use", id: "c1", name: "shot", input: { a: 1 } }]);
const call = {
  role: "assistant",
  content: [{ type: "tool-call", toolCallId: "c1", toolName: "shot", input: { a: 1 } }],
};
const answered = (output: unknown): unknown => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: "c1", toolName: "shot", output }],
});

describe("createCallOptions", () => {
  it("hands over every setting", () => {
    const request: ModelRequest = {
      system: "Be brief.",
      messages: [userMessage("hi")],
      tools: [{ name: "read", description: "Reads.", parameters: { type: "object" } }],
      toolChoice: { type: "tool", name: "read" },
      maxOutputTokens: 5,
      temperature: 0,
      topP: 1,
      stopSequences: ["X"],
      effort: "high",
      providerOptions: { ai_sdk: { anthropic: { sendReasoning: true } }, google: { x: 1 } },
    };
    const expected = {
      prompt: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "hi" }] },
      ],
      tools: [{ type: "function", name: "read", description: "Reads.", inputSchema: { type: "object" } }],
      toolChoice: { type: "tool", toolName: "read" },
      maxOutputTokens: 5,
      temperature: 0,
      topP: 1,
      stopSequences: ["X"],
      providerOptions: { anthropic: { sendReasoning: true } },
    };
    expect(convert(request, "v4")).toEqual({ ...expected, reasoning: "high" });
    expect(convert(request, "v3")).toEqual(expected);
  });

  it.each(["auto", "none", "required"] as const)(
    "hands over the tool choice %s, only with tools",
    (toolChoice) => {
      const tools = [{ name: "a", description: "", parameters: {} }];
      expect(convert({ messages: [], tools, toolChoice })).toMatchObject({
        toolChoice: { type: toolChoice },
      });
      expect(convert({ messages: [], toolChoice })).toEqual({ prompt: [] });
    },
  );

  it("replaces halves of characters wherever they stand", () => {
    const half = "\ud83d";
    const request: ModelRequest = {
      system: half,
      messages: [
        userMessage(half),
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "t", input: { [half]: [half] } }] },
        userMessage([{ type: "tool_result", tool_use_id: "c", content: half }]),
      ],
      tools: [{ name: "t", description: half, parameters: { type: "object", description: half } }],
    };
    const sent = JSON.stringify(convert(request, "v4"));
    expect([sent.includes("\\ud83d"), sent.split("\ufffd").length - 1]).toEqual([false, 7]);
  });

  it("writes images of a person as each version wants them", () => {
    const message = userMessage([png, web]);
    expect(prompt([message], "v3")).toEqual([
      {
        role: "user",
        content: [
          { type: "file", mediaType: "image/png", data: "AAAA" },
          { type: "file", mediaType: "image/*", data: url },
        ],
      },
    ]);
    expect(prompt([message], "v4")).toEqual([
      {
        role: "user",
        content: [
          { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
          { type: "file", mediaType: "image", data: { type: "url", url } },
        ],
      },
    ]);
  });

  it("writes images of a tool as each version wants them", () => {
    const messages = [
      called,
      userMessage([
        { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "see" }, png, web] },
      ]),
    ];
    const text = { type: "text", text: "see" };
    expect(prompt(messages, "v3")).toEqual([
      call,
      answered({
        type: "content",
        value: [
          text,
          { type: "image-data", data: "AAAA", mediaType: "image/png" },
          { type: "image-url", url: "https://h/a.png" },
        ],
      }),
    ]);
    expect(prompt(messages, "v4")).toEqual([
      call,
      answered({
        type: "content",
        value: [
          text,
          { type: "file", data: { type: "data", data: "AAAA" }, mediaType: "image/png" },
          { type: "file", data: { type: "url", url }, mediaType: "image" },
        ],
      }),
    ]);
  });

  it("keeps the error of a failed call visible, also when it came with an image", () => {
    const failed = userMessage([
      {
        type: "tool_result",
        tool_use_id: "c1",
        content: [{ type: "text", text: "no" }, png],
        is_error: true,
      },
      { type: "text", text: "go on" },
    ]);
    expect(prompt([called, failed])).toEqual([
      call,
      answered({ type: "error-text", value: "no" }),
      {
        role: "user",
        content: [
          { type: "text", text: "Images of the failed call:" },
          { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
          { type: "text", text: "go on" },
        ],
      },
    ]);
  });

  it("sends metadata and reasoning back to the provider they came from and to no other", () => {
    const from = (name: string): Message =>
      assistantMessage([
        {
          type: "thinking",
          thinking: "hm",
          provider_data: { ai_sdk: { provider: name, metadata: { anthropic: { signature: "S" } } } },
        },
        { type: "thinking", thinking: "plain", provider_data: { ai_sdk: { provider: name } } },
        {
          type: "text",
          text: "a",
          provider_data: { ai_sdk: { provider: name, metadata: { openai: { itemId: "i" } } } },
        },
        {
          type: "thinking",
          thinking: "",
          provider_data: {
            ai_sdk: { provider: name, metadata: { google: { thoughtSignature: "T" } }, emptyText: true },
          },
        },
        { type: "text", text: "" },
      ]);
    expect(prompt([from(provider)])).toEqual([
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "S" } } },
          { type: "reasoning", text: "plain" },
          { type: "text", text: "a", providerOptions: { openai: { itemId: "i" } } },
          { type: "text", text: "", providerOptions: { google: { thoughtSignature: "T" } } },
        ],
      },
    ]);
    expect(prompt([from("other")])).toEqual([{ role: "assistant", content: [{ type: "text", text: "a" }] }]);
  });

  it("leaves out messages with nothing to send", () => {
    expect(
      prompt([
        userMessage(""),
        assistantMessage([{ type: "thinking", thinking: "foreign", signature: "s" }]),
      ]),
    ).toEqual([]);
  });
});
