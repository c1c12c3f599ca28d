import { describe, expect, it, test } from "vitest";
import type { WireName } from "../core/message/message.ts";
import { checkRequest } from "./check-request.ts";

const PNG = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0K" } };
const SCHEMA = { type: "object", properties: {} };

const CLAUDE = {
  model: "m",
  max_tokens: 100,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  tools: [{ name: "read", input_schema: SCHEMA }],
  tool_choice: { type: "tool", name: "read" },
  messages: [
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "s" },
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "c1", name: "read", input: {} },
        { type: "tool_use", id: "c2", name: "read", input: { path: "a" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: [PNG, { type: "text", text: "see" }] },
        { type: "tool_result", tool_use_id: "c2", is_error: true },
        { type: "text", text: "go on" },
      ],
    },
  ],
};

const call = (id: string): object => ({ id, type: "function", function: { name: "read", arguments: "{}" } });
const CHAT = {
  model: "m",
  stream: true,
  stream_options: { include_usage: true },
  tools: [{ type: "function", function: { name: "read", parameters: SCHEMA } }],
  tool_choice: "auto",
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "hi" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
      ],
    },
    { role: "assistant", content: null, tool_calls: [call("c1"), call("c2")] },
    { role: "tool", tool_call_id: "c1", content: "" },
    { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "b" }] },
    { role: "assistant", content: "done" },
  ],
};

const RESPONSES = {
  model: "m",
  tools: [{ type: "function", name: "read", parameters: SCHEMA, strict: false }],
  tool_choice: { type: "function", name: "read" },
  input: [
    { role: "user", content: [{ type: "input_text", text: "hi" }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" },
    { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "ok" }] },
    { type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: "{}" },
    { type: "function_call", call_id: "c2", name: "read", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "" },
    {
      type: "function_call_output",
      call_id: "c2",
      output: [{ type: "input_image", image_url: "data:image/png;base64,AA" }],
    },
  ],
};

const GOOGLE = {
  systemInstruction: { parts: [{ text: "Be brief." }] },
  tools: [
    {
      functionDeclarations: [
        {
          name: "read",
          parameters: { type: "OBJECT", properties: { a: { type: "STRING", nullable: true } } },
        },
      ],
    },
  ],
  contents: [
    { role: "user", parts: [{ text: "hi" }, { inlineData: { mimeType: "image/png", data: "AA" } }] },
    {
      role: "model",
      parts: [
        { text: "", thoughtSignature: "s" },
        { functionCall: { name: "read", args: {} } },
        { functionCall: { name: "read", args: {}, id: "c2" } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { name: "read", response: { output: "a" } } },
        { functionResponse: { name: "read", id: "c2", response: {} } },
      ],
    },
  ],
};

const GOOD: { readonly [W in WireName]: object } = {
  anthropic: CLAUDE,
  openai_chat: CHAT,
  openai_responses: RESPONSES,
  google: GOOGLE,
};

/** The good request of a wire with the value at a path replaced, or removed by `undefined`. */
function spoilt(wire: WireName, path: string, value: unknown): unknown {
  const body: unknown = structuredClone(GOOD[wire]);
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let target = body as Record<string, unknown>;
  for (const key of keys) target = target[key] as Record<string, unknown>;
  if (value === undefined) delete target[last];
  else target[last] = value;
  return body;
}

test("a model that thinks is not told how to sample, nor which tool to call", () => {
  const thinking = { type: "adaptive" };
  const body = { ...CLAUDE, thinking, temperature: 0.2, top_k: 5, top_p: 0.5, tool_choice: { type: "any" } };
  expect(checkRequest("anthropic", body)).toEqual([
    "temperature may only be 1 while the model thinks",
    "top_k is not allowed while the model thinks",
    "top_p must be from 0.95 to 1 while the model thinks",
    "tool_choice forces a tool, which is not allowed while the model thinks",
  ]);
  expect(
    checkRequest("anthropic", {
      ...CLAUDE,
      thinking,
      temperature: 1,
      top_p: 0.95,
      tool_choice: { type: "auto" },
    }),
  ).toEqual([]);
});

test("a conversation may begin with an answer, and neighbours of one role count as one", () => {
  const said = (role: string) => ({ role, content: "hi" });
  const messages = [said("assistant"), said("assistant"), said("user"), said("user")];
  expect(checkRequest("anthropic", { ...CLAUDE, messages })).toEqual([]);
});

