import { afterEach, describe, expect, it } from "vitest";
import { type Answer, type LoopbackServer, startLoopback } from "../../test/loopback-server.ts";
import type { ModelRequest, StreamPart } from "../core/model/model.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { anthropicWire } from "./anthropic/anthropic-wire.ts";
import type { NetworkOptions } from "./network.ts";
import { createTransport, type Transport } from "./transport.ts";
import { createWireModel } from "./wire-model.ts";

const sse = (...events: readonly { readonly type: string }[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

const START = {
  type: "message_start",
  message: { id: "m1", model: "x", usage: { input_tokens: 3, output_tokens: 1 } },
};
const text = (words: string): { readonly type: string; readonly [field: string]: unknown } => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", text: words },
});
const CALL = [
  {
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "t1", name: "f", input: {} },
  },
  { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"a":' } },
];
const STOPPED = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } };
const STOP = { type: "message_stop" };
const HELLO = sse(START, text("Hello"), STOPPED, STOP);

const FINISH: StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "end_turn" },
  usage: { inputTokens: 3, outputTokens: 4, raw: { input_tokens: 3, output_tokens: 4 } },
  model: "x",
  responseId: "m1",
};
const ANSWERED: readonly StreamPart[] = [{ type: "text_delta", index: 0, text: "Hello" }, FINISH];

const streams =
  (body: string): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(body);
  };
const refuses =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };
/** Sends a part of the answer and breaks the connection once it is on its way. */
const breaks =
  (body: string): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(body, () => response.destroy());
  };
const failure = (type: string, message = "Sorry"): string =>
  JSON.stringify({ type: "error", error: { type, message } });

const REQUEST: ModelRequest = { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };

const open: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

interface Bench {
  readonly server: LoopbackServer;
  readonly clock: FakeClock;
  readonly ask: (
    options?: { readonly signal?: AbortSignal },
    request?: ModelRequest,
  ) => AsyncIterator<StreamPart>;
  /** All parts, and the error at the end if there is one; waits of retries pass at once. */
  readonly run: () => Promise<readonly unknown[]>;
}

async function bench(answers: readonly Answer[], network: NetworkOptions = {}, url?: string): Promise<Bench> {
  const server = await startLoopback(answers);
  const clock = new FakeClock();
  const transport: Transport = createTransport();
  open.push(transport, server);
  const model = createWireModel({
    provider: "anthropic",
    id: "x",
    wire: anthropicWire,
    target: { provider: "anthropic", modelId: "x", baseUrl: url ?? server.url, apiKey: "k-secret" },
    transport,
    network: { headerTimeoutMs: 0, idleTimeoutMs: 0, requestTimeoutMs: 0, ...network },
    clock,
    random: () => 0.5,
  });
  const ask: Bench["ask"] = (options, request = REQUEST) =>
    model.stream(request, options)[Symbol.asyncIterator]();
  return { server, clock, ask, run: () => drain(ask(), clock) };
}

async function drain(parts: AsyncIterator<StreamPart>, clock: FakeClock): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  try {
    for (;;) {
      const { done, value } = await parts.next();
      if (done === true) return seen;
      if (value.type === "retry") {
        seen.push({ retry: value.attempt, delayMs: value.delayMs, code: value.error.code });
        await clock.untilSleeping();
        await clock.advance(value.delayMs);
      } else {
        seen.push(value);
      }
    }
  } catch (error) {
    return [...seen, error];
  }
}

