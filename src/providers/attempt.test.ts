import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, type LoopbackServer, startLoopback } from "../../test/loopback-server.ts";
import type { Model, ModelRequest, StreamPart } from "../core/model/model.ts";
import { anthropicWire } from "./anthropic/anthropic-wire.ts";
import { createTransport, type Fetch } from "./transport.ts";
import type { Wire } from "./wire.ts";
import { createWireModel } from "./wire-model.ts";

const open: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const REQUEST: ModelRequest = { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };
const begins: Answer = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}\n\n',
  );
};
const refuses: Answer = (response) => {
  response.writeHead(400, { "content-type": "text/plain" });
  response.write("x".repeat(100_000));
};

async function modelAt(
  answers: readonly Answer[],
  wire: Wire | (() => Promise<Wire>) = anthropicWire,
): Promise<readonly [Model, LoopbackServer]> {
  const server = await startLoopback(answers);
  const transport = createTransport();
  open.push(transport, server);
  const target = { provider: "p", modelId: "x", baseUrl: server.url };
  return [
    createWireModel({ provider: "p", id: "x", wire, target, transport, network: { maxRetries: 0 } }),
    server,
  ];
}

function ask(model: Model, signal?: AbortSignal): AsyncIterator<StreamPart> {
  return model.stream(REQUEST, signal === undefined ? {} : { signal })[Symbol.asyncIterator]();
}

describe("one attempt", () => {
  it("fails where a fetch of the caller throws at once, or answers with nothing", async () => {
    const ends = async (fetch: unknown): Promise<unknown> => {
      const transport = createTransport({ fetch: fetch as Fetch });
      const target = { provider: "p", modelId: "x", baseUrl: "http://own.test" };
      const network = { maxRetries: 0 };
      return ask(
        createWireModel({ provider: "p", id: "x", wire: anthropicWire, target, transport, network }),
      ).next();
    };
    const broken = (): never => {
      throw new Error("no network here");
    };
    await expect(ends(broken)).rejects.toMatchObject({ code: "network" });
    await expect(ends(() => undefined)).rejects.toMatchObject({ code: "network" });
  });

  it("leaves no listener at the signal, however it ended", async () => {
    const [model] = await modelAt([begins, refuses]);
    const { signal } = new AbortController();
    const left = ask(model, signal);
    await left.next();
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await left.return?.();
    expect(getEventListeners(signal, "abort")).toEqual([]);
    await expect(ask(model, signal).next()).rejects.toMatchObject({ code: "bad_request" });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("reads no more than 64 KB of an error", async () => {
    const [model, server] = await modelAt([refuses]);
    await expect(ask(model).next()).rejects.toMatchObject({ code: "bad_request" });
    await server.abandoned;
  });

  it.each([
    ["an event", "event", "data: {}\n\n"],
    ["the last event, whose blank line is missing", "event", "data: {}"],
    ["what is still open at the end", "end", "data: {}\n\n"],
  ])("says that the provider was not understood where a decoder trips over %s", async (_, step, body) => {
    const trip = (): never => {
      throw new TypeError("text.trim is not a function");
    };
    const createDecoder: Wire["createDecoder"] = () => ({
      event: () => undefined,
      end: () => undefined,
      done: () => false,
      [step]: trip,
    });
    const answers: Answer = (response) => void response.writeHead(200).end(body);
    const [model] = await modelAt([answers], { ...anthropicWire, createDecoder });
    await expect(ask(model).next()).rejects.toMatchObject({
      code: "invalid_response",
      retryable: true,
      message: expect.stringContaining("not those of its protocol (TypeError: text.trim is not a function)"),
    });
  });

  it("loads its wire with the first request and passes on why it could not be loaded", async () => {
    const [model, server] = await modelAt([], () => Promise.reject(new Error("no such chunk")));
    await expect(ask(model).next()).rejects.toMatchObject({ code: "internal", message: "no such chunk" });
    expect(server.requests).toEqual([]);
  });
});
