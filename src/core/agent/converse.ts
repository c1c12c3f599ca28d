import { type Ending, endRun } from "./end-run.ts";
import { runTurns } from "./loop.ts";
import { makeRoom } from "./make-room.ts";
import { endingOf, runNested } from "./nested-run.ts";
import type { RunResult } from "./result.ts";
import type { RunContext } from "./run-context.ts";

/** The loop and the record of its end. Throws for the journal and for `onMaxIterations: "throw"`; everything else is a stop reason. */
export function runLoop(run: RunContext): Promise<RunResult> {
  return converse(run).then((ending) => endRun(run, ending));
}

/** The turns of a run, of which the conversation keeps what {@link import("./options.ts").ConversationMemory} says. */
export function converse(run: RunContext): Promise<Ending> {
  return run.memory === "full" ? runTurns(run) : converseAside(run);
}

/** The turns on a transcript of their own, of which the conversation keeps the answer. */
async function converseAside(run: RunContext): Promise<Ending> {
  await makeRoom(run);
  const result = await runNested(run, {
    scope: "reply",
    history: run.state.transcript.messages,
    tools: run.tools,
    finishTool: run.finishTool,
    toolChoice: run.toolChoice,
  });
  return { ...endingOf(result), addsText: true, iterations: result.iterations };
}
