import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../core/base/schema.ts";
import { assistantMessage, type Message, type UserBlock, userMessage } from "../../core/message/message.ts";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import type { WireTarget } from "../wire.ts";
import { createGoogleEncoder } from "./encode-google.ts";

const TARGET: WireTarget = {
  provider: "google",
  modelId: "gemini-2.5-flash",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  apiKey: "k",
};
function body(request: ModelRequest, target: Partial<WireTarget> = {}): { readonly [key: string]: unknown } {
  return JSON.parse(createGoogleEncoder({ ...TARGET, ...target })(request).body);
}

const hi = userMessage("hi");
const read: ToolSpec = {
  name: "read",
  description: "Reads a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
};
describe("address and headers", () => {
  it.each<readonly string[]>([
    [
      "https://generativelanguage.googleapis.com/v1beta",
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash",
    ],
    ["http://127.0.0.1:4010", "http://127.0.0.1:4010/v1beta/models/gemini-2.5-flash"],
    ["http://host/proxy/v1", "http://host/proxy/v1/models/gemini-2.5-flash"],
    ["http://host/gate?tenant=a", "http://host/gate/v1beta/models/gemini-2.5-flash", "&tenant=a"],
    ["http://host/v1alpha", "http://host/v1alpha/models/gemini-2.5-flash"],
    [
      "https://eu/v1/projects/p/locations/l/publishers/google",
      "https://eu/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash",
    ],
  ])("base URL %s asks %s", (baseUrl = "", expected = "", query = "") => {
    const { url } = createGoogleEncoder({ ...TARGET, baseUrl })({ messages: [hi] });
    expect(url).toBe(`${expected}:streamGenerateContent?alt=sse${query}`);
  });

  it("takes an id that is a path as it is", () => {
    const { url } = createGoogleEncoder({ ...TARGET, modelId: "tunedModels/my model" })({ messages: [hi] });
    expect(url).toBe(`${TARGET.baseUrl}/tunedModels/my%20model:streamGenerateContent?alt=sse`);
  });

  it("sends the key in its header, and extra headers win", () => {
    const { headers } = createGoogleEncoder({
      ...TARGET,
      headers: { "X-Goog-Api-Key": "other", "x-a": "b" },
    })({ messages: [hi] });
    expect(headers).toEqual({
      "content-type": "application/json",
      accept: "text/event-stream",
      "x-goog-api-key": "other",
      "x-a": "b",
    });
  });
});

describe("settings", () => {
  it("writes a request with everything", () => {
    const request: ModelRequest = {
      system: "Be brief.",
      messages: [hi],
      tools: [read],
      toolChoice: { type: "tool", name: "read" },
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
      effort: "low",
      parallelToolCalls: false,
      sessionId: "s",
      providerOptions: {
        google: { safetySettings: [], generationConfig: { seed: 7 }, tools: [{ googleSearch: {} }] },
        anthropic: { x: 1 },
      },
    };
    expect(body(request)).toEqual({
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "read", description: "Reads a file.", parametersJsonSchema: read.parameters },
          ],
        },
        { googleSearch: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } },
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topP: 0.9,
        stopSequences: ["END"],
        thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 },
        seed: 7,
      },
      safetySettings: [],
    });
  });

  it("writes nothing that was not asked for", () => {
    expect(body({ messages: [hi], system: "", tools: [], stopSequences: [] })).toEqual({
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
    });
  });

  it.each([
    ["auto", undefined],
    ["none", { functionCallingConfig: { mode: "NONE" } }],
    ["required", { functionCallingConfig: { mode: "ANY" } }],
  ] as const)("tool choice %s", (toolChoice, expected) => {
    expect(body({ messages: [hi], tools: [read], toolChoice })["toolConfig"]).toEqual(expected);
  });

  it("sends no tool choice without tools", () => {
    expect(body({ messages: [hi], toolChoice: "required" })["toolConfig"]).toBeUndefined();
  });

  it.each<[JsonSchema, boolean]>([
    [{}, false],
    [{ type: "object", properties: {}, required: [], additionalProperties: false, $schema: "s" }, false],
    [{ type: "object", additionalProperties: { type: "string" } }, true],
    [{ anyOf: [{ type: "object" }] }, true],
  ])("of the parameters %o says something: %s", (parameters, sent) => {
    const tools = [{ name: "a", description: "b", parameters }];
    const declaration = {
      name: "a",
      description: "b",
      ...(sent ? { parametersJsonSchema: parameters } : {}),
    };
    expect(body({ messages: [hi], tools })["tools"]).toEqual([{ functionDeclarations: [declaration] }]);
  });

  it("puts the system prompt in front of the first message where the model knows no system instruction", () => {
    expect(body({ messages: [hi], system: "Be brief." }, { modelId: "gemma-3-27b-it" })).toEqual({
      contents: [{ role: "user", parts: [{ text: "Be brief." }, { text: "hi" }] }],
    });
  });
});

describe("the text of a body", () => {
  const block: fc.Arbitrary<UserBlock> = fc.string().map((text) => ({ type: "text", text }));
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.array(block, { maxLength: 3 }).map((content) => userMessage(content)),
    fc.string().map((text) => assistantMessage(text)),
  );

  it("is the same whether messages were seen before or not, has no empty content and alternates roles", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const all = [userMessage("start"), ...messages];
        const encode = createGoogleEncoder(TARGET);
        for (let end = 1; end < all.length; end++) encode({ messages: all.slice(0, end) });
        const grown = encode({ messages: all }).body;
        expect(grown).toBe(createGoogleEncoder(TARGET)({ messages: all }).body);
        const parsed = JSON.parse(grown).contents as readonly {
          readonly role: string;
          readonly parts: readonly unknown[];
        }[];
        for (const [at, content] of parsed.entries()) {
          expect(content.parts).not.toHaveLength(0);
          expect(content.role).toBe(at % 2 === 0 ? "user" : "model");
        }
      }),
    );
  });

  it("serialises each message and tool once", () => {
    let serialised = 0;
    const counted = { toJSON: (): string => `${++serialised}` };
    const messages = [
      hi,
      assistantMessage([{ type: "tool_use", id: "c1", name: "read", input: { counted } }]),
    ];
    const tools: readonly ToolSpec[] = [{ ...read, description: "x" }];
    const encode = createGoogleEncoder(TARGET);
    const bodies = [encode({ messages, tools }).body, encode({ messages, tools: [...tools] }).body];
    expect(serialised).toBe(1);
    expect(bodies[0]).toBe(bodies[1]);
  });
});