describe("checkRequest", () => {
  it.each<WireName>(["anthropic", "openai_chat", "openai_responses", "google"])(
    "finds no fault with a good request of %s",
    (wire) => {
      expect(checkRequest(wire, GOOD[wire])).toEqual([]);
    },
  );

  it.each<[WireName, string, unknown, string]>([
    ["anthropic", "max_tokens", undefined, "max_tokens must be a whole number from 1"],
    ["anthropic", "system.0.text", "a\ud83d", "body.system[0].text holds half a surrogate pair"],
    ["anthropic", "system.0.text", " \n", "system[0].text is empty"],
    [
      "anthropic",
      "tools.0.name",
      "read file",
      'tools[0].name is "read file"; a tool name is 1 to 64 of a-z A-Z 0-9 _ -',
    ],
    ["anthropic", "tools.0.input_schema", { type: "string" }, "tools[0] has no schema of type object"],
    [
      "anthropic",
      "tools.1",
      { name: "read", input_schema: SCHEMA },
      "tools[1] declares the tool read a second time",
    ],
    ["anthropic", "tool_choice.name", "write", "tool_choice names write, which is not declared"],
    ["anthropic", "tools", undefined, "tool_choice is given without tools"],
    ["anthropic", "tools.0.input_schema.anyOf", [], "tools[0] has a schema with anyOf at its top"],
    [
      "openai_chat",
      "tools.0.function.parameters.oneOf",
      [],
      "tools[0].function has a schema with oneOf at its top",
    ],
    [
      "anthropic",
      "thinking",
      { type: "enabled", budget_tokens: 512 },
      "thinking.budget_tokens must be a whole number from 1024",
    ],
    [
      "anthropic",
      "thinking",
      { type: "enabled", budget_tokens: 1_000_000 },
      "thinking.budget_tokens must be less than max_tokens",
    ],
    ["anthropic", "messages.0.content", "", "messages[0].content is empty"],
    ["anthropic", "messages.0.role", "system", 'messages[0] has role "system"; there are user and assistant'],
    [
      "anthropic",
      "messages.1.content.0.signature",
      undefined,
      "messages[1].content[0].signature is not text",
    ],
    ["anthropic", "messages.1.content.3.id", "c1", "messages[1].content[3].id uses the id c1 a second time"],
    ["anthropic", "messages.1.content.2.input", "{}", "messages[1].content[2].input is not an object"],
    [
      "anthropic",
      "messages.2.content.1.tool_use_id",
      "c9",
      'messages[2] answers "c9", which was not called right before',
    ],
    ["anthropic", "messages.2.content.1.tool_use_id", "c1", "messages[2] answers the call c1 twice"],
    [
      "anthropic",
      "messages.2.content.1",
      { type: "text", text: "no" },
      "messages[2] does not answer the call c2",
    ],
    ["anthropic", "messages.2", undefined, "messages[2] is not an object"],
    [
      "anthropic",
      "messages.2.content.0.is_error",
      true,
      "messages[2].content[0].content[0] is not a text, and the result is an error",
    ],
    [
      "anthropic",
      "messages.2.content.0.content.0.source.media_type",
      "image/bmp",
      "messages[2].content[0].content[0].source.media_type is not an image type that is taken",
    ],
    [
      "anthropic",
      "messages.3",
      { role: "assistant", content: [{ type: "text", text: "so " }] },
      "messages[3] is the last message and ends with blanks",
    ],
    ["openai_chat", "stream", false, "stream_options are only allowed when streaming"],
    ["openai_chat", "tools", [], "tools are empty; leave the field out"],
    [
      "openai_chat",
      "messages.2.tool_calls.0.function.arguments",
      "{",
      "messages[2].tool_calls[0].function.arguments is not JSON text of an object",
    ],
    ["openai_chat", "messages.2.tool_calls", undefined, "messages[2] has no content"],
    ["openai_chat", "messages.2.tool_calls", [], "messages[2].tool_calls are empty; leave the field out"],
    [
      "openai_chat",
      "messages.4.tool_call_id",
      "c1",
      "messages[2] (its tool messages) answers the call c1 twice",
    ],
    ["openai_chat", "messages.4.role", "user", "messages[2] (its tool messages) does not answer the call c2"],
    [
      "openai_chat",
      "messages.5",
      { role: "user", content: "x", name: "a b" },
      "messages[5].name has characters that are not allowed",
    ],
    [
      "openai_chat",
      "messages.5",
      { role: "assistant", content: [{ type: "image_url" }] },
      'messages[5].content[0] has type "image_url", which is not allowed here',
    ],
    ["openai_responses", "max_output_tokens", 5, "max_output_tokens must be at least 16"],
    ["openai_responses", "input.2.id", "fc_1", "input[2].id is fc_1; it must begin with msg"],
    ["openai_responses", "input.1.summary", undefined, "input[1].summary is not an array"],
    ["openai_responses", "input.2.role", "user", "input[1] is reasoning without the item that followed it"],
    ["openai_responses", "input.4.call_id", "c1", "input[4].call_id uses the id c1 a second time"],
    ["openai_responses", "input.6.call_id", "c9", 'input[6] answers "c9", which was not called before'],
    ["openai_responses", "input.6.call_id", "c1", "input does not answer the call c2"],
    [
      "openai_responses",
      "input.0.content.0.type",
      "output_text",
      'input[0].content[0] has type "output_text", which is not allowed here',
    ],
    ["google", "contents.0.role", "system", 'contents[0].role is "system"'],
    ["google", "contents.0.parts", [], "contents[0].parts are empty"],
    [
      "google",
      "contents.0.parts.0",
      { text: "a", functionCall: { name: "x" } },
      "contents[0].parts[0] has text and functionCall; a part has exactly one kind",
    ],
    ["google", "contents.1.parts.0.thoughtSignature", undefined, "contents[1].parts[0] is an empty text"],
    [
      "google",
      "contents.2.parts.1",
      { text: "b" },
      "contents[2] has 1 function responses for 2 function calls",
    ],
    [
      "google",
      "contents.2.parts.1.functionResponse.id",
      "c1",
      "contents[2] does not answer the call of read in its place",
    ],
    [
      "google",
      "contents.2.parts.1.functionResponse.response",
      "text",
      "contents[2].parts[1].functionResponse.response is not an object",
    ],
    ["google", "contents.2.role", "model", "contents[2] follows function calls without their responses"],
  ])("%s with %s = %j", (wire, path, value, violation) => {
    const body =
      path === "messages.2" && value === undefined
        ? { ...CLAUDE, messages: [...CLAUDE.messages.slice(0, 2), 5] }
        : spoilt(wire, path, value);
    expect(checkRequest(wire, body)).toContain(violation);
  });

  it("says that the calls at the end have no answer", () => {
    expect(checkRequest("anthropic", { ...CLAUDE, messages: CLAUDE.messages.slice(0, 2) })).toEqual([
      "messages end without an answer to the call c1, c2",
    ]);
    expect(checkRequest("google", { ...GOOGLE, contents: GOOGLE.contents.slice(0, 2) })).toEqual([
      "contents end with function calls that have no responses",
    ]);
    expect(checkRequest("openai_responses", { ...RESPONSES, input: RESPONSES.input.slice(0, 4) })).toEqual([
      "input does not answer the call c1",
    ]);
    expect(checkRequest("openai_chat", { ...CHAT, messages: CHAT.messages.slice(0, 4) })).toEqual([
      "messages[2] (its tool messages) does not answer the call c2",
    ]);
  });

  it("counts the cache marks of the whole request", () => {
    const mark = { cache_control: { type: "ephemeral" } };
    const blocks = Array.from({ length: 4 }, () => ({ type: "text", text: "a", ...mark }));
    expect(checkRequest("anthropic", { ...CLAUDE, messages: [{ role: "user", content: blocks }] })).toEqual([
      "body has more than 4 cache_control marks",
    ]);
  });

  it.each<WireName>(["anthropic", "openai_chat", "openai_responses", "google"])(
    "finds fault with anything else sent to %s, and never throws",
    (wire) => {
      for (const body of [
        null,
        [],
        "text",
        {},
        { messages: 5, input: 5, contents: [null, { parts: [1] }], tools: 7 },
      ]) {
        expect(checkRequest(wire, body).length).toBeGreaterThan(0);
      }
    },
  );
});
