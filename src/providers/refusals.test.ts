import { afterEach, describe, expect, it } from "vitest";
import { NanoAgentError } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";
import { type AssistantBlock, assistantMessage, type Message, userMessage } from "../core/message/message.ts";
import { collect } from "../core/model/answer.ts";
import type { Model, ModelRequest, StreamPart } from "../core/model/model.ts";
import { calls, says, thinks } from "../testing/script.ts";
import { type ScriptedServer, startScriptedServer } from "../testing/scripted-server.ts";
import { refuses, replies, type ServerStep } from "../testing/server-step.ts";
import { LearnedModels } from "./model-call.ts";
import { type ResolveModelOptions, resolveModel } from "./resolve-model.ts";

const running: ScriptedServer[] = [];

async function serve(steps: readonly ServerStep[]): Promise<ScriptedServer> {
  const server = await startScriptedServer(steps, { strict: false });
  running.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

function modelAt(server: ScriptedServer, name: string, options: ResolveModelOptions = {}): Model {
  return resolveModel(name, { baseUrl: `${server.url}/v1`, apiKey: "key", ...options });
}

/** What a request says to its reader: answers as text, everything about failures. */
async function outcome(model: Model, request: ModelRequest): Promise<readonly string[]> {
  const said: string[] = [];
  try {
    for await (const part of model.stream(request)) said.push(...line(part));
  } catch (error) {
    said.push(error instanceof NanoAgentError ? error.code : String(error));
  }
  return said;
}

function line(part: StreamPart): readonly string[] {
  if (part.type === "text_delta") return [part.text];
  return part.type === "retry" ? [`again: ${part.error.message}`] : [];
}

function words(tokens: number): ModelRequest {
  return { messages: [userMessage("word ".repeat(Math.ceil(tokens / 1.7)))] };
}

describe("a request that is too long", () => {
  it.each<readonly [vendor: string, status: number, body: unknown, window: number | undefined]>([
    [
      "Moonshot",
      400,
      openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 301222)"),
      262_144,
    ],
    [
      "DashScope",
      400,
      openai("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"),
      129_024,
    ],
    ["Zhipu", 400, { error: { code: "1261", message: "Prompt exceeds max length" } }, undefined],
    [
      "xAI",
      400,
      {
        code: "Client specified an invalid argument",
        error: "This model's maximum prompt length is 131072 but the request contains 301222 tokens.",
      },
      131_072,
    ],
    [
      "LM Studio",
      400,
      { error: "The number of input tokens (301222) is greater than the context length (131072)." },
      131_072,
    ],
    [
      "vLLM",
      400,
      openai(
        "You passed 301222 input tokens and requested 4096 output tokens. However, the model's context length is only 131072 tokens.",
      ),
      131_072,
    ],
    [
      "SGLang",
      400,
      {
        object: "error",
        message: "The input (301222 tokens) is longer than the model's context length (131072 tokens).",
      },
      131_072,
    ],
    [
      "TGI and Together",
      422,
      {
        error:
          "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 131073. Given: 301222 `inputs` tokens and 1 `max_new_tokens`",
        error_type: "validation",
      },
      131_073,
    ],
    [
      "Copilot",
      400,
      {
        error: {
          code: "model_max_prompt_tokens_exceeded",
          message: "prompt token count of 301222 exceeds the limit of 128000",
        },
      },
      128_000,
    ],
    ["Ark", 400, openai("Total tokens of image and text exceed max message tokens"), undefined],
    ["Anthropic", 400, openai("prompt is too long: 301222 tokens > 200000 maximum"), 200_000],
    [
      "Google",
      400,
      openai("The input token count (301222) exceeds the maximum number of tokens allowed (262144)."),
      262_144,
    ],
    [
      "a vendor nobody knows",
      400,
      openai("This conversation is larger than the 131,072 tokens that a request may have at most, 131,072"),
      131_072,
    ],
  ])(
    "is known in the words of %s, whose number is the window from then on",
    async (_, status, body, window) => {
      const server = await serve([replies({ status, body: JSON.stringify(body), headers: JSON_TYPE })]);
      const model = modelAt(server, "custom/some-model");
      expect(await outcome(model, words(300_000))).toEqual(["context_overflow"]);
      expect(model.info?.contextWindow).toBe(window);
    },
  );

  it.each([
    "max_tokens is too large: 300000. This model supports at most 262144 completion tokens.",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 262144]",
    "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 262144.",
    "The model `some-model` allows at most 5 images in the input; messages 300001 is not known.",
  ])("is not seen in a limit of something else: %s", async (message) => {
    const server = await serve([refuses(400, message)]);
    const model = modelAt(server, "custom/some-model");
    expect(await outcome(model, words(300_000))).toEqual(["bad_request"]);
    expect(model.info?.contextWindow).toBeUndefined();
  });

  it("is not seen in a number that has nothing to do with what was sent", async () => {
    const server = await serve([refuses(400, "The length of the input exceeds the limit of 262144 tokens.")]);
    expect(await outcome(modelAt(server, "custom/some-model"), words(1_000))).toEqual(["bad_request"]);
  });
});

