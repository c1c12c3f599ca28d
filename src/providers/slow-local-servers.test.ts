// Servers on loopback that behave as llama-server does while it loads, reads a long prompt, or cannot read
// its model's output.
import { afterEach, expect, test } from "vitest";
import { type Answer, type LoopbackServer, startLoopback } from "../../test/loopback-server.ts";
import type { Clock } from "../core/base/async.ts";
import type { ModelRequest } from "../core/model/model.ts";
import type { NetworkOptions } from "./network.ts";
import { type ResolveModelOptions, resolveModel } from "./resolve-model.ts";
import { createTransport } from "./transport.ts";

const open: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

interface Bench {
  readonly server: LoopbackServer;
  /** Parts of one answer, and the error at its end if there is one; waits pass at once. */
  readonly run: (request?: Partial<ModelRequest>) => Promise<readonly unknown[]>;
}

/** Waits of up to two seconds pass at once, longer ones (limits) never. */
function leapingClock(): Clock {
  let time = 0;
  const never = new Promise<void>(() => undefined);
  const sleep = (ms: number): Promise<void> => {
    if (ms > 2_000) return never;
    time += ms;
    return Promise.resolve();
  };
  return { now: () => time, elapsed: () => time, sleep };
}

const QUIET: NetworkOptions = { headerTimeoutMs: 0, idleTimeoutMs: 0, requestTimeoutMs: 0 };

async function bench(answers: readonly Answer[], options: Partial<ResolveModelOptions> = {}): Promise<Bench> {
  const server = await startLoopback(answers);
  const transport = createTransport();
  open.push(transport, server);
  const model = resolveModel("llamacpp/m", {
    baseUrl: `${server.url}/v1`,
    transport,
    clock: leapingClock(),
    ...options,
    network: { ...QUIET, ...options.network },
  });
  const run: Bench["run"] = async (request = {}) => {
    const seen: unknown[] = [];
    const messages = [{ role: "user", content: [{ type: "text", text: "Hi" }] }] as const;
    try {
      for await (const part of model.stream({ messages, ...request })) {
        if (part.type === "retry")
          seen.push(`retry ${part.attempt} in ${part.delayMs}: ${part.error.message}`);
        else if (part.type === "text_delta") seen.push(part.text);
      }
      return seen;
    } catch (error) {
      return [...seen, error];
    }
  };
  return { server, run };
}

const events = (...chunks: readonly object[]): string =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
const HELLO = `${events(
  { choices: [{ index: 0, delta: { content: "Hello" } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
)}data: [DONE]\n\n`;
const streams =
  (body: string): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(body);
  };
const loads: Answer = (response) => {
  response
    .writeHead(503, { "content-type": "application/json" })
    .end('{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}');
};
const UNREADABLE = {
  error: { code: 500, message: "Failed to parse input at pos 12: <tool_call>", type: "server_error" },
};
const SAYS_LOADING =
  "retry 2 in 2000: llamacpp is loading the model (HTTP 503, unavailable_error): Loading model.";

test("a server that loads its model is waited for, far longer than retries last, and it is said once", async () => {
  const { run, server } = await bench([...Array.from({ length: 30 }, () => loads), streams(HELLO)], {
    network: { maxRetries: 0 },
  });
  expect(await run()).toEqual([SAYS_LOADING, "Hello"]);
  expect(server.requests).toHaveLength(31);
});

test("a server that never ends loading is given up after the time for a first event", async () => {
  const { run, server } = await bench([loads, loads, loads, loads], {
    network: { firstEventTimeoutMs: 5_000 },
  });
  expect(await run()).toEqual([
    SAYS_LOADING,
    expect.objectContaining({
      code: "provider_error",
      message: expect.stringContaining("It did so for 5000 ms. Raise network.firstEventTimeoutMs"),
      details: expect.objectContaining({ limit: "firstEventTimeoutMs" }),
    }),
  ]);
  expect(server.requests).toHaveLength(4);
});

test.each([
  ["inside its stream", streams(events(UNREADABLE))],
  [
    "with a status",
    (response: Parameters<Answer>[0]) => {
      response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify(UNREADABLE));
    },
  ],
])("output that the server cannot read, told %s, is asked for twice", async (_how, answer) => {
  const { run, server } = await bench([answer, answer]);
  expect((await run()).at(-1)).toMatchObject({
    code: "invalid_response",
    retryable: false,
    details: { reason: "unreadable_output" },
    message: expect.stringContaining("llamacpp could not read what its model wrote"),
  });
  expect(server.requests).toHaveLength(2);
});

test("an answer that is longer than it may be ends the request, whatever the size of its pieces", async () => {
  for (const size of [10, 1_500, 4_000]) {
    const piece = { choices: [{ index: 0, delta: { content: "x".repeat(size) } }] };
    const { run, server } = await bench([streams(events(...Array.from({ length: 500 }, () => piece)))], {
      network: { maxAnswerChars: 1_000 },
    });
    expect((await run()).at(-1)).toMatchObject({
      code: "invalid_response",
      retryable: false,
      details: { limit: "maxAnswerChars" },
    });
    expect(server.requests).toHaveLength(1);
  }
});

test("a request asks for no more than the window leaves, unless it says itself", async () => {
  const facts = { contextWindow: 1_000 };
  const { run, server } = await bench([HELLO, HELLO, HELLO].map(streams), { facts });
  await run();
  await run({ maxOutputTokens: 5 });
  await run({ system: "x".repeat(30_000) });
  const sent = server.requests.map(({ body }) => (JSON.parse(body) as { max_tokens?: number }).max_tokens);
  expect(sent).toEqual([991, 5, 256]);
});

test("the Messages wire fits the window too, and a model of somebody else is left alone", async () => {
  const limitOf = async (name: string, wire: "anthropic" | "openai_chat"): Promise<unknown> => {
    const server = await startLoopback([(response) => response.writeHead(400).end("{}")]);
    const transport = createTransport();
    open.push(transport, server);
    const providers = { [name]: { wire, baseUrl: `${server.url}/v1`, apiKey: "k" } };
    const model = resolveModel(`${name}/m`, { providers, transport, facts: { contextWindow: 4_096 } });
    const messages = [{ role: "user", content: [{ type: "text", text: "Hi" }] }] as const;
    const parts = model.stream({ messages });
    await parts[Symbol.asyncIterator]()
      .next()
      .catch(() => undefined);
    return (JSON.parse(server.requests[0]?.body ?? "{}") as { max_tokens?: number }).max_tokens;
  };
  expect(await limitOf("llamacpp", "anthropic")).toBe(4_087);
  expect(await limitOf("mistral", "openai_chat")).toBeUndefined();
});

test("a model that is known to take no images is sent none", async () => {
  const { run, server } = await bench([streams(HELLO)], { facts: { images: false } });
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } } as const;
  expect(await run({ messages: [{ role: "user", content: [image] }] })).toEqual(["Hello"]);
  expect(server.requests[0]?.body).toContain("An image was left out here");
});

test("a page in the place of an answer is quoted, declared or not, without what looks like a key", async () => {
  const page = `<html><head><title>Login</title><style>b{}</style></head><body>${"Please sign in. ".repeat(40)}</body></html>`;
  for (const type of ["text/html", "text/plain"]) {
    const { run } = await bench([(response) => response.writeHead(200, { "content-type": type }).end(page)], {
      network: { maxRetries: 0 },
    });
    const [error] = (await run()) as readonly Error[];
    expect(error?.message).toContain(`("Login Please sign in. Please`);
    expect(error?.message).toContain(`…")`);
    expect(error?.message).not.toContain("<");
  }
});
