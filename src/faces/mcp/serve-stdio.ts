import type { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { AgentServer } from "./agent-server.ts";

/** Serves one client until it is gone or the signal aborts. Resolves when its runs have ended. */
export async function serveStdio(
  agent: AgentServer,
  {
    input,
    output,
    signal,
  }: { readonly input: Readable; readonly output: Writable; readonly signal: AbortSignal },
): Promise<void> {
  const gone = Promise.withResolvers<void>();
  const transport = new StdioServerTransport(input, output);
  input.once("end", gone.resolve).once("close", gone.resolve);
  output.once("error", gone.resolve);
  signal.addEventListener("abort", () => gone.resolve(), { once: true });
  await agent.server.connect(transport);
  await gone.promise;
  await agent.close();
}
