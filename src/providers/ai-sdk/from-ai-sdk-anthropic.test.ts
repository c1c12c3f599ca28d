// The real @ai-sdk/anthropic, its v4 and its v3 line, against a server on loopback. The streams are written
// by hand from https://docs.anthropic.com/en/docs/build-with-claude/streaming; none is a recording.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAnthropic as createV4 } from "@ai-sdk/anthropic";
import { createAnthropic as createV3 } from "ai-sdk-anthropic-v3";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NanoAgentError } from "../../core/base/errors.ts";
import {
  type AssistantBlock,
  assistantMessage,
  type Message,
  userMessage,
} from "../../core/message/message.ts";
import type { Model, ModelRequest, StreamPart } from "../../core/model/model.ts";
import { fromAiSdk } from "./from-ai-sdk.ts";

type Json = { readonly [key: string]: unknown };

/** An answer of the server; after `stall` the connection stays open. */
interface Answer {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly events?: readonly Json[];
  readonly json?: Json;
  readonly stall?: boolean;
}

const start = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [],
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 5,
      output_tokens: 1,
    },
  },
};
const stop = (reason: string): readonly Json[] => [
  {
    type: "message_delta",
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 20 },
  },
  { type: "message_stop" },
];
const block = (index: number, content_block: Json, ...deltas: readonly Json[]): readonly Json[] => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const TOOL_TURN: readonly Json[] = [
  start,
  ...block(
    0,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: "Need a look." },
    { type: "signature_delta", signature: "SIG==" },
  ),
  ...block(
    1,
    { type: "text", text: "" },
    { type: "text_delta", text: "Looking " },
    { type: "text_delta", text: "now." },
  ),
  ...block(
    2,
    { type: "tool_use", id: "toolu_1", name: "shot", input: {} },
    { type: "input_json_delta", partial_json: '{"pa' },
    { type: "input_json_delta", partial_json: 'th":"ä"}' },
  ),
  ...stop("tool_use"),
];
const TEXT_TURN: readonly Json[] = [
  start,
  ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Done." }),
  ...stop("end_turn"),
];

