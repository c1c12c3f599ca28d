import { defined } from "../base/defined.ts";
import { isNanoAgentError } from "../base/errors.ts";
import { isWaiting } from "../base/stop-reason.ts";
import { assistantMessage } from "../message/message.ts";
import type { BudgetLimit } from "../model/ledger.ts";
import { budgetDetail } from "./limits.ts";
import { pendingCalls } from "./open-calls.ts";
import { type Ending, MaxIterationsError, type RunResult } from "./result.ts";
import { type Recorder, type RunContext, record } from "./run-context.ts";

/** The end of a run whose budget is used up. */
export function overBudget(run: RunContext, limit: BudgetLimit): Ending {
  return { stopReason: "budget", limit, detail: budgetDetail(run, limit) };
}

/** The end of an aborted run. Whoever limits its time aborts with a `timeout` that says so. */
export function aborted({ signal }: RunContext): Ending {
  const reason: unknown = signal.reason;
  if (!isNanoAgentError(reason, "timeout")) return { stopReason: "aborted" };
  return { stopReason: "budget", limit: "wall_time", detail: reason.message };
}

/** Records the end and makes the result. Throws for the journal and for `onMaxIterations: "throw"`. */
export async function endRun(run: RunContext, ending: Ending): Promise<RunResult> {
  const { text = "" } = ending;
  if (ending.addsText === true && text.trim() !== "")
    await record(run, { type: "history", messages: [assistantMessage(text)] });
  await recordEnd(run, { ...ending, iterations: ending.iterations ?? run.state.progress.iterations });
  const result = resultOf(run, ending);
  if (ending.stopReason === "max_iterations" && run.onMaxIterations === "throw") {
    throw new MaxIterationsError(run.maxIterations, result);
  }
  return result;
}

/** The entry of an ending. */
export async function recordEnd(
  run: Recorder,
  { stopReason, iterations, error, limit, circle, detail }: Ending & { readonly iterations: number },
): Promise<void> {
  const failed = error === undefined ? undefined : { code: error.code, message: error.message };
  await record(run, {
    type: "run_end",
    stopReason,
    iterations,
    ...defined({ error: failed, limit, circle, detail }),
  });
}

/** The result of a run that ended so. */
export function resultOf(run: RunContext, ending: Ending): RunResult {
  const { state } = run;
  const { output, stopReason, limit, circle, error, detail } = ending;
  const pending = isWaiting(stopReason) ? pendingCalls(state) : undefined;
  // Whoever ends a run with an error or a value passes it along.
  return {
    text: ending.text ?? state.progress.lastText,
    ...defined({ output, stopReason, limit, circle, error, detail, pending }),
    iterations: ending.iterations ?? Math.min(state.progress.iterations, run.maxIterations),
    messages: state.transcript.messages.slice(),
    usage: state.run.usage,
    cost: state.run.costUsd,
    sessionId: run.journal.sessionId,
  } as RunResult;
}
