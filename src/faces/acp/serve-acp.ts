import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { AcpAgent, type AcpAgentOptions } from "./acp-agent.ts";

/**
 * Speaks the Agent Client Protocol with an editor on a pair of streams until it goes away or `signal` aborts; then every run is ended. Nothing else may
 * be written to `output`.
 */
export async function serveAcp(
  options: AcpAgentOptions,
  {
    input,
    output,
    signal,
  }: { readonly input: Readable; readonly output: Writable; readonly signal: AbortSignal },
): Promise<void> {
  const agent = new AcpAgent(options);
  const stream = ndJsonStream(
    Writable.toWeb(output) as WritableStream<Uint8Array>,
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
  );
  const connection = agent.app().connect(stream);
  const onAbort = (): void => connection.close();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await connection.closed;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await agent.close();
  }
}
