// A single module for serving, so that only one file is loaded.
import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio as serveOver } from "@modelcontextprotocol/server/stdio";
import type { AgentServer } from "./agent-server.ts";

export { createAgentServer } from "./agent-server.ts";
export { serveHttp } from "./serve-http.ts";

/**
 * Serves one client on standard input and output, in the protocol version it starts with, until it is gone or
 * the signal aborts. Resolves when its runs have ended.
 */
export async function serveStdio(
  agent: AgentServer,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const disconnected = Promise.withResolvers<void>();
  const transport = new StdioServerTransport(input, output);
  input.once("end", disconnected.resolve).once("close", disconnected.resolve);
  output.once("error", disconnected.resolve);
  signal.addEventListener("abort", () => disconnected.resolve(), { once: true });
  const connection = serveOver(agent.newServer, { transport });
  await disconnected.promise;
  await agent.close();
  await connection.close();
}
