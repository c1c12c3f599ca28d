import { describe, expect, it } from "vitest";
import { TEST_TARGET } from "../../../test/replay-stream.ts";
import { assistantMessage, userMessage } from "../../core/message/message.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import type { WireTarget } from "../wire.ts";
import { openAiChat } from "./chat-wire.ts";

const hello: ModelRequest = { messages: [userMessage("hi")] };
const call = { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } } as const;
const readTool = { name: "read", description: "Reads.", parameters: { type: "object" } } as const;

function bodyOf(request: ModelRequest, target: Partial<WireTarget> = {}): { [key: string]: unknown } {
  return JSON.parse(openAiChat.createEncoder({ ...TEST_TARGET, ...target })(request).body);
}

function messagesOf(request: ModelRequest, target: Partial<WireTarget> = {}): unknown {
  return bodyOf(request, target)["messages"];
}

describe("request", () => {
  it("is a POST to /chat/completions with a bearer token", () => {
    const encode = openAiChat.createEncoder({ ...TEST_TARGET, apiKey: "k", headers: { "X-Title": "t" } });
    expect(encode(hello)).toEqual({
      url: "https://api.example/v1/chat/completions",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        authorization: "Bearer k",
        "x-title": "t",
      },
      body: '{"model":"m-1","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}',
    });
  });

  it("keeps the query of the base URL behind the path and lets the target's headers win", () => {
    const encode = openAiChat.createEncoder({
      ...TEST_TARGET,
      baseUrl: "https://azure.example/openai/?api-version=1",
      apiKey: "k",
      headers: { Authorization: "Basic x" },
    });
    const { url, headers } = encode(hello);
    expect([url, headers["authorization"]]).toEqual([
      "https://azure.example/openai/chat/completions?api-version=1",
      "Basic x",
    ]);
  });

  it("carries every setting of the request", () => {
    const body = bodyOf(
      {
        ...hello,
        system: "Be brief.",
        tools: [readTool],
        toolChoice: { type: "tool", name: "read" },
        parallelToolCalls: false,
        maxOutputTokens: 9,
        temperature: 0.5,
        topP: 0.9,
        stopSequences: ["END"],
        effort: "low",
        sessionId: "s1",
        providerOptions: { openai_chat: { seed: 1, stop: null, tools: [{ type: "web_search" }] } },
      },
      { baseUrl: "https://api.openai.com/v1" },
    );
    expect(body).toEqual({
      model: "m-1",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
      tools: [{ type: "function", function: readTool }, { type: "web_search" }],
      stream: true,
      stream_options: { include_usage: true },
      tool_choice: { type: "function", function: { name: "read" } },
      parallel_tool_calls: false,
      max_completion_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      stop: null,
      reasoning_effort: "low",
      prompt_cache_key: "s1",
      seed: 1,
    });
  });

  it("sends no tool settings without tools", () => {
    expect(bodyOf({ ...hello, toolChoice: "auto", parallelToolCalls: false })).not.toHaveProperty(
      "tool_choice",
    );
  });

  it("gives the same text when a grown transcript is sent again", () => {
    const encode = openAiChat.createEncoder(TEST_TARGET);
    const messages = [userMessage("a"), assistantMessage([call])];
    const grown = [...messages, userMessage([{ type: "tool_result", tool_use_id: "call_1", content: "x" }])];
    encode({ messages });
    expect(encode({ messages: grown }).body).toBe(
      openAiChat.createEncoder(TEST_TARGET)({ messages: grown }).body,
    );
  });
});

