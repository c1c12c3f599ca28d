import { request as httpRequest, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { NanoAgentError } from "../core/base/errors.ts";
import type { WireName } from "../core/message/message.ts";
import { fails, finishes, says, waits } from "./script.ts";
import { type ScriptedServer, startScriptedServer } from "./scripted-server.ts";
import { redirects, refuses, replies, type ServerStep, showsHtml } from "./server-step.ts";

const PATHS: { readonly [W in WireName]: string } = {
  anthropic: "/v1/messages",
  openai_chat: "/v1/chat/completions",
  openai_responses: "/v1/responses",
  google: "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
};

const BODIES: { readonly [W in WireName]: object } = {
  anthropic: { model: "m", max_tokens: 9, stream: true, messages: [{ role: "user", content: "hi" }] },
  openai_chat: {
    model: "m",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "user", content: "hi" }],
  },
  openai_responses: { model: "m", stream: true, input: [{ role: "user", content: "hi" }] },
  google: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
};

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Sizes of the pieces in which the body arrived. */
  readonly pieces: readonly number[];
  /** True when the connection broke before the body was whole. */
  readonly broken: boolean;
}

function ask(server: ScriptedServer, wire: WireName, body: object | string = BODIES[wire]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
    const sending = httpRequest(
      server.url + PATHS[wire],
      { method: "POST", headers, agent: false },
      (message) => {
        const chunks: Buffer[] = [];
        const finish = (broken: boolean) => (): void =>
          resolve({
            status: message.statusCode ?? 0,
            headers: message.headers,
            body: Buffer.concat(chunks).toString("utf8"),
            pieces: chunks.map((chunk) => chunk.length),
            broken,
          });
        message
          .on("data", (chunk: Buffer) => chunks.push(chunk))
          .on("end", finish(false))
          .on("error", finish(true));
      },
    );
    sending.on("error", reject);
    sending.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

const running: ScriptedServer[] = [];

async function start(...steps: readonly ServerStep[]): Promise<ScriptedServer> {
  const server = await startScriptedServer(steps, { chunkSize: 5 });
  running.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

describe("ScriptedServer: speech", () => {
  it.each<[WireName, string]>([
    ["anthropic", "text/event-stream; charset=utf-8"],
    ["openai_chat", "text/event-stream; charset=utf-8"],
    ["openai_responses", "text/event-stream; charset=utf-8"],
    ["google", "text/event-stream"],
  ])("streams events of %s", async (wire, type) => {
    const server = await start(says("Hello"));
    const answer = await ask(server, wire);
    expect([answer.status, answer.headers["content-type"], answer.broken]).toEqual([200, type, false]);
    expect(answer.body).toMatch(/data: .*Hello/);
  });

  it.each<[WireName, string]>([
    ["anthropic", "max_tokens"],
    ["openai_chat", "length"],
    ["openai_responses", "max_output_tokens"],
    ["google", "MAX_TOKENS"],
  ])("says in the words of %s that the output limit was reached", async (wire, word) => {
    const server = await start([says("cut"), finishes("length")]);
    expect((await ask(server, wire)).body).toContain(`"${word}"`);
  });

  it.each<[WireName, object]>([
    [
      "anthropic",
      { type: "error", error: { type: "rate_limit_error", message: "slow" }, request_id: "req_scripted" },
    ],
    [
      "openai_chat",
      { error: { message: "slow", type: "requests", param: null, code: "rate_limit_exceeded" } },
    ],
    [
      "openai_responses",
      { error: { message: "slow", type: "requests", param: null, code: "rate_limit_exceeded" } },
    ],
    ["google", { error: { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED" } }],
  ])("refuses in the words of %s, by failure or by status", async (wire, body) => {
    const server = await start(
      fails(new NanoAgentError("rate_limit", "slow")),
      refuses(429, "slow", { "retry-after": "7" }),
    );
    const [failed, refused] = [await ask(server, wire), await ask(server, wire)];
    expect([failed.status, JSON.parse(failed.body)]).toEqual([429, body]);
    expect([refused.status, refused.headers["retry-after"], JSON.parse(refused.body)]).toEqual([
      429,
      "7",
      body,
    ]);
    server.assertFinished();
  });

  it.each<[WireName, string]>([
    ["anthropic", "api_error"],
    ["openai_chat", "server_error"],
    ["openai_responses", "response.failed"],
    ["google", "INTERNAL"],
  ])("fails in the middle of a stream of %s", async (wire, word) => {
    const server = await start([says("half"), fails("broke")]);
    const answer = await ask(server, wire);
    expect([answer.status, answer.body.includes("half"), answer.body.includes(`"${word}"`)]).toEqual([
      200,
      true,
      true,
    ]);
    expect(answer.body).not.toMatch(/message_stop|DONE|response\.completed|finishReason/);
  });
});

describe("ScriptedServer: faults", () => {
  it("sends byte by byte, characters of several bytes included", async () => {
    const server = await start(replies({ answer: says("né😀"), splitBytes: 1 }));
    const answer = await ask(server, "openai_chat");
    expect(new Set(answer.pieces)).toEqual(new Set([1]));
    expect(answer.body).toContain("né😀");
  });

  it("sends in pieces of the sizes asked for", async () => {
    const server = await start(replies({ body: "abcdefghij", splitBytes: [1, 2, 4], dripMs: 1 }));
    expect((await ask(server, "anthropic")).pieces).toEqual([1, 2, 4, 3]);
  });

  it("breaks the connection after so many bytes, or before it says anything", async () => {
    const server = await start(
      replies({ answer: says("Hello"), cut: 30 }),
      replies({ cut: 0, body: "x" }),
      replies({ cut: "before_headers" }),
    );
    const cut = await ask(server, "anthropic");
    expect([cut.status, cut.body.length, cut.broken]).toEqual([200, 30, true]);
    expect(await ask(server, "anthropic")).toMatchObject({ status: 200, body: "", broken: true });
    await expect(ask(server, "anthropic")).rejects.toMatchObject({ code: "ECONNRESET" });
    server.assertFinished();
  });

  it("stalls before the headers and in the body until it is closed", async () => {
    const server = await start(
      replies({ answer: says("Hello"), stall: 10 }),
      replies({ stall: "before_headers" }),
    );
    const inBody = ask(server, "anthropic");
    await expect.poll(() => server.requests.length).toBe(1);
    const beforeHeaders = ask(server, "anthropic").catch((error: { readonly code?: string }) => error.code);
    await expect.poll(() => server.requests.length).toBe(2);
    await server.close();
    expect(await inBody).toMatchObject({ broken: true });
    expect(await beforeHeaders).toBe("ECONNRESET");
  });

  it("pauses in the middle of an answer", async () => {
    const gate = new AbortController();
    const server = await start([says("one"), waits(gate.signal), says("two")]);
    const asking = ask(server, "google");
    await expect.poll(() => server.requests.length).toBe(1);
    gate.abort();
    const answer = await asking;
    expect(answer.pieces.length).toBeGreaterThan(1);
    expect(answer.body).toMatch(/one[\s\S]*two/);
  });

  it("breaks the connection where what it waits for is rejected", async () => {
    const gate = Promise.withResolvers<never>();
    const server = await start([says("one"), waits(gate.promise), says("two")]);
    const asking = ask(server, "google");
    await expect.poll(() => server.requests.length).toBe(1);
    gate.reject(new Error("no"));
    const answer = await asking;
    expect([answer.broken, /one/.test(answer.body), /two/.test(answer.body)]).toEqual([true, true, false]);
  });

  it("answers with raw bytes, a page, a redirect", async () => {
    const server = await start(
      replies({ body: new Uint8Array([0xff, 0x00]), headers: { "content-type": "application/x-odd" } }),
      showsHtml(502),
      redirects("/elsewhere"),
    );
    expect(await ask(server, "openai_chat")).toMatchObject({
      status: 200,
      body: "\ufffd\0",
      headers: { "content-type": "application/x-odd" },
    });
    expect(await ask(server, "openai_chat")).toMatchObject({
      status: 502,
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    expect(await ask(server, "openai_chat")).toMatchObject({
      status: 307,
      headers: { location: "/elsewhere" },
    });
  });
});

describe("ScriptedServer: requests", () => {
  it("records what it was asked, and lets a step see it", async () => {
    const server = await start((request, index) => says(`${index} ${request.wire}`));
    expect((await ask(server, "openai_responses")).body).toContain("0 openai_responses".slice(0, 5));
    expect(server.requests).toEqual([
      {
        method: "POST",
        path: "/v1/responses",
        headers: expect.objectContaining({ "content-type": "application/json" }),
        body: BODIES.openai_responses,
        wire: "openai_responses",
        violations: [],
      },
    ]);
  });

  it("refuses what the vendor would refuse, without using a step", async () => {
    const server = await start(says("unused"));
    const answer = await ask(server, "anthropic", { ...BODIES.anthropic, messages: [] });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", message: "messages are empty" },
        request_id: "req_scripted",
      },
    ]);
    expect(() => server.assertFinished()).toThrow("A request was refused: messages are empty.");
  });

  it("refuses a body that is not JSON", async () => {
    const server = await start();
    expect((await ask(server, "openai_chat", "{")).body).toContain("body is not a JSON object");
  });

  it("refuses a request too many and reports it, and steps left over too", async () => {
    const server = await start(says("once"));
    expect(() => server.assertFinished()).toThrow('left over: says("once")');
    await ask(server, "google");
    server.assertFinished();
    const extra = await ask(server, "google");
    expect([extra.status, JSON.parse(extra.body).error.status]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(() => server.assertFinished()).toThrow(
      "asked for one more: POST /v1beta/models/gemini-x:streamGenerateContent?alt=sse",
    );
  });
});
