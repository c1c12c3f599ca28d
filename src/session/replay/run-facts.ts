import type { JournalEntry, UserEntry } from "../../core/agent/entries.ts";
import { toolCallsOf } from "../../core/message/message.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** The facts of a run that its journal does not say, and those that follow from it. */
export interface RunFacts {
  readonly finishTool: string | undefined;
  readonly maxIterations: number;
  readonly onMaxIterations: "summarize" | "last";
  readonly externalTools: ReadonlySet<string>;
  readonly hasApprover: boolean;
  /** Ids of the calls of the last answer; of all calls where the run has none. */
  readonly lastCalls: ReadonlySet<string>;
}

/** Works out how a run must have been set up to go as it went. */
export function runFacts(run: RecordedRun): RunFacts {
  const last = run.start.tools.at(-1);
  const nudged = run.body.some((entry) => entry.type === "user_message" && entry.code === "nudge");
  const summarizes = run.body.some(asksForSummary);
  const lastAnswer = run.answers.at(-1);
  return {
    finishTool: nudged || run.end?.stopReason === "structured_output" ? last : undefined,
    maxIterations: maxIterationsOf(run, summarizes),
    onMaxIterations: summarizes ? "summarize" : "last",
    externalTools: externalTools(run),
    hasApprover: ![...run.calls.values()].some(({ decision }) => decision?.code === "nobody_to_ask"),
    lastCalls: new Set(
      lastAnswer === undefined
        ? [...run.calls.values()]
            .filter((call) => call.parentCallId === undefined)
            .map(({ callId }) => callId)
        : toolCallsOf(lastAnswer.message).map(({ id }) => id),
    ),
  };
}

const SAID_BY_LOOP: ReadonlySet<UserEntry["code"]> = new Set(["nudge", "unreadable", "summarize", "empty"]);

/** True when loop or pattern says this again by itself; not a warning of the guard, which is off then. */
export function isSaidByLoop(entry: UserEntry): boolean {
  return SAID_BY_LOOP.has(entry.code) || beginsNestedRun(entry);
}

/** True when an entry is what a nested run was asked first. */
export function beginsNestedRun(entry: JournalEntry): boolean {
  if (entry.type !== "user_message" || entry.source !== "system") return false;
  return entry.scope !== undefined && entry.code === undefined;
}

function asksForSummary(entry: JournalEntry): boolean {
  return entry.type === "user_message" && entry.code === "summarize";
}

/** A phase that ended while calling tools had used up its requests; so had a run that says so. */
function maxIterationsOf(run: RecordedRun, summarizes: boolean): number {
  const own = run.answers.filter(({ scope }) => scope === undefined);
  if (summarizes) return ownAnswersBeforeSummary(run);
  // A run that goes on may have used up its requests before.
  const isUsedUp = run.end?.stopReason === "max_iterations";
  if (isUsedUp && (own.length > 0 || run.answers.length === 0)) return own.length;
  if (own.length > 0) return Number.POSITIVE_INFINITY;
  const known = new Set(run.start.tools);
  for (const scope of new Set(run.answers.map((answer) => answer.scope))) {
    const answers = run.answers.filter((answer) => answer.scope === scope);
    const calls = answers.flatMap(({ message }, at) =>
      at === answers.length - 1 ? toolCallsOf(message) : [],
    );
    const isFinal = scope === run.answers.at(-1)?.scope && run.end?.stopReason !== "max_iterations";
    if (calls.length > 0 && !isFinal && calls.every(({ name }) => known.has(name))) return answers.length;
  }
  return Number.POSITIVE_INFINITY;
}

function ownAnswersBeforeSummary(run: RecordedRun): number {
  const asked = run.body.findLastIndex(asksForSummary);
  const before = run.body.slice(0, asked);
  return before.filter(({ type, scope }) => type === "assistant_message" && scope === undefined).length;
}

function externalTools(run: RecordedRun): ReadonlySet<string> {
  const stopReason = run.end?.stopReason;
  if (stopReason !== "awaiting_external" && stopReason !== "awaiting_approval") return new Set();
  const answer = run.answers.findLast(({ scope }) => scope === undefined);
  if (answer === undefined) return new Set();
  const open = toolCallsOf(answer.message).filter(({ id }) => {
    const call = run.calls.get(id);
    return call?.intent === undefined && call?.result === undefined && call?.request === undefined;
  });
  return new Set(open.map(({ name }) => name));
}
