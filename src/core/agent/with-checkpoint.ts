import { orAborted } from "../base/abort.ts";
import { errorMessage } from "../base/errors.ts";
import { NEVER_RAN } from "../message/transcript.ts";
import { errorResult } from "../tool/output.ts";
import type { CheckpointedCall, Checkpointer } from "./checkpointer.ts";
import type { NewEntry } from "./entry.ts";
import type { SettledCall } from "./permit.ts";
import { type RunContext, record } from "./run-context.ts";

/** Milliseconds to find out what an aborted call has changed: it is what an undo of the run needs. */
const AFTER_GRACE_MS = 5_000;

/** A call to be run between the two looks of a checkpointer. */
export interface Checkpointed {
  readonly call: CheckpointedCall;
  readonly work: () => Promise<SettledCall>;
  /** How the call ends when it is not run. */
  readonly refuse: (refusal: SettledCall) => Promise<SettledCall>;
}

/**
 * Runs a call between the two looks of the checkpointer and records what it changed. A call whose changes
 * could not be taken back does not run. Throws only for the journal.
 */
export async function withCheckpoint(
  run: RunContext,
  checkpointer: Checkpointer,
  { call, work, refuse }: Checkpointed,
): Promise<SettledCall> {
  const before = (async () => checkpointer.before(call))();
  try {
    await orAborted(before, run.signal);
  } catch (error) {
    if (run.signal.aborted) {
      // Whatever it still does, the call it waits for will not come.
      before.then(() => checkpointer.after(call)).catch(() => undefined);
      return refuse({ status: "aborted", result: errorResult(NEVER_RAN) });
    }
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
    const after = (async () => checkpointer.after(call))();
    return (await orAborted(after, run.signal, AFTER_GRACE_MS)) ?? [];
  } catch (error) {
    const message = `What ${call.name} changed could not be recorded for undo: ${errorMessage(error)}`;
    run.emit({ type: "warning", message });
    return [];
  }
}
