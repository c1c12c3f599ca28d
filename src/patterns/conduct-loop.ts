import { loop } from "../core/agent/loop.ts";
import { endRun } from "../core/agent/perform.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { Run } from "../core/agent/run.ts";

/** Options that {@link SimpleAgent} and {@link ReActAgent} share. */
export interface LoopPatternOptions {
  /** The answer when the model says nothing, as the conversation holds it. Default: an English sentence. */
  readonly fallbackAnswer?: string;
}

/** The fallback answer, unless told otherwise. */
export const FALLBACK_ANSWER = "Sorry, I have no answer to this.";

/** Runs the loop once; a model that said nothing is given the fallback answer. */
export async function conductLoop(run: Run, fallbackAnswer: string): Promise<RunResult> {
  const ending = await loop(run);
  const said = ending.text ?? run.state.progress.lastText;
  const silent =
    said.trim() === "" && (ending.stopReason === "completed" || ending.stopReason === "max_iterations");
  return endRun(run, silent ? { ...ending, text: fallbackAnswer, addsText: true } : ending);
}
