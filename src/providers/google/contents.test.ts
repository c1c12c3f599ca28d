import { describe, expect, it } from "vitest";
import {
  type AssistantBlock,
  assistantMessage,
  type Message,
  type ToolResultBlock,
  type UserBlock,
  userMessage,
} from "../../core/message/message.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import type { WireTarget } from "../wire.ts";
import { createGoogleEncoder } from "./encode-google.ts";

const TARGET: WireTarget = {
  provider: "google",
  modelId: "gemini-2.5-flash",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  apiKey: "k",
};
const GEMINI_3: Partial<WireTarget> = { modelId: "gemini-3-flash-preview" };

function body(request: ModelRequest, target: Partial<WireTarget> = {}): { readonly [key: string]: unknown } {
  return JSON.parse(createGoogleEncoder({ ...TARGET, ...target })(request).body);
}

function contents(messages: readonly Message[], target: Partial<WireTarget> = {}): readonly unknown[] {
  return body({ messages }, target)["contents"] as readonly unknown[];
}

const hi = userMessage("hi");
const call = (id: string, name = "read", signature?: string): AssistantBlock => ({
  type: "tool_use",
  id,
  name,
  input: { path: id },
  ...(signature === undefined ? {} : { provider_data: { google: { thoughtSignature: signature } } }),
});
const result = (id: string, content: ToolResultBlock["content"], is_error?: boolean): ToolResultBlock => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...(is_error === undefined ? {} : { is_error }),
});
const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } } as const;

describe("contents", () => {
  it("merges messages of one role and leaves empty ones out", () => {
    const messages = [
      userMessage("a"),
      userMessage("b"),
      userMessage(""),
      assistantMessage([]),
      userMessage("c"),
      assistantMessage("d"),
      assistantMessage("e"),
    ];
    expect(contents(messages)).toEqual([
      { role: "user", parts: [{ text: "a" }, { text: "b" }, { text: "c" }] },
      { role: "model", parts: [{ text: "d" }, { text: "e" }] },
    ]);
  });

  it("refuses a request with nothing in it before anything is sent", () => {
    expect(() => contents([userMessage("")])).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  it("pairs calls with results by id and name, results first, and tells errors apart", () => {
    const messages = [
      hi,
      assistantMessage([{ type: "text", text: "Reading." }, call("c1"), call("c2", "list")]),
      userMessage([
        { type: "text", text: "and hurry" },
        result("c1", "one"),
        result(
          "c2",
          [
            { type: "text", text: "no" },
            { type: "text", text: "way" },
          ],
          true,
        ),
      ]),
    ];
    expect(contents(messages)).toEqual([
      { role: "user", parts: [{ text: "hi" }] },
      {
        role: "model",
        parts: [
          { text: "Reading." },
          { functionCall: { id: "c1", name: "read", args: { path: "c1" } } },
          { functionCall: { id: "c2", name: "list", args: { path: "c2" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name: "read", response: { output: "one" } } },
          { functionResponse: { id: "c2", name: "list", response: { error: "no\nway" } } },
          { text: "and hurry" },
        ],
      },
    ]);
  });

  it("leaves ids out where the endpoint refuses them", () => {
    const messages = [hi, assistantMessage([call("c1")]), userMessage([result("c1", "one")])];
    expect(contents(messages, { quirks: { functionCallIds: false } })).toEqual([
      { role: "user", parts: [{ text: "hi" }] },
      { role: "model", parts: [{ functionCall: { name: "read", args: { path: "c1" } } }] },
      { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "one" } } }] },
    ]);
  });

  it("sends images inline, by address with a type, and data addresses inline", () => {
    const url = (address: string): UserBlock => ({ type: "image", source: { type: "url", url: address } });
    const message = userMessage([
      png,
      url("https://h/a.JPG?x=1"),
      url("https://h/b"),
      url("data:image/gif;base64,R0lG"),
    ]);
    expect(contents([message])).toEqual([
      {
        role: "user",
        parts: [
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
          { fileData: { mimeType: "image/jpeg", fileUri: "https://h/a.JPG?x=1" } },
          { fileData: { fileUri: "https://h/b" } },
          { inlineData: { mimeType: "image/gif", data: "R0lG" } },
        ],
      },
    ]);
  });

  it("puts images of a result into the function response on Gemini 3", () => {
    const messages = [hi, assistantMessage([call("c1", "shot", "S")]), userMessage([result("c1", [png])])];
    expect(contents(messages, GEMINI_3)).toEqual([
      { role: "user", parts: [{ text: "hi" }] },
      {
        role: "model",
        parts: [{ functionCall: { id: "c1", name: "shot", args: { path: "c1" } }, thoughtSignature: "S" }],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "c1",
              name: "shot",
              response: { output: "See the image." },
              parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
            },
          },
        ],
      },
    ]);
  });

  it("puts images of a result behind all function responses on older models", () => {
    const messages = [
      hi,
      assistantMessage([call("c1"), call("c2")]),
      userMessage([result("c1", [png], true), result("c2", "two")]),
    ];
    expect(contents(messages)).toMatchObject([
      {},
      {},
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", response: { error: "See the image." } } },
          { functionResponse: { id: "c2", response: { output: "two" } } },
          { text: "Result of read:" },
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
        ],
      },
    ]);
  });
});

describe("thought signatures", () => {
  it("go back on the part they came with; summaries without one and thinking of others do not", () => {
    const message = assistantMessage([
      { type: "thinking", thinking: "a summary" },
      {
        type: "thinking",
        thinking: "foreign",
        signature: "x",
        provider_data: { anthropic: { signature: "x" } },
      },
      {
        type: "thinking",
        thinking: "signed",
        provider_data: { google: { thought: true, thoughtSignature: "A" } },
      },
      { type: "text", text: "Answer", provider_data: { google: { thoughtSignature: "B" } } },
      { type: "thinking", thinking: "", provider_data: { google: { thoughtSignature: "C" } } },
      call("c1", "read", "D"),
      call("c2"),
    ]);
    expect(contents([hi, message], GEMINI_3)).toEqual([
      { role: "user", parts: [{ text: "hi" }] },
      {
        role: "model",
        parts: [
          { text: "signed", thought: true, thoughtSignature: "A" },
          { text: "Answer", thoughtSignature: "B" },
          { text: "", thoughtSignature: "C" },
          { functionCall: { id: "c1", name: "read", args: { path: "c1" } }, thoughtSignature: "D" },
          { functionCall: { id: "c2", name: "read", args: { path: "c2" } } },
        ],
      },
    ]);
  });

  it("of a step that another provider made are replaced by the documented value on Gemini 3 only", () => {
    const message = assistantMessage([call("c1"), call("c2")]);
    const skip = { thoughtSignature: "skip_thought_signature_validator" };
    const first = { functionCall: { id: "c1", name: "read", args: { path: "c1" } } };
    const second = { functionCall: { id: "c2", name: "read", args: { path: "c2" } } };
    expect(contents([hi, message], GEMINI_3).slice(1)).toEqual([
      { role: "model", parts: [{ ...first, ...skip }, second] },
    ]);
    expect(contents([hi, message]).slice(1)).toEqual([{ role: "model", parts: [first, second] }]);
  });
});

it("puts a word of the user in front of a conversation that begins with an answer", () => {
  expect(contents([assistantMessage("How can I help?"), hi])).toEqual([
    { role: "user", parts: [{ text: "(The conversation begins with your message.)" }] },
    { role: "model", parts: [{ text: "How can I help?" }] },
    { role: "user", parts: [{ text: "hi" }] },
  ]);
});
