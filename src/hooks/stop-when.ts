import type { Ending } from "../core/agent/result.ts";
import type { Run, RunPlugin } from "../core/agent/run.ts";
import { raceAbort } from "../core/base/async.ts";
import { invalidArgument, toNanoAgentError } from "../core/base/errors.ts";
import { pluralize } from "../core/base/text.ts";
import type { Message, Usage } from "../core/message/message.ts";

/** The state passed to {@link StopWhen}. */
export interface StopState {
  /** Answered model requests of this run or phase. */
  readonly iterations: number;
  /** The conversation, newest results last. */
  readonly messages: readonly Message[];
  /** The last text of the model in this run; may be empty. */
  readonly lastText: string;
  /** Tokens of this run. */
  readonly usage: Usage;
  /** USD of this run; `undefined` if a price is unknown. */
  readonly cost: number | undefined;
}

/** True ends the run. If it throws, the run ends with `error`. */
export type StopWhen = (state: StopState) => boolean | Promise<boolean>;

/** Ends a run on its caller's condition, once the calls of an answer have their results. */
export function stopWhenPlugin(stopWhen: StopWhen): RunPlugin {
  return {
    // Subagents share the plugins of the outer run, but have their own limits.
    afterTurn: (run) => (run.subagent === undefined ? checkStopWhen(run, stopWhen) : undefined),
  };
}

async function checkStopWhen(run: Run, stopWhen: StopWhen): Promise<Ending | undefined> {
  const { progress, transcript, run: spent } = run.state;
  const { iterations, lastText } = progress;
  try {
    const evaluation = (async () =>
      stopWhen({
        iterations,
        messages: transcript.messages.slice(),
        lastText,
        usage: spent.usage,
        cost: spent.costUsd,
      }))();
    const answer: unknown = await raceAbort(evaluation, run.signal);
    if (answer === false) return undefined;
    if (answer !== true)
      throw invalidArgument("stopWhen returned neither true nor false: return one of them.");
    return {
      stopReason: "completed",
      detail: `stopWhen was true after ${pluralize(iterations, "model request")}.`,
    };
  } catch (error) {
    // The loop checks the signal before its next request.
    return run.signal.aborted ? undefined : { stopReason: "error", error: toNanoAgentError(error) };
  }
}