const JSON_TYPE = { "content-type": "application/json" };

function openai(message: string): object {
  return { error: { message, type: "invalid_request_error", param: null, code: null } };
}

const MAKERS: readonly (readonly [name: string, ...seals: string[]])[] = [
  ["anthropic/claude-sonnet-4-5", "c2VhbA=="],
  ["openai-responses/gpt-5", "c2VhbA=="],
  ["google/gemini-3-pro-preview", "c2VhbA=="],
];

const AGAIN = userMessage("Go on.");

describe.each(MAKERS)("what %s has sealed", (name, seal) => {
  async function conversation(server: ScriptedServer): Promise<readonly Message[]> {
    const first = await collect(modelAt(server, name).stream({ messages: [userMessage("hi")] }));
    return [userMessage("hi"), first.message, AGAIN];
  }

  it("goes back to its maker, and to no other endpoint, account or model", async () => {
    const answer = [thinks("Hm.", seal), says("Hello.")];
    const other = await serve([says("ok")]);
    const server = await serve([answer, says("ok"), says("ok"), says("ok")]);
    const messages = await conversation(server);
    const [provider = ""] = name.split("/");
    for (const model of [
      modelAt(server, name),
      modelAt(server, name, { apiKey: "of another account" }),
      modelAt(server, `${provider}/another-model`),
      modelAt(other, name),
    ])
      expect(await outcome(model, { messages, effort: "low" })).toEqual(["ok"]);
    const sent = [...server.requests.slice(1), ...other.requests].map(({ body }) => JSON.stringify(body));
    expect(sent.map((body) => body.includes(seal))).toEqual([true, false, false, false]);
    expect(sent.every((body) => body.includes("Hello."))).toBe(true);
  });

  it("is left out once it is refused, also where nobody knows who made it", async () => {
    const refusals = [
      "messages.1.content.0: Invalid `signature` in `thinking` block",
      "The encrypted content c2Vh... could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
      "Corrupted thought signature.",
    ];
    for (const refusal of refusals) {
      const server = await serve([
        [thinks("Hm.", seal), says("Hello.")],
        refuses(400, refusal),
        says("ok"),
        says("ok"),
      ]);
      const messages = (await conversation(server)).map(withoutMaker);
      const model = modelAt(server, name);
      const [again, ...rest] = await outcome(model, { messages, effort: "low" });
      expect(again).toContain("continues without the reasoning");
      expect(rest).toEqual(["ok"]);
      expect(await outcome(model, { messages, effort: "low" })).toEqual(["ok"]);
      const sent = server.requests.slice(1).map(({ body }) => JSON.stringify(body).includes(seal));
      expect(sent).toEqual([true, false, false]);
    }
  });
});

/** As sessions from before the mark, and imported ones, have it. */
function withoutMaker(message: Message): Message {
  return JSON.parse(JSON.stringify(message).replaceAll(/,?"made_by":"\w+"/g, "")) as Message;
}

