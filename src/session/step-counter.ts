import type { JournalEntry } from "../core/agent/entry.ts";
import { subagentEntries } from "./subagent-entries.ts";

/** Tells the steps of entries that come one after the other, from the first of a session, numbered as `sessionSteps` numbers them. */
export class StepCounter {
  readonly #isOfSubagent = subagentEntries();
  #step = 0;
  #inPhase = false;

  /** The next step for input and for the phases of a pattern, that of the call for what a subagent does; 0 before the first. */
  stepOf(entry: JournalEntry): number {
    const { type, scope } = entry;
    if (this.#isOfSubagent(entry)) return this.#step;
    if (scope !== undefined) {
      if (type !== "tool_intent" && type !== "tool_result") this.#inPhase = true;
      return this.#step + 1;
    }
    const isAnswer = type === "assistant_message" || (type === "history" && this.#inPhase);
    if (isAnswer) this.#step++;
    if (isAnswer || type === "run_start" || type === "run_resume") this.#inPhase = false;
    return type === "user_message" ? this.#step + 1 : this.#step;
  }
}
