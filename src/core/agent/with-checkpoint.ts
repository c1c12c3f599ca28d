import { errorMessage } from "../base/errors.ts";
import { errorResult } from "../tool/output.ts";
import type { SettledCall } from "./admit.ts";
import type { CheckpointedCall, Checkpointer } from "./checkpointer.ts";
import type { NewEntry } from "./entry.ts";
import { type RunContext, record } from "./run-context.ts";

/** A call to be run between the two looks of a checkpointer. */
export interface Checkpointed {
  readonly call: CheckpointedCall;
  readonly work: () => Promise<SettledCall>;
  /** How the call ends when it is not run. */
  readonly refuse: (refusal: SettledCall) => SettledCall | Promise<SettledCall>;
}

/**
 * Runs a call between the two looks of the checkpointer and records what it changed. A call whose changes could not be taken back does
 * not run. Throws only for the journal.
 */
export async function withCheckpoint(
  run: RunContext,
  checkpointer: Checkpointer,
  { call, work, refuse }: Checkpointed,
): Promise<SettledCall> {
  try {
    await checkpointer.before(call);
  } catch (error) {
    return refuse({ status: "error", result: errorResult(`Not run: ${errorMessage(error)}`) });
  }
  try {
    return await work();
  } finally {
    for (const entry of await changesOf(run, checkpointer, call)) await record(run, entry);
  }
}

async function changesOf(
  run: RunContext,
  checkpointer: Checkpointer,
  call: CheckpointedCall,
): Promise<readonly NewEntry[]> {
  try {
    return await checkpointer.after(call);
  } catch (error) {
    const message = `What ${call.name} changed could not be recorded for undo: ${errorMessage(error)}`;
    run.emit({ type: "warning", message });
    return [];
  }
}
