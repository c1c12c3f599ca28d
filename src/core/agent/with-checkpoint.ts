import { errorMessage } from "../base/errors.ts";
import { errorResult } from "../tool/output.ts";
import type { SettledCall } from "./admit.ts";
import type { CheckpointedCall } from "./checkpointer.ts";
import type { NewEntry } from "./entry.ts";
import { type RunContext, record } from "./run-context.ts";

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
  try {
    await checkpointer.before(call);
  } catch (error) {
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
    return (await run.checkpointer?.after(call)) ?? [];
  } catch (error) {
    const message = `What ${call.name} changed could not be recorded for undo: ${errorMessage(error)}`;
    run.emit({ type: "warning", message });
    return [];
  }
}
