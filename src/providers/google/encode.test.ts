import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantBlock, ToolResultBlock, UserBlock } from "../../core/message/block.ts";
import { assistantMessage, type Message, userMessage } from "../../core/message/message.ts";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import type { WireTarget } from "../wire.ts";
import { createGoogleEncoder } from "./encode.ts";

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

function contents(messages: readonly Message[], target: Partial<WireTarget> = {}): unknown {
  return body({ messages }, target)["contents"];
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

describe("address and headers", () => {
  it.each([
    [
      "https://generativelanguage.googleapis.com/v1beta",
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash",
    ],
    ["http://127.0.0.1:4010", "http://127.0.0.1:4010/v1beta/models/gemini-2.5-flash"],
    ["http://host/proxy/v1", "http://host/proxy/v1/models/gemini-2.5-flash"],
    ["http://host/v1alpha", "http://host/v1alpha/models/gemini-2.5-flash"],
    [
      "https://eu/v1/projects/p/locations/l/publishers/google",
      "https://eu/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash",
    ],
  ])("base URL %s asks %s", (baseUrl, expected) => {
    const { url } = createGoogleEncoder({ ...TARGET, baseUrl })({ messages: [hi] });
    expect(url).toBe(`${expected}:streamGenerateContent?alt=sse`);
  });

  it("takes an id that is a path as it is", () => {
    const { url } = createGoogleEncoder({ ...TARGET, modelId: "tunedModels/my model" })({ messages: [hi] });
    expect(url).toBe(`${TARGET.baseUrl}/tunedModels/my%20model:streamGenerateContent?alt=sse`);
  });

  it("sends the key in its header, and extra headers win", () => {
    const { headers } = createGoogleEncoder({
      ...TARGET,
      headers: { "x-goog-api-key": "other", "x-a": "b" },
    })({ messages: [hi] });
    expect(headers).toEqual({ "content-type": "application/json", "x-goog-api-key": "other", "x-a": "b" });
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

  it("leaves the parameters of a tool without arguments out, and writes the OpenAPI subset where asked to", () => {
    const none: ToolSpec = {
      name: "now",
      description: "Time.",
      parameters: { type: "object", properties: {} },
    };
    const tools = body({ messages: [hi], tools: [none, read] }, { quirks: { openApiParameters: true } })[
      "tools"
    ];
    const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
    expect(tools).toEqual([
      {
        functionDeclarations: [
          { name: "now", description: "Time." },
          { name: "read", description: "Reads a file.", parameters },
        ],
      },
    ]);
  });

  it("puts the system prompt in front of the first message where the model knows no system instruction", () => {
    expect(body({ messages: [hi], system: "Be brief." }, { modelId: "gemma-3-27b-it" })).toEqual({
      contents: [{ role: "user", parts: [{ text: "Be brief." }, { text: "hi" }] }],
    });
  });
});

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
    expect(contents([message], GEMINI_3)).toEqual([
      { role: "model", parts: [{ ...first, ...skip }, second] },
    ]);
    expect(contents([message])).toEqual([{ role: "model", parts: [first, second] }]);
  });
});

describe("continuation", () => {
  const half = (token: string): Message =>
    assistantMessage([
      { type: "text", text: "half" },
      { type: "thinking", thinking: "", provider_data: { google: { continuationToken: token } } },
    ]);

  it("asks for the rest of a paused answer with its last token in place of the answer", () => {
    expect(body({ messages: [hi, half("T1"), half("T2")] })).toEqual({
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      continuationToken: "T2",
    });
  });

  it("sends the halves as one answer once the conversation has gone on", () => {
    expect(body({ messages: [hi, half("T1"), assistantMessage("rest"), userMessage("next")] })).toEqual({
      contents: [
        { role: "user", parts: [{ text: "hi" }] },
        { role: "model", parts: [{ text: "half" }, { text: "rest" }] },
        { role: "user", parts: [{ text: "next" }] },
      ],
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
