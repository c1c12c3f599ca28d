import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type LocalProvider, probeLocalServers } from "./local-servers.ts";

const servers: Server[] = [];

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answering(answers: { readonly [path: string]: unknown }): RequestListener {
  return (request, response) => {
    const answer = answers[request.url ?? ""];
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { error: "not found" }));
  };
}

const models = (...ids: readonly string[]): unknown => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model" })),
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

describe("probeLocalServers", () => {
  it("finds every kind of server, loaded models first", async () => {
    const ollama = await listen(
      answering({
        "/api/tags": { models: [{ name: "qwen3:8b" }, { name: "llama3:8b" }] },
        "/api/ps": { models: [{ name: "llama3:8b" }] },
      }),
    );
    const lmstudio = await listen(
      answering({
        "/api/v0/models": {
          data: [
            { id: "embed", type: "embeddings", state: "loaded" },
            { id: "cold", type: "llm", state: "not-loaded" },
            { id: "warm", type: "vlm", state: "loaded" },
          ],
        },
        "/v1/models": models("embed", "cold", "warm"),
      }),
    );
    const llamacpp = await listen(answering({ "/v1/models": models("model.gguf") }));
    const vllm = await listen(answering({ "/v1/models": models("Qwen/Qwen3") }));
    const baseUrls = { ollama, lmstudio: `${lmstudio}/v1`, llamacpp: `${llamacpp}/`, vllm };
    expect(await probeLocalServers({ baseUrls, timeoutMs: 10_000 })).toEqual([
      { provider: "ollama", baseUrl: `${ollama}/v1`, models: ["llama3:8b", "qwen3:8b"] },
      { provider: "lmstudio", baseUrl: `${lmstudio}/v1`, models: ["warm", "cold"] },
      { provider: "llamacpp", baseUrl: `${llamacpp}/v1`, models: ["model.gguf"] },
      { provider: "vllm", baseUrl: `${vllm}/v1`, models: ["Qwen/Qwen3"] },
    ]);
  });

  it("reads the compatible list of an LM Studio without its own", async () => {
    const lmstudio = await listen(answering({ "/v1/models": models("one") }));
    expect(await probeLocalServers({ baseUrls: { lmstudio }, timeoutMs: 10_000 })).toEqual([
      { provider: "lmstudio", baseUrl: `${lmstudio}/v1`, models: ["one"] },
    ]);
  });

  it("names a server without models with an empty list", async () => {
    const ollama = await listen(answering({ "/api/tags": { models: [] } }));
    expect(await probeLocalServers({ baseUrls: { ollama }, timeoutMs: 10_000 })).toEqual([
      { provider: "ollama", baseUrl: `${ollama}/v1`, models: [] },
    ]);
  });

  it("leaves out what refuses, stalls, or is another program", async () => {
    const gone = await listen(() => undefined);
    const [closed] = servers.splice(0);
    await new Promise((resolve) => closed?.close(resolve));
    const stalling = await listen(() => undefined);
    const html = await listen((_request, response) => response.end("<html>"));
    const odd = await listen(answering({ "/v1/models": { data: "none" } }));
    const baseUrls: { readonly [P in LocalProvider]: string } = {
      ollama: gone,
      lmstudio: stalling,
      llamacpp: html,
      vllm: odd,
    };
    expect(await probeLocalServers({ baseUrls, timeoutMs: 100 })).toEqual([]);
  });

  it("asks only the given servers, with the given fetch", async () => {
    const asked: string[] = [];
    const fetch = async (url: string): Promise<Response> => {
      asked.push(url);
      return Response.json(models("m"));
    };
    expect(await probeLocalServers({ fetch, baseUrls: { vllm: "http://box:9" } })).toEqual([
      { provider: "vllm", baseUrl: "http://box:9/v1", models: ["m"] },
    ]);
    expect(asked).toEqual(["http://box:9/v1/models"]);
  });
});

it("what speaks the compatible API alone in the place of Ollama is found too", async () => {
  const fetch = async (url: string): Promise<Response> =>
    url.endsWith("/v1/models")
      ? Response.json({ object: "list", data: [{ id: "qwen3:8b" }] })
      : new Response("", { status: 404 });
  expect(await probeLocalServers({ fetch, baseUrls: { ollama: "http://127.0.0.1:1/v1" } })).toEqual([
    { provider: "ollama", baseUrl: "http://127.0.0.1:1/v1", models: ["qwen3:8b"] },
  ]);
});
