import { endRun } from "../core/agent/end-run.ts";
import type { RunResult } from "../core/agent/result.ts";
import { converse } from "../core/agent/run.ts";
import type { RunContext } from "../core/agent/run-context.ts";

/** Options that {@link SimpleAgent} and {@link ReActAgent} share. */
export interface LoopPatternOptions {
  /** The answer when the model says nothing, as the conversation holds it. Default: an English sentence. */
  readonly fallbackAnswer?: string;
}

/** The fallback answer, unless told otherwise. */
export const FALLBACK_ANSWER = "Sorry, I have no answer to this.";

/** Runs the loop once; a model that said nothing is given the fallback answer. */
export async function conductLoop(run: RunContext, fallbackAnswer: string): Promise<RunResult> {
  const ending = await converse(run);
  const said = ending.text ?? run.state.progress.lastText;
  const silent =
    said.trim() === "" && (ending.stopReason === "completed" || ending.stopReason === "max_iterations");
  return endRun(run, silent ? { ...ending, text: fallbackAnswer, addsText: true } : ending);
}
