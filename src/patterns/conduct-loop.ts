import { type Ending, endRun } from "../core/agent/end-run.ts";
import { runTurns } from "../core/agent/loop.ts";
import { runNested } from "../core/agent/nested-run.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { RunContext } from "../core/agent/run-context.ts";
import { endingOf } from "./phases.ts";

/**
 * What the conversation keeps of a run. `full`: every message and tool call, so that the next question can refer to them.
 * `final-only`: the question and the answer; tool calls stand in the journal and in the events, and are not sent again; a tool
 * that the caller answers cannot be used then.
 */
export type ConversationMemory = "full" | "final-only";

/** What {@link SimpleAgent} and {@link ReActAgent} share. */
export interface LoopPatternOptions {
  /** The answer when the model says nothing; also what the conversation then holds. Default: one English sentence. */
  readonly fallbackAnswer?: string;
  /** Default `full`. */
  readonly memory?: ConversationMemory;
}

/** The fallback answer, unless told otherwise. */
export const FALLBACK_ANSWER = "Sorry, I have no answer to this.";

/** Runs the loop once, as the options of the pattern want it. */
export async function conductLoop(run: RunContext, options: LoopPatternOptions): Promise<RunResult> {
  const { fallbackAnswer = FALLBACK_ANSWER, memory = "full" } = options;
  const ending = memory === "full" ? await runTurns(run) : await apart(run);
  const said = ending.text ?? run.state.lastText;
  const silent =
    said.trim() === "" && (ending.stopReason === "completed" || ending.stopReason === "max_iterations");
  return endRun(run, silent ? { ...ending, text: fallbackAnswer, addsText: true } : ending);
}

async function apart(run: RunContext): Promise<Ending> {
  const result = await runNested(run, {
    scope: "reply",
    history: run.state.transcript.messages,
    tools: run.tools,
    finishTool: run.finishTool,
    toolChoice: run.toolChoice,
  });
  return { ...endingOf(result), addsText: true, iterations: result.iterations };
}
