import { describe, expect, it } from "vitest";
import type { Message } from "../../core/message/message.ts";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { checkRequest } from "../../testing/check-request.ts";
import type { WireTarget } from "../wire.ts";
import { createAnthropicEncoder, toolUseId } from "./encode-anthropic.ts";

const target: WireTarget = {
  provider: "anthropic",
  modelId: "claude-sonnet-4-5",
  baseUrl: "https://api.anthropic.com/v1",
  apiKey: "k",
};
const plain: WireTarget = { ...target, quirks: { cache: false } };
const tool = (name: string): ToolSpec => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: {} },
});
const mark = { cache_control: { type: "ephemeral" } };
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const hi = user("Hi");

function bodyOf(request: ModelRequest, to: WireTarget = plain): Record<string, unknown> {
  return JSON.parse(createAnthropicEncoder(to)(request).body);
}
function messagesOf(...messages: readonly Message[]): unknown {
  return bodyOf({ messages })["messages"];
}

describe("createAnthropicEncoder", () => {
  it("encodes a whole request, with four marks for caching", () => {
    const { url, headers, body } = createAnthropicEncoder(target)({
      system: "Be brief.",
      messages: [
        hi,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "sig" },
            { type: "thinking", thinking: "", redacted: "secret" },
            { type: "text", text: "I look." },
            { type: "tool_use", id: "t1", name: "read", input: { path: "a" } },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "t1", content: "text", is_error: true }],
        },
      ],
      tools: [tool("read"), tool("write")],
      toolChoice: "auto",
      maxOutputTokens: 1_000,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ["END"],
      providerOptions: { anthropic: { metadata: { user_id: "u" } }, openai_chat: { seed: 1 } },
    });
    expect({ url, headers, body: JSON.parse(body) }).toEqual({
      url: "https://api.anthropic.com/v1/messages",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        "anthropic-version": "2023-06-01",
        "x-api-key": "k",
      },
      body: {
        model: "claude-sonnet-4-5",
        max_tokens: 1_000,
        stream: true,
        temperature: 0.5,
        tool_choice: { type: "auto" },
        stop_sequences: ["END"],
        metadata: { user_id: "u" },
        tools: [
          { name: "read", description: "Does read.", input_schema: { type: "object", properties: {} } },
          {
            name: "write",
            description: "Does write.",
            input_schema: { type: "object", properties: {} },
            ...mark,
          },
        ],
        system: [{ type: "text", text: "Be brief.", ...mark }],
        messages: [
          { role: "user", content: [{ type: "text", text: "Hi", ...mark }] },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "Hm.", signature: "sig" },
              { type: "redacted_thinking", data: "secret" },
              { type: "text", text: "I look." },
              { type: "tool_use", id: "t1", name: "read", input: { path: "a" } },
            ],
          },
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "t1", content: "text", is_error: true, ...mark }],
          },
        ],
      },
    });
  });

  it("encodes a growing conversation as if each request were the first", () => {
    const grown = createAnthropicEncoder(target);
    const messages: Message[] = [];
    for (let turn = 0; turn < 12; turn++) {
      messages.push(
        { role: "assistant", content: [{ type: "tool_use", id: `t${turn}`, name: "f", input: { turn } }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `t${turn}`, content: `result ${turn}` }],
        },
      );
      if (turn % 3 === 0) messages.push(user(`steer ${turn}`));
      const request = { messages: [hi, ...messages], tools: [tool("f")] };
      expect(grown(request)).toEqual(createAnthropicEncoder(target)(request));
      expect(checkRequest("anthropic", JSON.parse(grown(request).body))).toEqual([]);
      const count = JSON.stringify(JSON.parse(grown(request).body)).split('"cache_control"').length - 1;
      expect(count).toBe(3);
    }
    const forked = { messages: [hi, ...messages.slice(0, 9), user("another way")] };
    expect(grown(forked)).toEqual(createAnthropicEncoder(target)(forked));
  });

  it("marks for one hour, or nothing, when told so", () => {
    const hour = bodyOf({ messages: [hi] }, { ...target, quirks: { cache_ttl: "1h" } });
    expect(hour["messages"]).toEqual([
      {
        role: "user",
        content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl: "1h" } }],
      },
    ]);
    expect(
      createAnthropicEncoder(plain)({ system: "S", messages: [hi], tools: [tool("f")] }).body,
    ).not.toContain("cache_control");
  });

  it("joins neighbours of one role, puts results first and leaves out what is empty", () => {
    expect(
      messagesOf(
        { role: "user", content: [{ type: "text", text: " \n" }] },
        hi,
        { role: "assistant", content: [{ type: "thinking", thinking: "of another model" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        {
          role: "user",
          content: [
            { type: "text", text: "And:" },
            { type: "tool_result", tool_use_id: "t", content: [] },
          ],
        },
        user("Go on."),
      ),
    ).toEqual([
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t", content: "(no output)" },
          { type: "text", text: "And:" },
          { type: "text", text: "Go on." },
        ],
      },
    ]);
  });

  it("sends images in messages and results, and those of an error result behind it, for it may hold text only", () => {
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "AAAA" },
    } as const;
    const linked = { type: "image", source: { type: "url", url: "https://a.test/i.png" } } as const;
    const result = {
      type: "tool_result",
      tool_use_id: "t",
      content: [{ type: "text", text: "a" }, image],
      is_error: true,
    } as const;
    const { is_error: _, ...fine } = result;
    expect(messagesOf({ role: "user", content: [fine, linked] })).toEqual([
      { role: "user", content: [fine, linked] },
    ]);
    const text = { ...result, content: [{ type: "text", text: "a" }] };
    expect(messagesOf({ role: "user", content: [result, linked] })).toEqual([
      { role: "user", content: [text, image, linked] },
    ]);
  });

  it("sends thinking and raw blocks back to the wire they came from only", () => {
    const raw = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
    expect(
      messagesOf(hi, {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", signature: "hidden text" },
          { type: "thinking", thinking: "x", signature: "y", provider_data: { google: { part: 1 } } },
          { type: "text", text: "", provider_data: { anthropic: { block: raw } } },
          { type: "text", text: "seen", provider_data: { openai_responses: { id: "i" } } },
        ],
      }),
    ).toEqual([
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", signature: "hidden text" },
          raw,
          { type: "text", text: "seen" },
        ],
      },
    ]);
  });

  it.each<readonly [Partial<ModelRequest>, unknown]>([
    [{}, undefined],
    [{ toolChoice: "none" }, { type: "none" }],
    [{ toolChoice: "required" }, { type: "any" }],
    [
      { toolChoice: { type: "tool", name: "f" }, parallelToolCalls: false },
      { type: "tool", name: "f", disable_parallel_tool_use: true },
    ],
    [{ parallelToolCalls: false }, { type: "auto", disable_parallel_tool_use: true }],
    [{ tools: [], toolChoice: "required" }, undefined],
  ])("asks for tools by %j", (choice, expected) => {
    expect(bodyOf({ messages: [hi], tools: [tool("f")], ...choice })["tool_choice"]).toEqual(expected);
  });

  it.each<readonly [string, Partial<ModelRequest>, object]>([
    ["claude-sonnet-4-5", { effort: "high" }, { thinking: { type: "enabled", budget_tokens: 20_480 } }],
    [
      "claude-sonnet-4-5",
      { effort: "xhigh", maxOutputTokens: 10_000 },
      { thinking: { type: "enabled", budget_tokens: 8_000 } },
    ],
    ["claude-sonnet-4-5", { effort: "low", maxOutputTokens: 1_000 }, {}],
    ["claude-sonnet-4-5", { effort: "none" }, {}],
    ["claude-sonnet-4-5", { effort: "high", toolChoice: "required" }, {}],
    ["claude-3-5-haiku-latest", { effort: "high" }, {}],
    [
      "claude-3-7-sonnet-20250219",
      { effort: "minimal" },
      { thinking: { type: "enabled", budget_tokens: 1_024 } },
    ],
    ["claude-opus-4-20250514", { effort: "low" }, { thinking: { type: "enabled", budget_tokens: 4_096 } }],
    ["some-compatible-model", { effort: "medium" }, { thinking: { type: "enabled", budget_tokens: 10_240 } }],
    [
      "claude-opus-4-6",
      { effort: "xhigh" },
      { thinking: { type: "adaptive" }, output_config: { effort: "max" } },
    ],
    ["claude-opus-4-6", { effort: "none" }, {}],
    [
      "claude-opus-4.7",
      { effort: "xhigh" },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "xhigh" } },
    ],
    [
      "claude-opus-4-10",
      { effort: "minimal" },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
    ],
    ["claude-sonnet-5", { effort: "none" }, { thinking: { type: "disabled" } }],
    ["claude-sonnet-5", { effort: "high", toolChoice: "required" }, { output_config: { effort: "high" } }],
    ["anthropic.claude-fable-5-1", { effort: "none" }, { output_config: { effort: "low" } }],
    [
      "claude-opus-5-5",
      { effort: "medium", toolChoice: "required" },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "medium" } },
    ],
    ["claude-sonnet-5", {}, {}],
    ["claude-sonnet-5-5", { effort: "none" }, { thinking: { type: "between_tools" } }],
    ["claude-haiku-5-5", { effort: "none" }, { thinking: { type: "disabled" } }],
  ])("%s takes %j", (modelId, request, expected) => {
    const { thinking, output_config } = bodyOf(
      { messages: [hi], tools: [tool("f")], ...request },
      { ...plain, modelId, baseUrl: "https://gateway.example" },
    );
    expect({
      ...(thinking === undefined ? {} : { thinking }),
      ...(output_config === undefined ? {} : { output_config }),
    }).toEqual(expected);
  });

  it("leaves out sampling where the model refuses it, and forced tools where it always thinks", () => {
    const request: ModelRequest = {
      messages: [hi],
      tools: [tool("f")],
      toolChoice: "required",
      temperature: 0.2,
      topP: 0.5,
    };
    const fields = (modelId: string, extra: Partial<ModelRequest> = {}): unknown => {
      const { temperature, top_p, tool_choice } = bodyOf({ ...request, ...extra }, { ...plain, modelId });
      return [temperature, top_p, tool_choice];
    };
    expect(fields("claude-opus-4-5")).toEqual([0.2, undefined, { type: "any" }]);
    expect(fields("claude-opus-4-5", { effort: "high", toolChoice: "auto" })).toEqual([
      undefined,
      undefined,
      { type: "auto" },
    ]);
    expect(fields("claude-opus-4-8")).toEqual([undefined, undefined, { type: "any" }]);
    expect(fields("claude-opus-5-5")).toEqual([undefined, undefined, { type: "auto" }]);
    expect(fields("claude-sonnet-5-5")).toEqual([undefined, undefined, { type: "auto" }]);
    expect(fields("claude-haiku-5-5")).toEqual([undefined, undefined, { type: "any" }]);
  });

  it("thinks with a budget only where the open tool loop began with thinking", () => {
    const results: Message = {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t", content: "x" }],
    };
    const call = { type: "tool_use", id: "t", name: "f", input: {} } as const;
    const thought = { type: "thinking", thinking: "Hm.", signature: "s" } as const;
    const thinks = (...messages: readonly Message[]): boolean =>
      "thinking" in bodyOf({ messages, effort: "low", tools: [tool("f")] });
    expect(thinks(hi, { role: "assistant", content: [call] }, results)).toBe(false);
    expect(thinks(hi, { role: "assistant", content: [call] }, results, user("also"))).toBe(false);
    expect(thinks(hi, { role: "assistant", content: [thought, call] }, results)).toBe(true);
    expect(thinks(hi, { role: "assistant", content: [{ type: "text", text: "Yes?" }] }, user("more"))).toBe(
      true,
    );
  });

  it("asks for thinking between calls at Anthropic's own host only", () => {
    const request: ModelRequest = { messages: [hi], tools: [tool("f")], effort: "low" };
    const beta = (to: WireTarget): string | undefined =>
      createAnthropicEncoder(to)(request).headers["anthropic-beta"];
    expect(beta(target)).toBe("interleaved-thinking-2025-05-14");
    expect(beta({ ...target, headers: { "Anthropic-Beta": "mine" } })).toBe("mine");
    expect(beta({ ...target, baseUrl: "https://gateway.test/v1" })).toBeUndefined();
  });

  it.each([
    ["https://api.anthropic.com", "https://api.anthropic.com/v1/messages"],
    ["https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1/messages"],
    ["http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1/messages"],
  ])("posts for the base URL %s to %s", (baseUrl, url) => {
    expect(createAnthropicEncoder({ ...target, baseUrl })({ messages: [hi] }).url).toBe(url);
  });

  it("sends the key as a token when told so, and headers of the target over all", () => {
    const { headers } = createAnthropicEncoder({
      ...target,
      quirks: { auth: "bearer" },
      headers: { "Anthropic-Version": "2099-01-01", "x-extra": "1" },
    })({ messages: [hi] });
    expect(headers).toEqual({
      "content-type": "application/json",
      accept: "text/event-stream",
      "anthropic-version": "2099-01-01",
      authorization: "Bearer k",
      "x-extra": "1",
    });
  });

  it("lets options for this wire replace what it would send", () => {
    const request: ModelRequest = {
      messages: [hi],
      system: "S",
      providerOptions: { anthropic: { system: "T", max_tokens: 5 } },
    };
    expect(bodyOf(request)).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 5,
      stream: true,
      system: "T",
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
  });
});

describe("toolUseId", () => {
  it("keeps good ids, and keeps changed ones apart and good", () => {
    expect(toolUseId("toolu_01-A")).toBe("toolu_01-A");
    const changed = ["call:1", "call.1", "call 1", "", "日本"].map(toolUseId);
    expect(new Set(changed).size).toBe(5);
    for (const id of changed) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });
});