describe("a field that a server refuses", () => {
  const TOOL = { name: "look", description: "Looks.", parameters: { type: "object" } };
  const request: ModelRequest = {
    system: "Be brief.",
    messages: [userMessage("hi")],
    tools: [TOOL],
    parallelToolCalls: false,
    maxOutputTokens: 99,
  };

  it.each<readonly [refusal: string, quirks: object, field: string, before: unknown, after: unknown]>([
    [
      "Unrecognized request argument supplied: stream_options",
      {},
      "stream_options",
      { include_usage: true },
      undefined,
    ],
    ['json: unknown field "parallel_tool_calls"', {}, "parallel_tool_calls", false, undefined],
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      {},
      "max_completion_tokens",
      undefined,
      99,
    ],
    [
      "property 'max_completion_tokens' is unsupported",
      { max_tokens_field: "max_completion_tokens" },
      "max_completion_tokens",
      99,
      undefined,
    ],
    [
      "Input should be 'system', 'user', 'assistant' or 'tool': messages[0].role 'developer'",
      { system_role: "developer" },
      "messages",
      [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
      [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
    ],
  ])("is left out, once and for all models of the process: %s", async (...row) => {
    const [refusal, quirks, field, before, after] = row;
    const server = await serve([refuses(400, refusal), says("ok"), says("ok")]);
    const options = {
      learned: new LearnedModels(),
      providers: { mine: { quirks } },
    } as ResolveModelOptions;
    const model = modelAt(server, "mine/m", options);
    const [again, ...rest] = await outcome(model, request);
    expect(again).toContain("providers.mine.quirks {");
    expect(rest).toEqual(["ok"]);
    expect(await outcome(modelAt(server, "mine/m", options), request)).toEqual(["ok"]);
    expect(server.requests.map(({ body }) => (isRecord(body) ? body[field] : body))).toEqual([
      before,
      after,
      after,
    ]);
  });

  it("that is refused still is a refusal, not a circle", async () => {
    const refusal = refuses(400, "Unknown parameter: 'parallel_tool_calls'.");
    const server = await serve([refusal, refusal]);
    expect((await outcome(modelAt(server, "custom/m"), request)).at(-1)).toBe("bad_request");
    expect(server.requests).toHaveLength(2);
  });

  it.each(["openai_chat", "openai_responses", "anthropic"] as const)(
    "is left out on the wire %s",
    async (wire) => {
      const server = await serve([refuses(400, "Unsupported parameter: 'temperature'"), says("ok")]);
      const model = modelAt(server, "mine/claude-sonnet-4-5", { providers: { mine: { wire } } });
      expect((await outcome(model, { ...request, temperature: 0.5 })).at(-1)).toBe("ok");
      const sent = server.requests.map(({ body }) => isRecord(body) && "temperature" in body);
      expect(sent).toEqual([true, false]);
    },
  );
});

describe("reasoning that a server wants back", () => {
  it.each([
    ["DeepSeek", openai("The `reasoning_content` in the thinking mode must be passed back to the API.")],
    [
      "Moonshot",
      openai(
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
      ),
    ],
    [
      "OpenRouter",
      {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: {
            raw: '{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the API."}}',
          },
        },
      },
    ],
    [
      "a gateway that says it in another place",
      {
        error: {
          code: "400",
          message: "Param Incorrect",
          param: "The reasoning_content in the thinking mode must be passed back to the API.",
        },
      },
    ],
  ])("is sent with the second attempt, and from then on: %s", async (vendor, body) => {
    const refusal = replies({ status: 400, body: JSON.stringify(body), headers: JSON_TYPE });
    const server = await serve([[thinks("I look."), calls("look", {})], refusal, says("ok"), says("ok")]);
    const model = modelAt(server, vendor === "OpenRouter" ? "openrouter/deepseek/deepseek-v4" : "custom/ds");
    const first = await collect(model.stream({ messages: [userMessage("hi")] }));
    const id = first.message.content.find((block) => block.type === "tool_use")?.id ?? "";
    const result = userMessage([{ type: "tool_result", tool_use_id: id, content: "seen" }]);
    const messages = [userMessage("hi"), first.message, result];
    const [again, ...rest] = await outcome(model, { messages });
    expect(again).toContain('"reasoning_replay":"reasoning_content"');
    expect(rest).toEqual(["ok"]);
    expect(await outcome(model, { messages })).toEqual(["ok"]);
    const replayed = server.requests.slice(2).map(({ body: sent }) => JSON.stringify(sent));
    expect(replayed.every((sent) => sent.includes('"reasoning_content":"I look."'))).toBe(true);
  });

  it("is a blank where another model made the call", async () => {
    const server = await serve([
      refuses(400, "The `reasoning_content` in the thinking mode must be passed back to the API."),
      says("ok"),
    ]);
    const block: AssistantBlock = { type: "tool_use", id: "c1", name: "look", input: {} };
    const result = userMessage([{ type: "tool_result", tool_use_id: "c1", content: "seen" }]);
    const messages = [userMessage("hi"), assistantMessage([block]), result];
    expect((await outcome(modelAt(server, "custom/ds"), { messages })).at(-1)).toBe("ok");
    expect(JSON.stringify(server.requests[1]?.body)).toContain('"reasoning_content":" "');
  });
});
