import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";

/** `nano-agent runs list|show|cancel|retry|approve`: durable runs, wherever they are worked on. */
export async function runs(context: CommandContext, call: CommandCall): Promise<number> {
  const { aboutRuns } = await import("../durable/about-runs.ts");
  return aboutRuns(context, call);
}
