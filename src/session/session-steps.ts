import type { JournalEntry } from "../core/agent/entry.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import { subagentEntries } from "./subagent-entries.ts";

/**
 * A step of a session: one request to the model in the conversation, counted from 1 along the entries from the first to the newest.
 * An answer that was worked out in nested runs (a plan, a reflection) is one step, whatever it took.
 */
export interface SessionStep {
  readonly number: number;
  /** Place of the entry it begins with: everything before it is what the request of the step was made from. */
  readonly at: number;
  /** Place of the entry with the answer. */
  readonly answerAt: number;
  /** Number of its run, from 1; 0 for answers that stand outside of runs. */
  readonly run: number;
}

/** The steps of a session. */
export function sessionSteps(entries: readonly JournalEntry[]): readonly SessionStep[] {
  const steps: SessionStep[] = [];
  let run = 0;
  let nestedFrom: number | undefined;
  const isOfSubagent = subagentEntries();
  entries.forEach((entry, at) => {
    const isDelegated = isOfSubagent(entry);
    if (entry.scope !== undefined) {
      if (!isDelegated && entry.type !== "tool_intent" && entry.type !== "tool_result") nestedFrom ??= at;
      return;
    }
    if (entry.type === "run_start" || entry.type === "run_resume") {
      if (entry.type === "run_start") run++;
      nestedFrom = undefined;
    } else if (entry.type === "assistant_message") {
      steps.push({ number: steps.length + 1, at, answerAt: at, run });
      nestedFrom = undefined;
    } else if (entry.type === "history" && nestedFrom !== undefined) {
      steps.push({ number: steps.length + 1, at: nestedFrom, answerAt: at, run });
      nestedFrom = undefined;
    }
  });
  return steps;
}

/** The step of a number. Throws `invalid_argument` for one that the session does not have. */
export function stepNumbered(entries: readonly JournalEntry[], number: number): SessionStep {
  const steps = sessionSteps(entries);
  const step = Number.isInteger(number) ? steps[number - 1] : undefined;
  if (step !== undefined) return step;
  const has =
    steps.length === 0 ? "the session has no step" : `the session has the steps 1 to ${steps.length}`;
  throw new NanoAgentError(
    "invalid_argument",
    `Step ${number}: ${has}. nano-agent sessions show prints their numbers.`,
  );
}
