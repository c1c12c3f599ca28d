import { readSession } from "./read-session.ts";
import { sessionError } from "./session-error.ts";
import { stepNumbered } from "./session-steps.ts";

/**
 * Id of the entry in front of a step of a session: who goes on from there asks the model what was asked in that step. Throws
 * `invalid_argument` for a step that the session does not have, `journal` for a session that cannot be read.
 */
export function recordBeforeStep(path: string, step: number): string {
  const { entries } = readSession(path);
  const { at } = stepNumbered(entries, step);
  const before = entries[at - 1];
  if (before === undefined) throw sessionError(`Nothing stands before step ${step} of ${path}.`);
  return before.id;
}