describe("messages", () => {
  it("puts tool results right after the calls, then what the user says", () => {
    const messages = [
      assistantMessage([{ type: "text", text: "Reading." }, call]),
      userMessage([
        { type: "text", text: "and hurry" },
        { type: "tool_result", tool_use_id: "call_1", content: "text" },
      ]),
    ];
    expect(messagesOf({ messages })).toEqual([
      {
        role: "assistant",
        content: "Reading.",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "text" },
      { role: "user", content: "and hurry" },
    ]);
  });

  it("holds what users say back until all results of an answer are there", () => {
    const messages = [
      assistantMessage([call, { ...call, id: "call_2" }]),
      userMessage([
        { type: "tool_result", tool_use_id: "call_1", content: "1" },
        { type: "text", text: "go" },
      ]),
      userMessage([{ type: "tool_result", tool_use_id: "call_2", content: "2" }]),
      assistantMessage("ok"),
    ];
    const roles = (messagesOf({ messages }) as { role: string }[]).map(({ role }) => role);
    expect(roles).toEqual(["assistant", "tool", "tool", "user", "assistant"]);
  });

  it.each([
    ["no such file", "Error: no such file"],
    ["Error: no such file", "Error: no such file"],
    ["error TS1: bad", "error TS1: bad"],
    ["", "Error"],
  ])("says in the text that a tool failed: %j", (content, expected) => {
    const messages = [userMessage([{ type: "tool_result", tool_use_id: "c", content, is_error: true }])];
    expect(messagesOf({ messages })).toEqual([{ role: "tool", tool_call_id: "c", content: expected }]);
  });

  it("never sends an empty result", () => {
    const messages = [userMessage([{ type: "tool_result", tool_use_id: "c", content: "" }])];
    expect(messagesOf({ messages })).toEqual([{ role: "tool", tool_call_id: "c", content: "(no output)" }]);
  });

  it("moves images of a tool result into a user message and points to them", () => {
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "AAA" },
    } as const;
    const messages = [
      userMessage([
        { type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "shot" }, image] },
        { type: "text", text: "what is it?" },
        { type: "image", source: { type: "url", url: "https://i.example/b.png" } },
      ]),
    ];
    expect(messagesOf({ messages })).toEqual([
      {
        role: "tool",
        tool_call_id: "c",
        content: "shot\n[image: see the user message after the tool results]",
      },
      {
        role: "user",
        content: [
          { type: "text", text: "Images from the result of tool call c:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAA" } },
          { type: "text", text: "what is it?" },
          { type: "image_url", image_url: { url: "https://i.example/b.png" } },
        ],
      },
    ]);
  });

  it("leaves out an answer that holds nothing but reasoning", () => {
    expect(
      messagesOf({ messages: [assistantMessage([{ type: "thinking", thinking: "hm" }]), userMessage("x")] }),
    ).toEqual([{ role: "user", content: "x" }]);
  });

  it("sends arguments that could not be parsed as an empty object", () => {
    const bad = { ...call, input: {}, invalid_input: { reason: "malformed", raw: "{a" } } as const;
    expect(messagesOf({ messages: [assistantMessage([bad])] })).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: "{}" } }],
      },
    ]);
  });

  it("names the writer where the name is one the format allows", () => {
    const named = { ...userMessage("x"), name: "ada" };
    expect(messagesOf({ messages: [named, { ...named, name: "A B" }] })).toEqual([
      { role: "user", name: "ada", content: "x" },
      { role: "user", content: "x" },
    ]);
  });

  it("shortens ids of other providers that are too long, the same for call and result", () => {
    const id = `toolu_${"x".repeat(60)}`;
    const messages = [
      assistantMessage([{ ...call, id }]),
      userMessage([{ type: "tool_result", tool_use_id: id, content: "1" }]),
    ];
    const [answer, result] = messagesOf({ messages }) as [
      { tool_calls: { id: string }[] },
      { tool_call_id: string },
    ];
    expect(answer.tool_calls[0]?.id).toMatch(/^call_[0-9a-z]{11}$/);
    expect(result.tool_call_id).toBe(answer.tool_calls[0]?.id);
  });
});

