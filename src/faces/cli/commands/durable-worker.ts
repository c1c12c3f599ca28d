import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";

/** `nano-agent worker`: works on durable runs until a signal ends it. */
export async function worker(context: CommandContext, call: CommandCall): Promise<number> {
  // Most starts of the program have nothing to do with a database.
  const { runWorker } = await import("../durable/run-worker.ts");
  return runWorker(context, call);
}