describe.each([
  ["v4", (baseURL: string) => createV4({ baseURL, apiKey: "test" })("claude-sonnet-4-5")],
  ["v3", (baseURL: string) => createV3({ baseURL, apiKey: "test" })("claude-sonnet-4-5")],
] as const)("fromAiSdk with @ai-sdk/anthropic of specification %s", (version, create) => {
  let server: Server;
  let model: Model;
  let answers: Answer[] = [];
  let bodies: Json[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      request.on("end", () => {
        bodies.push(JSON.parse(text));
        const {
          status = 200,
          headers = {},
          events,
          json,
          stall,
        }: Answer = answers.shift() ?? { status: 418, json: {} };
        response.writeHead(status, {
          "content-type": events === undefined ? "application/json" : "text/event-stream",
          ...headers,
        });
        if (json !== undefined) response.end(JSON.stringify(json));
        for (const event of events ?? [])
          response.write(`event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
        if (json === undefined && stall !== true) response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const language = create(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    model = fromAiSdk(language, { clock: { now: () => 0, elapsed: () => 0, sleep: async () => undefined } });
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  beforeEach(() => {
    answers = [];
    bodies = [];
  });

  it("follows the specification it is tested for", () => {
    expect(create("http://127.0.0.1:1/v1").specificationVersion).toBe(version);
  });

  it("carries a turn with thinking, an image result and an error result there and back", async () => {
    answers = [{ events: TOOL_TURN }, { events: TEXT_TURN }];
    const tools = [
      {
        name: "shot",
        description: "Takes a picture.",
        parameters: { type: "object", properties: { path: { type: "string" } } },
      },
    ];
    const first = await ask(model, { system: "Be brief.", messages: [userMessage("look")], tools });
    expect(first.at(-1)).toMatchObject({
      type: "finish",
      finishReason: { unified: "tool_use", raw: "tool_use" },
      usage: { inputTokens: 45, outputTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 5 },
      responseId: "msg_1",
      model: "claude-x",
    });
    const content = blocksOf(first);
    expect(content).toMatchObject([
      { type: "thinking", thinking: "Need a look." },
      { type: "text", text: "Looking now." },
      { type: "tool_use", id: "toolu_1", name: "shot", input: { path: "ä" } },
    ]);
    const png = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
    } as const;
    const messages: readonly Message[] = [
      userMessage("look"),
      assistantMessage([...content, { type: "tool_use", id: "toolu_2", name: "shot", input: {} }]),
      userMessage([
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "here" }, png] },
        { type: "tool_result", tool_use_id: "toolu_2", content: "no camera", is_error: true },
      ]),
    ];
    const second = await ask(model, { messages, tools });
    expect(second.at(-1)).toMatchObject({ finishReason: { unified: "stop", raw: "end_turn" } });
    expect((bodies[1]?.["messages"] as readonly Json[] | undefined)?.slice(1)).toMatchObject([
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Need a look.", signature: "SIG==" },
          { type: "text", text: "Looking now." },
          { type: "tool_use", id: "toolu_1", name: "shot", input: { path: "ä" } },
          { type: "tool_use", id: "toolu_2", name: "shot", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [
              { type: "text", text: "here" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
            ],
          },
          { type: "tool_result", tool_use_id: "toolu_2", content: "no camera", is_error: true },
        ],
      },
    ]);
  });

  it("asks once more after an overload, and only once", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    answers = [{ status: 529, headers: { "retry-after": "2" }, json: overloaded }, { events: TEXT_TURN }];
    const parts = await ask(model, { messages: [userMessage("hi")] });
    expect(parts[0]).toMatchObject({
      type: "retry",
      attempt: 2,
      delayMs: 2000,
      error: { code: "provider_error" },
    });
    expect(bodies).toHaveLength(2);
  });

  it("asks once more after an overload inside the stream", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    answers = [{ events: [...TEXT_TURN.slice(0, 3), overloaded] }, { events: TEXT_TURN }];
    const parts = await ask(model, { messages: [userMessage("hi")] });
    expect(parts.filter(({ type }) => type === "retry")).toMatchObject([
      { attempt: 2, error: { code: "provider_error", retryable: true } },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "stop" } });
  });

  it("reports a refused key", async () => {
    answers = [
      {
        status: 401,
        json: { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } },
      },
    ];
    await expect(ask(model, { messages: [userMessage("hi")] })).rejects.toMatchObject({
      code: "authentication",
      retryable: false,
      details: { status: 401 },
    });
  });

  it("reports a server that is not there", async () => {
    const nowhere = fromAiSdk(create("http://127.0.0.1:1/v1"), { maxRetries: 0 });
    await expect(ask(nowhere, { messages: [userMessage("hi")] })).rejects.toMatchObject({
      code: "network",
      retryable: true,
    });
  });

  it("stops in the middle of a stream when aborted", async () => {
    answers = [{ events: TEXT_TURN.slice(0, 3), stall: true }];
    const abort = new AbortController();
    const run = async (): Promise<void> => {
      for await (const part of model.stream({ messages: [userMessage("hi")] }, { signal: abort.signal }))
        if (part.type === "text_delta") abort.abort();
    };
    await expect(run()).rejects.toBeInstanceOf(NanoAgentError);
    await expect(run()).rejects.toMatchObject({ code: "aborted" });
  });
});

async function ask(model: Model, request: ModelRequest): Promise<readonly StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of model.stream(request)) parts.push(part);
  return parts;
}

/** The blocks of an answer whose texts, other than the finished blocks, come as deltas only. */
function blocksOf(parts: readonly StreamPart[]): readonly AssistantBlock[] {
  const blocks: AssistantBlock[] = [];
  for (const part of parts) {
    const before = "index" in part ? blocks[part.index] : undefined;
    if (part.type === "block") blocks[part.index] = part.block;
    else if (part.type === "text_delta")
      blocks[part.index] = { type: "text", text: (before?.type === "text" ? before.text : "") + part.text };
  }
  return blocks;
}
