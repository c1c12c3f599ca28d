import type { JournalEntry } from "../core/agent/entries.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { Scopes } from "./scopes.ts";

/**
 * A step of a session: one model request in the conversation, counted from 1 in the order of the entries. An
 * answer that took nested runs (a plan, a reflection) is one step, however many requests it needed.
 */
export interface SessionStep {
  readonly number: number;
  /** Index of the entry it begins with; its request was made from everything before that. */
  readonly at: number;
  /** Index of the entry with the answer. */
  readonly answerAt: number;
  /** Number of its run, from 1; 0 for answers outside of runs. */
  readonly run: number;
}

/** The steps of a session. */
export function sessionSteps(entries: readonly JournalEntry[]): readonly SessionStep[] {
  const counter = new StepCounter();
  for (const entry of entries) counter.stepOf(entry);
  return counter.steps;
}

/** The step with a number. Throws `invalid_argument` if the session does not have it. */
export function stepByNumber(entries: readonly JournalEntry[], number: number): SessionStep {
  const steps = sessionSteps(entries);
  const step = Number.isInteger(number) ? steps[number - 1] : undefined;
  if (step !== undefined) return step;
  const has =
    steps.length === 0 ? "the session has no step" : `the session has the steps 1 to ${steps.length}`;
  throw invalidArgument(`Step ${number}: ${has}. nano-agent sessions show prints their numbers.`);
}

/** Finds the step of each entry, counted from 1. Takes the entries in order, from the first of a session. */
export class StepCounter {
  readonly steps: SessionStep[] = [];
  readonly #scopes = new Scopes();
  #next = 0;
  #run = 0;
  /** Index at which the pattern's phases without an answer began. */
  #phasesAt: number | undefined;

  /** The next step for input and pattern phases; the call's step for a subagent's entries; 0 before any. */
  stepOf(entry: JournalEntry): number {
    const { type, scope } = entry;
    const { steps } = this;
    const answerAt = this.#next++;
    if (this.#scopes.of(entry) !== undefined) return steps.length;
    if (scope !== undefined) {
      if (type !== "tool_intent" && type !== "tool_result") this.#phasesAt ??= answerAt;
      return steps.length + 1;
    }
    if (type === "run_start") this.#run++;
    const at = type === "history" ? this.#phasesAt : type === "assistant_message" ? answerAt : undefined;
    if (at !== undefined) steps.push({ number: steps.length + 1, at, answerAt, run: this.#run });
    if (at !== undefined || type === "run_start" || type === "run_resume") this.#phasesAt = undefined;
    return type === "user_message" ? steps.length + 1 : steps.length;
  }
}

/** Entries that may stand between the start of a run and a message of its input. */
const BEFORE_INPUT: ReadonlySet<string> = new Set(["user_message", "permission_decision", "tool_result"]);

/**
 * Id of the record before a user message: continuing from there allows replacing the message. For the input
 * of a run, it is the record before the start of the run. `null`: the message is the first of all. Throws
 * `invalid_argument` if there is no such message.
 */
export function entryBefore(entries: readonly JournalEntry[], id: string): string | null {
  const at = entries.findIndex((entry) => entry.id === id);
  const message = entries[at];
  if (message?.type !== "user_message" || message.scope !== undefined)
    throw invalidArgument(
      `${JSON.stringify(id)} is not a message of the user in this conversation. rewindPoints() lists them.`,
    );
  if (message.source !== "input") return message.parent;
  let first = at;
  for (let entry = entries[first - 1]; entry !== undefined; entry = entries[--first - 1]) {
    if (entry.type === "run_start" && entry.scope === undefined) return entry.parent;
    if (!BEFORE_INPUT.has(entry.type)) break;
  }
  return message.parent;
}
