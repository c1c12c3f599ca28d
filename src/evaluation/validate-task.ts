import { errorMessage, isNanoAgentError } from "../core/base/errors.ts";
import { type JudgePlace, judge, setUp, type Verdict } from "./judge.ts";
import type { Task } from "./task.ts";
import { makeWorkplace, removeFolder, TaskScratch } from "./task-scratch.ts";

/** The proof of a task, or what stands against it. */
export interface TaskProof {
  readonly task: string;
  /** Why it cannot tell a solution from none; empty for a good task. */
  readonly faults: readonly string[];
  /** True when a reference proved that it can be solved. */
  readonly isSolvable: boolean;
}

/**
 * Proves that the check of a task fails as long as nothing was done, and passes with its reference. Where
 * there is neither `reference` nor `reference.md`, only the former.
 */
export async function validateTask(task: Task, place: JudgePlace): Promise<TaskProof> {
  const faults: string[] = [];
  const untouched = await verdictOn(task, { withReference: false }, place);
  if (typeof untouched === "string") faults.push(untouched);
  else if (untouched.error !== undefined) faults.push(untouched.error);
  else if (untouched.solved)
    faults.push("the check passes although nothing was done: it must fail before the task is worked on");
  else if (untouched.isTimeout) faults.push(`untouched, ${untouched.reason}: it must fail by itself`);
  const hasReference = task.has.reference || task.referenceAnswer !== undefined;
  if (!hasReference || faults.length > 0 || place.signal.aborted)
    return { task: task.name, faults, isSolvable: false };
  const solved = await verdictOn(task, { withReference: true }, place);
  if (typeof solved === "string") faults.push(solved);
  else if (!solved.solved) faults.push(`the check fails with the reference: ${solved.reason}`);
  return { task: task.name, faults, isSolvable: faults.length === 0 };
}

/** The word of the check, or why it could not be heard. */
async function verdictOn(
  task: Task,
  { withReference }: { readonly withReference: boolean },
  place: JudgePlace,
): Promise<Verdict | string> {
  const workplace = await makeWorkplace("nano-agent-validate-");
  try {
    const scratch = await TaskScratch.make(task, { workplace, judges: workplace });
    const problem = await setUp(task, scratch, place);
    if (problem !== undefined) return problem;
    try {
      if (withReference) await scratch.takeReference();
    } catch (error) {
      return `reference cannot be copied over the files: ${errorMessage(error)}`;
    }
    const answer = withReference ? (task.referenceAnswer ?? "") : "";
    return await judge(task, { scratch, answer }, place);
  } catch (error) {
    // One that cannot be copied, or was changed meanwhile, is no reason to be silent about the others.
    if (isNanoAgentError(error, "invalid_argument")) return error.message;
    throw error;
  } finally {
    await removeFolder(workplace);
  }
}
