import { Readable, Writable } from "node:stream";
import { type AnyMessage, MessageTooLargeError, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { misuse } from "../../core/base/errors.ts";
import { AcpAgent, type AcpAgentOptions } from "./acp-agent.ts";

/** Bytes of one message: a prompt with pictures, or a file that the editor has open. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;

/**
 * Speaks the Agent Client Protocol with an editor on a pair of streams until it goes away or `signal` aborts;
 * then every run is ended. Nothing else may be written to `output`. Rejects with `invalid_argument` after a
 * message that is too long to be read.
 */
export async function serveAcp(
  options: AcpAgentOptions,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const agent = new AcpAgent(options);
  const { readable, writable } = ndJsonStream(
    Writable.toWeb(output) as WritableStream<Uint8Array>,
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_BYTES },
  );
  const connection = agent.app().connect({ readable: readable.pipeThrough(inOrder()), writable });
  const onAbort = (): void => connection.close();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await connection.closed;
  } finally {
    signal.removeEventListener("abort", onAbort);
    await agent.close();
  }
  if (connection.signal.reason instanceof MessageTooLargeError)
    throw misuse(
      `The editor sent a message of more than ${MAX_MESSAGE_BYTES >> 20} MiB, so its sessions were ended. Load them again, and leave out what is that large.`,
    );
}

/** Handlers of notifications start later than those of requests: a cancel would hit the prompt behind it. */
function inOrder(): TransformStream<AnyMessage, AnyMessage> {
  return new TransformStream({
    transform: async (message, controller) => {
      controller.enqueue(message);
      if ("method" in message && message.method === methods.agent.session.cancel)
        await new Promise((resolve) => setImmediate(resolve));
    },
  });
}
