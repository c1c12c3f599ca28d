import { orAborted } from "../base/abort.ts";
import { errorMessage } from "../base/errors.ts";
import { NEVER_RAN } from "../message/transcript.ts";
import { errorResult } from "../tool/output.ts";
import type { SettledCall } from "./admit.ts";
import type { CheckpointedCall } from "./checkpointer.ts";
import type { NewEntry } from "./entry.ts";
import { type RunContext, record } from "./run-context.ts";

/** Time to find out what a call has changed when the run is aborted meanwhile, in milliseconds: it is what an undo of the run needs. */
const AFTER_GRACE_MS = 5_000;

/**
 * Runs a call between the two looks of the checkpointer and records what it changed. A call whose changes could not be taken back does
 * not run: `execute` gets what it is answered with. Throws only for the journal.
 */
export async function withCheckpoint(
  run: RunContext,
  call: CheckpointedCall,
  execute: (refusal?: SettledCall) => Promise<SettledCall>,
): Promise<SettledCall> {
  const { checkpointer } = run;
  if (checkpointer === undefined) return execute();
  const before = (async () => checkpointer.before(call))();
  try {
    await orAborted(before, run.signal);
  } catch (error) {
    if (run.signal.aborted) {
      // Whatever it still does, the call it waits for will not come.
      before.then(() => checkpointer.after(call)).catch(() => undefined);
      return execute({ status: "aborted", result: errorResult(NEVER_RAN) });
    }
    return execute({ status: "error", result: errorResult(`Not run: ${errorMessage(error)}`) });
  }
  let settled: SettledCall;
  try {
    settled = await execute();
  } finally {
    for (const entry of await changesOf(run, call)) await record(run, entry);
  }
  return settled;
}

async function changesOf(run: RunContext, call: CheckpointedCall): Promise<readonly NewEntry[]> {
  try {
    const after = (async () => run.checkpointer?.after(call))();
    return (await orAborted(after, run.signal, AFTER_GRACE_MS)) ?? [];
  } catch (error) {
    const message = `What ${call.name} changed could not be recorded for undo: ${errorMessage(error)}`;
    run.emit({ type: "warning", message });
    return [];
  }
}