describe("vendors", () => {
  const own = {
    type: "thinking",
    thinking: "hm",
    provider_data: {
      openai_chat: { field: "reasoning", details: [{ type: "reasoning.encrypted", data: "x" }] },
    },
  } as const;
  const foreign = { type: "thinking", thinking: "secret", signature: "s" } as const;
  const thought: ModelRequest = {
    messages: [assistantMessage([foreign, own, { type: "text", text: "ok" }, call])],
  };
  const plainCall = { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } };
  const base = { role: "assistant", content: "ok", tool_calls: [plainCall] };

  it.each([
    ["acme", base],
    ["deepseek", { ...base, reasoning_content: "hm" }],
    ["moonshot", { ...base, reasoning_content: "hm" }],
    ["zhipu", { ...base, reasoning_content: "hm" }],
    ["groq", { ...base, reasoning: "hm" }],
    ["ollama", { ...base, reasoning: "hm" }],
    ["openrouter", { ...base, reasoning_details: [{ type: "reasoning.encrypted", data: "x" }] }],
    [
      "mistral",
      {
        ...base,
        tool_calls: [{ ...plainCall, id: expect.stringMatching(/^[0-9a-z]{9}$/) }],
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "hm" }], closed: true },
          { type: "text", text: "ok" },
        ],
      },
    ],
  ])("%s gets its own reasoning back in its own way", (provider, expected) => {
    expect(messagesOf(thought, { provider })).toEqual([expected]);
  });

  it("deepseek gets a blank in place of reasoning that a tool call of another model lacks", () => {
    const messages = [assistantMessage([foreign, call]), assistantMessage("done")];
    expect(messagesOf({ messages }, { provider: "deepseek" })).toEqual([
      { role: "assistant", content: null, tool_calls: [plainCall], reasoning_content: " " },
      { role: "assistant", content: "done" },
    ]);
  });

  it("mistral keeps ids that have nine characters and gets no stream_options", () => {
    const messages = [assistantMessage([{ ...call, id: "abcDEF123" }])];
    expect(bodyOf({ messages }, { provider: "mistral" })).toEqual({
      model: "m-1",
      messages: [{ role: "assistant", content: null, tool_calls: [{ ...plainCall, id: "abcDEF123" }] }],
      stream: true,
    });
  });

  it.each([
    ["acme", "xhigh", { reasoning_effort: "xhigh" }],
    ["deepseek", "medium", { thinking: { type: "enabled" }, reasoning_effort: "high" }],
    ["deepseek", "xhigh", { thinking: { type: "enabled" }, reasoning_effort: "max" }],
    ["deepseek", "none", { thinking: { type: "disabled" } }],
    ["moonshot", "none", { thinking: { type: "disabled" } }],
    ["zhipu", "high", { thinking: { type: "enabled" } }],
    ["qwen", "low", { enable_thinking: true }],
    ["qwen", "none", { enable_thinking: false }],
    ["openrouter", "minimal", { reasoning: { effort: "minimal" } }],
    ["mistral", "low", { reasoning_effort: "high" }],
    ["mistral", "none", { reasoning_effort: "none" }],
    ["groq", "minimal", { reasoning_effort: "low" }],
    ["groq", "none", {}],
    ["xai", "high", {}],
  ] as const)("%s is asked for effort %s in its own words", (provider, effort, expected) => {
    const {
      model: _,
      messages: __,
      stream: ___,
      stream_options: ____,
      ...rest
    } = bodyOf({ ...hello, effort }, { provider });
    expect(rest).toEqual(expected);
  });

  it("is recognised by its host under another name, and quirks of the target win", () => {
    const target = {
      provider: "mine",
      baseUrl: "https://api.deepseek.com",
      quirks: { reasoning_replay: "none" },
    };
    expect(bodyOf({ ...hello, effort: "none" }, target)["thinking"]).toEqual({ type: "disabled" });
    expect(messagesOf({ messages: [assistantMessage([own, { type: "text", text: "ok" }])] }, target)).toEqual(
      [{ role: "assistant", content: "ok" }],
    );
  });

  it("returns the thought signature of a compatible Google endpoint on its call", () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const signed = { ...call, provider_data: { openai_chat: { extra_content } } };
    expect(messagesOf({ messages: [assistantMessage([signed])] })).toEqual([
      { role: "assistant", content: null, tool_calls: [{ ...plainCall, extra_content }] },
    ]);
  });

  it("asks DashScope for several calls per answer", () => {
    expect(bodyOf({ ...hello, tools: [readTool] }, { provider: "qwen" })["parallel_tool_calls"]).toBe(true);
  });
});
