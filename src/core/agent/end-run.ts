import { isNanoAgentError, type NanoAgentError } from "../base/errors.ts";
import type { StopReason } from "../base/stop-reason.ts";
import { assistantMessage } from "../message/message.ts";
import type { BudgetLimit, LoopCircle } from "./entry.ts";
import { budgetDetail } from "./limits.ts";
import { pendingCalls } from "./open-calls.ts";
import { MaxIterationsError, type RunResult } from "./result.ts";
import { type RunContext, record } from "./run-context.ts";

/** How a run came to its end. */
export interface Ending {
  readonly stopReason: StopReason;
  /** The answer. Default: the last text the model wrote in this run. */
  readonly text?: string;
  /** True when no message of the conversation holds `text`: it is added as one, unless it is empty. */
  readonly addsText?: boolean;
  readonly output?: unknown;
  readonly limit?: BudgetLimit;
  readonly circle?: LoopCircle;
  readonly error?: NanoAgentError;
  /** See {@link RunResult}. */
  readonly detail?: string;
  /** Answered model requests. Default: those of this run itself. */
  readonly iterations?: number;
}

/** The end of a run whose budget is used up. */
export function overBudget(run: RunContext, limit: BudgetLimit): Ending {
  return { stopReason: "budget", limit, detail: budgetDetail(run, limit) };
}

/** The end of a run whose signal is aborted. The wall time of the budget aborts with a `timeout`; every other abort is the caller's. */
export function aborted(run: RunContext): Ending {
  if (isNanoAgentError(run.signal.reason, "timeout")) return overBudget(run, "wall_time");
  return { stopReason: "aborted" };
}

/** Records how a run ended and makes its result. Throws for the journal and for `onMaxIterations: "throw"`. */
export async function endRun(run: RunContext, ending: Ending): Promise<RunResult> {
  const { error, text = "" } = ending;
  if (ending.addsText === true && text.trim() !== "")
    await record(run, { type: "history", messages: [assistantMessage(text)] });
  await record(run, {
    type: "run_end",
    stopReason: ending.stopReason,
    iterations: ending.iterations ?? run.state.progress.iterations,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    ...(ending.limit === undefined ? {} : { limit: ending.limit }),
    ...(ending.circle === undefined ? {} : { circle: ending.circle }),
    ...(ending.detail === undefined ? {} : { detail: ending.detail }),
  });
  const result = resultOf(run, ending);
  if (ending.stopReason === "max_iterations" && run.onMaxIterations === "throw") {
    throw new MaxIterationsError(run.maxIterations, result);
  }
  return result;
}

/** The result of a run that ended so. */
export function resultOf(run: RunContext, ending: Ending): RunResult {
  const { state } = run;
  // Whoever ends a run with an error or a value passes it along.
  return {
    text: ending.text ?? state.progress.lastText,
    ...(ending.output === undefined ? {} : { output: ending.output }),
    stopReason: ending.stopReason,
    ...(ending.limit === undefined ? {} : { limit: ending.limit }),
    ...(ending.circle === undefined ? {} : { circle: ending.circle }),
    ...(ending.error === undefined ? {} : { error: ending.error }),
    ...(ending.detail === undefined ? {} : { detail: ending.detail }),
    ...(isWaiting(ending.stopReason) ? { pending: pendingCalls(state) } : {}),
    iterations: ending.iterations ?? Math.min(state.progress.iterations, run.maxIterations),
    messages: state.transcript.messages.slice(),
    usage: state.run.usage,
    cost: state.run.costUsd,
    sessionId: run.journal.sessionId,
  } as RunResult;
}

function isWaiting(stopReason: StopReason): boolean {
  return stopReason === "awaiting_approval" || stopReason === "awaiting_external";
}
