import type { Ending } from "../core/agent/result.ts";
import type { Run, RunPlugin } from "../core/agent/run.ts";
import { orAborted } from "../core/base/async.ts";
import { misuse, toNanoAgentError } from "../core/base/errors.ts";
import { counted } from "../core/base/text.ts";
import type { Message, Usage } from "../core/message/message.ts";

/** The state of a run, for {@link StopWhen}. */
export interface StopState {
  /** Answered model requests of this run, or phase. */
  readonly iterations: number;
  /** The conversation, the newest results last. */
  readonly messages: readonly Message[];
  /** The last text the model wrote in this run, possibly empty. */
  readonly lastText: string;
  /** Tokens of this run. */
  readonly usage: Usage;
  /** USD of this run; `undefined` when a price is unknown. */
  readonly cost: number | undefined;
}

/** Says whether a run has come far enough. Where it throws, the run ends with `error`. */
export type StopWhen = (state: StopState) => boolean | Promise<boolean>;

/** Ends a run where its caller says so, when the calls of an answer have their results. */
export function stopWhenPlugin(stopWhen: StopWhen): RunPlugin {
  return {
    // Subagents have the plugins of the run around them, and limits of their own.
    afterTurn: (run) => (run.subagent === undefined ? stopped(run, stopWhen) : undefined),
  };
}

async function stopped(run: Run, stopWhen: StopWhen): Promise<Ending | undefined> {
  const { progress, transcript, run: spent } = run.state;
  const { iterations, lastText } = progress;
  try {
    const asking = (async () =>
      stopWhen({
        iterations,
        messages: transcript.messages.slice(),
        lastText,
        usage: spent.usage,
        cost: spent.costUsd,
      }))();
    const answer: unknown = await orAborted(asking, run.signal);
    if (answer === false) return undefined;
    if (answer !== true) throw misuse("stopWhen returned neither true nor false: return one of them.");
    return {
      stopReason: "completed",
      detail: `stopWhen was true after ${counted(iterations, "model request")}.`,
    };
  } catch (error) {
    // The loop looks at the signal before its next request.
    return run.signal.aborted ? undefined : { stopReason: "error", error: toNanoAgentError(error) };
  }
}
