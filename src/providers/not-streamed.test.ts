import { afterEach, describe, expect, it } from "vitest";
import { userMessage } from "../core/message/message.ts";
import { type CollectedAnswer, collect } from "../core/model/answer.ts";
import { calls } from "../testing/script.ts";
import { type ScriptedServer, startScriptedServer } from "../testing/scripted-server.ts";
import { replies } from "../testing/server-step.ts";
import { resolveModel } from "./resolve-model.ts";

const running: ScriptedServer[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function answerOf(name: string, body: string, type: string): Promise<CollectedAnswer> {
  const server = await startScriptedServer([
    replies({ body, headers: { "content-type": type }, splitBytes: 7 }),
  ]);
  running.push(server);
  const model = resolveModel(name, {
    baseUrl: `${server.url}/v1`,
    apiKey: "key",
    network: { maxRetries: 0 },
  });
  return collect(model.stream({ messages: [userMessage("hi")] }));
}

/** The same answer as each vendor documents it for requests that ask for no stream. */
const DOCUMENTS: readonly (readonly [name: string, document: unknown])[] = [
  [
    "custom/m",
    {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "I look.",
            tool_calls: [
              { id: "c1", type: "function", function: { name: "look", arguments: '{"at":"a"}' } },
              { id: "c2", type: "function", function: { name: "look", arguments: '{"at":"b"}' } },
            ],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
    },
  ],
  [
    "anthropic/claude-sonnet-4-5",
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "c1", name: "look", input: { at: "a" } },
        { type: "tool_use", id: "c2", name: "look", input: { at: "b" } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 4 },
    },
  ],
  [
    "openai-responses/gpt-5",
    {
      id: "resp_1",
      object: "response",
      status: "completed",
      model: "m",
      output: [
        { type: "message", id: "i1", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
        { type: "function_call", id: "i2", call_id: "c1", name: "look", arguments: '{"at":"a"}' },
        { type: "function_call", id: "i3", call_id: "c2", name: "look", arguments: '{"at":"b"}' },
      ],
      usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
    },
  ],
  [
    "google/gemini-2.5-pro",
    [
      { candidates: [{ content: { role: "model", parts: [{ text: "I look." }] } }] },
      {
        candidates: [
          {
            content: {
              role: "model",
              parts: [
                { functionCall: { id: "c1", name: "look", args: { at: "a" } } },
                { functionCall: { id: "c2", name: "look", args: { at: "b" } } },
              ],
            },
            finishReason: "STOP",
          },
        ],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4 },
        modelVersion: "m",
      },
    ],
  ],
];

describe.each(DOCUMENTS)("an answer of %s in one piece", (name, document) => {
  it.each(["application/json", "text/event-stream", "text/plain"])("is read, also as %s", async (type) => {
    const { message, finish } = await answerOf(name, ` \n${JSON.stringify(document, null, 2)}`, type);
    expect(message.content).toMatchObject([
      { type: "text", text: "I look." },
      { type: "tool_use", id: "c1", name: "look", input: { at: "a" } },
      { type: "tool_use", id: "c2", name: "look", input: { at: "b" } },
    ]);
    expect(finish).toMatchObject({
      finishReason: { unified: "tool_use" },
      usage: { inputTokens: 9, outputTokens: 4 },
    });
  });

  it("that is cut is no answer", async () => {
    const body = JSON.stringify(document).slice(0, -9);
    await expect(answerOf(name, body, "application/json")).rejects.toMatchObject({
      code: "invalid_response",
    });
  });

  it("that is none is said to be none, and its error is told", async () => {
    await expect(answerOf(name, '{"ok":true}', "application/json")).rejects.toMatchObject({
      code: "invalid_response",
      message: expect.stringContaining("a JSON document instead of a stream of events"),
    });
    await expect(answerOf(name, '{"error":{"message":"no such thing"}}', "text/plain")).rejects.toThrow(
      "no such thing",
    );
  });
});

it("events are read whatever their type is said to be", async () => {
  const event = { choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }] };
  const { message } = await answerOf("custom/m", `data: ${JSON.stringify(event)}\n\n`, "application/json");
  expect(message.content).toEqual([{ type: "text", text: "Hello" }]);
});

it.each([
  ["custom/m", "/v1/chat/completions", "/v1/chat/completions"],
  ["custom/m", "/v1/chat/completions/", "/v1/chat/completions"],
  ["custom/m", "/v1/messages", "/v1/messages"],
  ["custom/m", "/anthropic/messages", "/anthropic/messages"],
  ["custom/m", "/v1/responses", "/v1/responses"],
  ["openai/m", "/v1/responses", "/v1/responses"],
  ["deepseek/m", "/anthropic/v1/messages", "/anthropic/v1/messages"],
  ["anthropic/m", "/v1/messages", "/v1/messages"],
  ["anthropic/m", "", "/v1/messages"],
  ["custom/m", "/v1", "/v1/chat/completions"],
  ["custom/m", "/deploy/chat/completions?api-version=1", "/deploy/chat/completions?api-version=1"],
])("%s at %s is asked at %s", async (name, given, path) => {
  const server = await startScriptedServer([calls("look", {})]);
  running.push(server);
  const model = resolveModel(name, { baseUrl: server.url + given, apiKey: "key" });
  await collect(model.stream({ messages: [userMessage("hi")] }));
  expect(server.requests.map((request) => request.path)).toEqual([path]);
});
