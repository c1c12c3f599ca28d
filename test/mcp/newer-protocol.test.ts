import { createServer } from "node:http";
import { join } from "node:path";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/base/async.ts";
import type { ListedPrompt } from "../../src/extensions/mcp/connection.ts";
import { McpServer } from "../../src/extensions/mcp/mcp-server.ts";
import { connectionOpener } from "../../src/extensions/mcp/open-connection.ts";
import { toMcpResult } from "../../src/extensions/mcp/tool-result.ts";
import { onLoopback } from "../on-loopback.ts";
import { newerServer } from "./newer-server.ts";
import { definitionOf } from "./server-room.ts";

const signal = new AbortController().signal;

async function overHttp(legacy: "stateless" | "reject"): Promise<object> {
  const handler = createMcpHandler(newerServer, { legacy });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
      const headers = Object.entries(request.headers).map(
        ([name, value]) => [name, String(value)] as [string, string],
      );
      const asked = new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? "GET",
        headers,
        ...body,
      });
      void handler.fetch(asked).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        for await (const chunk of answer.body ?? []) response.write(chunk);
        response.end();
      });
    });
  });
  return { url: `${await onLoopback(server)}/mcp` };
}

const overStdio = { command: process.execPath, args: [join(import.meta.dirname, "newer-server.ts")] };

test.each([
  ["stdio, newest version alone", async () => overStdio],
  ["http, newest version alone", () => overHttp("reject")],
  ["http, older versions too", () => overHttp("stateless")],
])("a server of the newest protocol works over %s", async (what, place) => {
  const known: ListedPrompt[] = [];
  const prompts = Promise.withResolvers<void>();
  const server = new McpServer(definitionOf(await place()), {
    host: {
      roots: ["/"],
      environment: () => ({ PATH: process.env["PATH"] ?? "" }),
      elicit: async ({ message }) => ({ action: "accept", content: { color: message } }),
    },
    open: connectionOpener({ version: "1", watcher: undefined }),
    clock: systemClock,
    onLifecycle: () => undefined,
    onTools: () => undefined,
    onPrompts: (listed) => {
      known.push(...listed);
      prompts.resolve();
    },
  });
  onTestFinished(() => server.close());
  const echo = toMcpResult(await server.call("echo", { text: "hi" }, { signal }));
  // Who is served without a session cannot be asked back in the older versions.
  const asked = what.includes("alone") ? toMcpResult(await server.call("ask", {}, { signal })) : undefined;
  await prompts.promise;
  expect([echo.content, asked?.content, known.map(({ name }) => name), server.lifecycle.state]).toEqual([
    "echo hi",
    what.includes("alone") ? '{"action":"accept","content":{"color":"Which?"}}' : undefined,
    ["greet"],
    "ready",
  ]);
});