describe("a model over a wire", () => {
  it("lets other requests wait where one was too many, a little longer than that one", async () => {
    const { server, clock, ask } = await bench([
      refuses(429, failure("rate_limit_error"), { "retry-after": "7" }),
      streams(HELLO),
      streams(HELLO),
    ]);
    const first = ask();
    expect(await first.next()).toMatchObject({ value: { type: "retry", delayMs: 7_000 } });
    const second = ask();
    const answer = second.next();
    await clock.untilSleeping(2);
    expect(server.requests).toHaveLength(1);
    await clock.advance(7_000);
    expect(await drain(first, clock)).toEqual(ANSWERED);
    expect(server.requests).toHaveLength(2);
    await clock.advance(500);
    expect([(await answer).value, ...(await drain(second, clock))]).toEqual(ANSWERED);
    expect(server.requests).toHaveLength(3);
  });

  it("stops a request that waits for the limit of another as any other", async () => {
    const { server, clock, ask } = await bench([
      refuses(429, failure("rate_limit_error"), { "retry-after": "7" }),
    ]);
    const first = ask();
    await first.next();
    const controller = new AbortController();
    const answer = ask({ signal: controller.signal }).next();
    await clock.untilSleeping(2);
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: "aborted" });
    await first.return?.();
    expect([server.requests.length, clock.sleeping]).toEqual([1, 0]);
  });

  it("goes on without a tool whose schema is refused", async () => {
    const refusal = failure("invalid_request_error", "tools.0.custom.input_schema: JSON schema is invalid.");
    const { server, ask, clock } = await bench([refuses(400, refusal), streams(HELLO), streams(HELLO)]);
    const tools = ["bad", "good"].map((name) => ({ name, description: "", parameters: { type: "object" } }));
    const request = { ...REQUEST, tools };
    const retried = [{ retry: 2, delayMs: 0, code: "bad_request" }, ...ANSWERED];
    expect(await drain(ask({}, request), clock)).toEqual(retried);
    expect(await drain(ask({}, request), clock)).toEqual(ANSWERED);
    const sent = server.requests.map(({ body }) => body.match(/"name":"\w+"/g));
    expect(sent).toEqual([['"name":"bad"', '"name":"good"'], ['"name":"good"'], ['"name":"good"']]);
  });

  it("streams an answer, over one connection for all requests", async () => {
    const { server, run } = await bench([streams(HELLO), streams(HELLO)]);
    expect(await run()).toEqual(ANSWERED);
    expect(await run()).toEqual(ANSWERED);
    expect(server.requests.map(({ method, path, headers }) => [method, path, headers["x-api-key"]])).toEqual([
      ["POST", "/v1/messages", "k-secret"],
      ["POST", "/v1/messages", "k-secret"],
    ]);
    expect(new Set(server.requests.map(({ clientPort }) => clientPort)).size).toBe(1);
  });

  it.each<readonly [string, Answer, string, number]>([
    [
      "429 with seconds to wait",
      refuses(429, failure("rate_limit_error"), { "retry-after": "7" }),
      "rate_limit",
      7_000,
    ],
    [
      "429 with an absurd wait",
      refuses(429, failure("rate_limit_error"), { "retry-after": "-5" }),
      "rate_limit",
      375,
    ],
    ["529", refuses(529, failure("overloaded_error")), "provider_error", 375],
    [
      "a gateway's 502 page",
      refuses(502, "<html>bad gateway</html>", { "content-type": "text/html" }),
      "provider_error",
      375,
    ],
    [
      "an error event inside 200",
      streams(sse(START, text("Hel")) + `event: error\ndata: ${failure("overloaded_error")}\n\n`),
      "provider_error",
      375,
    ],
    ["an error document with 200", refuses(200, failure("overloaded_error")), "provider_error", 375],
    ["a connection cut before the answer", (response) => response.destroy(), "network", 375],
    ["a stream cut after text", breaks(sse(START, text("Hel"))), "network", 375],
    ["a stream cut inside tool arguments", breaks(sse(START, text("Hel"), ...CALL)), "network", 375],
    ["a stream that ends before the answer does", streams(sse(START, text("Hel"))), "invalid_response", 375],
    ["broken JSON", streams(`${sse(START)}data: {"type":\n\n`), "invalid_response", 375],
    ["an empty body", streams(""), "invalid_response", 375],
  ])("repeats the request after %s", async (_name, answer, code, delayMs) => {
    const { server, run } = await bench([answer, streams(HELLO)]);
    const parts = await run();
    expect(parts.slice(-3)).toEqual([{ retry: 2, delayMs, code }, ...ANSWERED]);
    expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ["after its last event", sse(START, text("Hello"), STOPPED, STOP)],
    ["just before its last event", sse(START, text("Hello"), STOPPED)],
  ])("does not repeat a complete answer whose connection breaks %s", async (_name, body) => {
    const { server, run } = await bench([breaks(body)]);
    expect(await run()).toEqual(ANSWERED);
    expect(server.requests).toHaveLength(1);
  });

  it("gives up after maxRetries, with growing waits", async () => {
    const { server, run } = await bench(
      [0, 1, 2].map(() => refuses(500, failure("api_error"))),
      { maxRetries: 2 },
    );
    expect(await run()).toEqual([
      { retry: 2, delayMs: 375, code: "provider_error" },
      { retry: 3, delayMs: 750, code: "provider_error" },
      expect.objectContaining({
        code: "provider_error",
        message: "anthropic failed (HTTP 500, api_error): Sorry. Gave up after 3 attempts.",
        details: { provider: "anthropic", model: "x", status: 500, type: "api_error", attempts: 3 },
      }),
    ]);
    expect(server.requests).toHaveLength(3);
  });

  it("reports a wait that is longer than allowed instead of sleeping", async () => {
    const { run } = await bench([refuses(429, failure("rate_limit_error"), { "retry-after": "3600" })]);
    expect(await run()).toEqual([
      expect.objectContaining({
        code: "rate_limit",
        message: expect.stringContaining(
          "asks to wait 3600 s, longer than network.maxRetryAfterMs (60000 ms)",
        ),
        details: expect.objectContaining({ retryAfterMs: 3_600_000, limit: "maxRetryAfterMs" }),
      }),
    ]);
  });

  it.each<readonly [string, Answer, object]>([
    [
      "401",
      refuses(401, failure("authentication_error", "invalid x-api-key k-secret")),
      { code: "authentication", message: expect.not.stringContaining("k-secret") },
    ],
    [
      "400",
      refuses(400, failure("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")),
      { code: "context_overflow" },
    ],
    ["404", refuses(404, failure("not_found_error", "model: x")), { code: "unknown_model" }],
    [
      "an HTML page",
      (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>"),
      {
        code: "invalid_response",
        message: expect.stringMatching(/an HTML page \("Sign in"\)\. Check that the base URL http:\/\/127/),
      },
    ],
    ["a JSON document that is not an error", refuses(200, '{"ok":true}'), { code: "invalid_response" }],
    [
      "a redirect to another host",
      (response) => response.writeHead(307, { location: "http://elsewhere.example/v1/messages" }).end(),
      { code: "invalid_response", message: expect.stringContaining("http://elsewhere.example") },
    ],
  ])("fails at once for %s", async (_name, answer, error) => {
    const { server, run } = await bench([answer]);
    expect(await run()).toEqual([expect.objectContaining({ retryable: false, ...error })]);
    expect(server.requests).toHaveLength(1);
  });

  it("names the host that refuses connections", async () => {
    const { server, run } = await bench([], { maxRetries: 0 });
    const { port } = server;
    await server.close();
    expect(await run()).toEqual([
      expect.objectContaining({
        code: "network",
        retryable: true,
        message: `Nothing accepts connections at 127.0.0.1:${port} (ECONNREFUSED). Check the base URL, and that the server runs.`,
      }),
    ]);
  });

  it("ends an attempt whose answer does not begin in time", async () => {
    const { clock, ask, server } = await bench([() => undefined], { headerTimeoutMs: 1_000, maxRetries: 0 });
    const parts = ask();
    const first = parts.next();
    first.catch(() => undefined);
    await clock.untilSleeping();
    await clock.advance(1_000);
    await expect(first).rejects.toMatchObject({
      code: "timeout",
      details: { limit: "headerTimeoutMs", ms: 1_000 },
    });
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });

  it("counts events, not comments, when it waits for the next one", async () => {
    const { clock, ask } = await bench(
      [
        (response) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write(sse(START, text("Hel")));
          response.write(": still here\n\n");
        },
      ],
      { idleTimeoutMs: 1_000, maxRetries: 0 },
    );
    const parts = ask();
    expect(await parts.next()).toMatchObject({ value: { text: "Hel" } });
    const next = parts.next();
    next.catch(() => undefined);
    await clock.untilSleeping();
    await clock.advance(1_000);
    await expect(next).rejects.toMatchObject({ code: "timeout", details: { limit: "idleTimeoutMs" } });
  });

  it("ends an attempt that takes too long as a whole", async () => {
    const { clock, ask } = await bench(
      [(response) => response.writeHead(200).write(sse(START, text("Hel")))],
      {
        requestTimeoutMs: 5_000,
        maxRetries: 0,
      },
    );
    const parts = ask();
    expect(await parts.next()).toMatchObject({ value: { text: "Hel" } });
    const next = parts.next();
    next.catch(() => undefined);
    await clock.advance(5_000);
    await expect(next).rejects.toMatchObject({ code: "timeout", details: { limit: "requestTimeoutMs" } });
  });

  const holds: Answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(START, text("Hel")));
  };

  it("cancels the request when the signal is aborted, and throws `aborted` with the reason", async () => {
    const { ask, server } = await bench([holds]);
    const controller = new AbortController();
    const parts = ask({ signal: controller.signal });
    await parts.next();
    const next = parts.next();
    controller.abort("enough");
    await expect(next).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    expect(await parts.next()).toEqual({ done: true, value: undefined });
    await server.abandoned;
  });

  it("cancels the request when the reader leaves", async () => {
    const { ask, server } = await bench([holds]);
    const parts = ask();
    await parts.next();
    expect(await parts.return?.()).toEqual({ done: true, value: undefined });
    await server.abandoned;
  });

  it("sends nothing under a signal that is aborted already, nor when it is aborted between two attempts", async () => {
    const early = await bench([]);
    await expect(early.ask({ signal: AbortSignal.abort() }).next()).rejects.toMatchObject({
      code: "aborted",
    });
    expect(early.server.requests).toEqual([]);

    const late = await bench([refuses(500, failure("api_error"))]);
    const controller = new AbortController();
    const parts = late.ask({ signal: controller.signal });
    expect(await parts.next()).toMatchObject({ value: { type: "retry" } });
    controller.abort();
    await late.clock.advance(10_000);
    await expect(parts.next()).rejects.toMatchObject({ code: "aborted" });
    expect(late.server.requests).toHaveLength(1);
  });

  it("holds the answer back while the reader is slow, and loses nothing", async () => {
    const words = Array.from({ length: 5_000 }, (_, index) => `w${index} `);
    const { ask } = await bench([streams(sse(START, ...words.map(text), STOPPED, STOP))]);
    const parts = ask();
    const seen = [await parts.next()];
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const next = await parts.next();
      if (next.done === true) break;
      seen.push(next);
    }
    expect(seen.map(({ value }) => (value.type === "text_delta" ? value.text : value.type))).toEqual([
      ...words,
      "finish",
    ]);
  });
});
