import type { JournalEntry } from "../core/agent/entries.ts";
import { misuse } from "../core/base/errors.ts";
import { Scopes } from "./scopes.ts";

/**
 * A step of a session: one request to the model in the conversation, counted from 1 along the entries from
 * the first to the newest. An answer that was worked out in nested runs (a plan, a reflection) is one step,
 * whatever it took.
 */
export interface SessionStep {
  readonly number: number;
  /** Place of the entry it begins with; the request of the step was made from everything before it. */
  readonly at: number;
  /** Place of the entry with the answer. */
  readonly answerAt: number;
  /** Number of its run, from 1; 0 for answers that stand outside of runs. */
  readonly run: number;
}

/** The steps of a session. */
export function sessionSteps(entries: readonly JournalEntry[]): readonly SessionStep[] {
  const counter = new StepCounter();
  for (const entry of entries) counter.stepOf(entry);
  return counter.steps;
}

/** The step of a number. Throws `invalid_argument` for one that the session does not have. */
export function stepNumbered(entries: readonly JournalEntry[], number: number): SessionStep {
  const steps = sessionSteps(entries);
  const step = Number.isInteger(number) ? steps[number - 1] : undefined;
  if (step !== undefined) return step;
  const has =
    steps.length === 0 ? "the session has no step" : `the session has the steps 1 to ${steps.length}`;
  throw misuse(`Step ${number}: ${has}. nano-agent sessions show prints their numbers.`);
}

/** Tells the steps of entries that come one after the other, from the first of a session, numbered from 1. */
export class StepCounter {
  readonly steps: SessionStep[] = [];
  readonly #scopes = new Scopes();
  #next = 0;
  #run = 0;
  /** Where the phases of a pattern began that have no answer yet. */
  #phasesAt: number | undefined;

  /** The next step for input and a pattern's phases; for what a subagent does its call's; 0 before any. */
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

/** Entries that may stand between the beginning of a run and a message that is a part of its input. */
const BEFORE_INPUT: ReadonlySet<string> = new Set(["user_message", "permission_decision", "tool_result"]);

/**
 * Id of the record in front of a message of the user: who goes on from there can say something else in its
 * place. The input of a run takes the beginning of the run along. `null`: the message is the first of all.
 * Throws `invalid_argument` for what is no such message.
 */
export function entryBefore(entries: readonly JournalEntry[], id: string): string | null {
  const at = entries.findIndex((entry) => entry.id === id);
  const message = entries[at];
  if (message?.type !== "user_message" || message.scope !== undefined)
    throw misuse(
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
