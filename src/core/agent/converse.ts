import { type Ending, runTurns } from "./loop.ts";
import { endingOf, runNested } from "./nested-run.ts";
import type { RunContext } from "./run-context.ts";

/** The turns of a run, of which the conversation keeps what {@link import("./options.ts").ConversationMemory} says. */
export async function converse(run: RunContext): Promise<Ending> {
  if (run.memory === "full") return runTurns(run);
  const result = await runNested(run, {
    scope: "reply",
    history: run.state.transcript.messages,
    tools: run.tools,
    finishTool: run.finishTool,
    toolChoice: run.toolChoice,
  });
  return { ...endingOf(result), addsText: true, iterations: result.iterations };
}
