import { McpServer } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import type { AgentServer } from "./agent-server.ts";
import { serveHttp } from "./serve-http.ts";

test("of clients that never say goodbye the longest unused is closed, never one with work or an open request", async () => {
  let asked = 0;
  const closed: number[] = [];
  const atWork = new Set<number>();
  const newServer = (): AgentServer => {
    const number = asked++;
    return {
      newServer: () => new McpServer({ name: "test", version: "1" }),
      isBusy: () => atWork.has(number),
      close: async () => void closed.push(number),
    };
  };
  const { url, token, close } = await serveHttp(0, newServer);
  onTestFinished(close);
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const begin = async (): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const answer = await fetch(url, { method: "POST", headers, body });
    await answer.text();
    return answer.headers.get("mcp-session-id") ?? "";
  };
  const ask = async (session: string): Promise<number> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
    const answer = await fetch(url, {
      method: "POST",
      headers: { ...headers, "mcp-session-id": session },
      body,
    });
    await answer.text();
    return answer.status;
  };
  // Number 0 serves whoever brings everything with each request.
  const [working, listening, idle, used] = [await begin(), await begin(), await begin(), await begin()];
  atWork.add(1);
  // Held to the end: what nobody holds any more is closed.
  const stream = await fetch(url, { headers: { ...headers, "mcp-session-id": listening } });
  onTestFinished(() => stream.body?.cancel());
  for (let count = 4; count < 100; count++) await begin();
  const before = await ask(used);
  const more = [await begin(), await begin()];
  expect(closed).toEqual([3, 5]);
  const statuses = await Promise.all([working, listening, idle, used, ...more].map(ask));
  expect([before, ...statuses]).toEqual([200, 200, 200, 404, 200, 200, 200]);
});
