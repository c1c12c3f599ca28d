import type { JournalEntry } from "../../core/agent/entries.ts";
import { SessionState } from "../../core/agent/state.ts";
import { type Difference, firstDifference } from "../../core/base/json.ts";
import type { Message } from "../../core/message/message.ts";
import { sessionSteps, stepByNumber } from "../../journal/steps.ts";
import {
  checkedInput,
  hasExternalEnd,
  type RecordedCall,
  type RecordedRun,
  recordedCalls,
  recordedRuns,
} from "./recorded-run.ts";
import { type LiveOutcome, type ReplayTools, RunReplay } from "./replay-run.ts";

/** Options for replaying a session. */
export interface ReplayOptions extends ReplayTools {
  /** First step that is compared. Default 1. */
  readonly from?: number;
}

/**
 * Replays a session from its journal, without a model: answers, permission decisions, input, steering and
 * interruptions come from the record, and so do tool results, unless `runTool` runs the calls. Reports where
 * the messages of a request, the arguments or result of a call, or the end of a run differ from the record.
 * Every run starts from the recorded entries before it, so that one difference does not cause others. Writes
 * nothing. Throws `invalid_argument` for a step that does not exist.
 */
export async function replaySession(
  entries: readonly JournalEntry[],
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  const { from = 1, signal } = options;
  if (options.from !== undefined) stepByNumber(entries, from);
  const comparison = new Comparison(entries, from);
  for (const run of recordedRuns(entries)) {
    if (signal?.aborted === true) break;
    const last = comparison.stepOf(run.end ?? run.answers.at(-1) ?? run.start);
    if (last !== null && last < from) continue;
    const kind = [...run.opening, ...run.body].some(isOfPhase)
      ? "runs of patterns with phases"
      : run.answers.length === 0
        ? "runs without an answer"
        : undefined;
    if (kind !== undefined) {
      comparison.skip(kind);
      continue;
    }
    const before = entries.slice(0, run.before);
    const replayed = new RunReplay(run, options);
    await replayed.perform(before);
    comparison.add(run, replayed, before);
  }
  return comparison.report();
}

/** True for a conversation entry created within the run, as some patterns do. */
function isOfPhase({ type, scope }: JournalEntry): boolean {
  return scope !== undefined && (type === "user_message" || type === "assistant_message");
}

/** The aspects that are compared in a replay. */
export type ReplayAspect =
  | "request"
  | "answer"
  | "tool_input"
  | "tool_result"
  | "missing_call"
  | "added_call"
  | "stop_reason";

/** A difference between a replay and its record. */
export interface ReplayDifference {
  /** Of the session, from 1. */
  readonly run: number;
  /** Number of its step; `null` if it belongs to no step. */
  readonly step: number | null;
  readonly aspect: ReplayAspect;
  /** The affected call. */
  readonly call?: { readonly id: string; readonly name: string };
  /** Path in the value, such as `messages[2].content[0].text`. */
  readonly path: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** Outcome of a replay. */
export interface ReplayReport {
  readonly same: boolean;
  readonly differences: readonly ReplayDifference[];
  readonly runs: number;
  /** Number of model requests that were repeated and compared. */
  readonly requests: number;
  /** Number of tool calls that were repeated and compared. */
  readonly calls: number;
  /** Number of those that really ran instead of being answered from the record. */
  readonly callsRun: number;
  /** Number of parts taken unchanged from the record because they could not be replayed, by kind. */
  readonly notReplayed: { readonly [kind: string]: number };
}

interface DifferencePosition {
  readonly run: number;
  readonly entry: JournalEntry | undefined;
  readonly aspect: ReplayAspect;
  readonly call?: { readonly id: string; readonly name: string };
}

/** The differences between the runs of a session and their replay. */
class Comparison {
  readonly #differences: ReplayDifference[] = [];
  readonly #counts = { runs: 0, requests: 0, calls: 0, callsRun: 0 };
  readonly #notReplayed = new Map<string, number>();
  readonly #from: number;
  readonly #steps: ReturnType<typeof sessionSteps>;
  readonly #positions: ReadonlyMap<JournalEntry, number>;

  constructor(entries: readonly JournalEntry[], from: number) {
    this.#from = from;
    this.#steps = sessionSteps(entries);
    this.#positions = new Map(entries.map((entry, at) => [entry, at]));
  }

  /** Number of an entry's step, the last one that had begun; `null` if it belongs to none. */
  stepOf(entry: JournalEntry | undefined): number | null {
    const at = entry === undefined ? undefined : this.#positions.get(entry);
    return this.#steps.findLast((step) => at !== undefined && step.at <= at)?.number ?? null;
  }

  skip(kind: string, count = 1): void {
    if (count > 0) this.#notReplayed.set(kind, (this.#notReplayed.get(kind) ?? 0) + count);
  }

  add(run: RecordedRun, replayed: RunReplay, before: readonly JournalEntry[]): void {
    this.#counts.runs++;
    this.#compareRequests(run, replayed, before);
    this.#compareCalls(run, replayed);
    this.#compareEnd(run, replayed);
    this.skip("requests of subagents", run.delegated);
    this.skip("history in a run", run.body.filter(({ type }) => type === "history").length);
  }

  report(): ReplayReport {
    const differences = this.#differences;
    const notReplayed = Object.fromEntries(this.#notReplayed);
    return { same: differences.length === 0, differences, ...this.#counts, notReplayed };
  }

  #isCompared(entry: JournalEntry | undefined): boolean {
    const step = this.stepOf(entry);
    return step === null || step >= this.#from;
  }

  #note({ run, entry, ...place }: DifferencePosition, difference: Difference | undefined): void {
    if (difference === undefined) return;
    const { path, left: recorded, right } = difference;
    this.#differences.push({ run, step: this.stepOf(entry), ...place, path, recorded, replayed: right });
  }

  #compareRequests(run: RecordedRun, replayed: RunReplay, before: readonly JournalEntry[]): void {
    const expected = expectedRequests(run, before);
    run.answers.forEach((entry, at) => {
      if (!this.#isCompared(entry)) return;
      const place = { run: run.number, entry, aspect: "request" } as const;
      const made = replayed.requests[at];
      if (made === undefined) return this.#note(place, onlyOne("a request", "nothing"));
      this.#counts.requests++;
      this.#note(place, withPrefix("messages", firstDifference(expected[at], made)));
    });
    if (!replayed.hasExtraRequest) return;
    const place = { run: run.number, entry: run.answers.at(-1), aspect: "request" } as const;
    this.#note(place, onlyOne("nothing", "one more request"));
  }

  #compareCalls(run: RecordedRun, replayed: RunReplay): void {
    const made = new Map(recordedCalls(replayed.entries));
    for (const call of run.calls.values()) {
      if (!this.#isCompared(call.intent ?? call.decision ?? call.result)) continue;
      const now = made.get(call.callId);
      made.delete(call.callId);
      const left = skipReason(call, now);
      if (left !== undefined) this.skip(left);
      else this.#compareCall(run, call, now, replayed.outcomes.get(call.callId));
    }
    for (const { callId: id, name, intent, result } of made.values()) {
      if (run.calls.has(id) || result?.status === "aborted") continue;
      const input = JSON.stringify(intent?.input ?? {}).slice(0, 200);
      const place = { run: run.number, entry: undefined, aspect: "added_call", call: { id, name } } as const;
      this.#note(place, onlyOne("nothing", input));
    }
  }

  #compareCall(
    run: RecordedRun,
    call: RecordedCall,
    now: RecordedCall | undefined,
    outcome: LiveOutcome | undefined,
  ): void {
    const { callId: id, name, intent, decision, result } = call;
    const place = { run: run.number, entry: intent ?? decision ?? result, call: { id, name } };
    if (now === undefined)
      return this.#note({ ...place, aspect: "missing_call" }, onlyOne("a call", "nothing"));
    this.#counts.calls++;
    const input = checkedInput(call);
    // The answer has all that is left of a denied call: a hook may have changed its arguments first.
    if (input !== undefined && decision?.action !== "deny") {
      const difference = firstDifference(input, checkedInput(now));
      this.#note({ ...place, aspect: "tool_input" }, withPrefix("input", difference));
    }
    if (outcome !== undefined) this.#counts.callsRun++;
    const difference =
      outcome === undefined
        ? firstDifference(outcomeOf(call), outcomeOf(now))
        : liveDifference(call, outcome);
    this.#note({ ...place, aspect: "tool_result" }, difference);
  }

  #compareEnd(run: RecordedRun, replayed: RunReplay): void {
    const entry = run.answers.at(-1);
    if (!this.#isCompared(entry)) return;
    if (run.end === undefined) return this.skip("ends of runs that were cut");
    if (hasExternalEnd(run)) return this.skip("ends that came from outside");
    const ended = replayed.entries.findLast(({ type, scope }) => type === "run_end" && scope === undefined);
    const now = ended?.type === "run_end" ? ended.stopReason : (replayed.failure?.message ?? "no end");
    const difference = firstDifference(run.end.stopReason, now);
    this.#note({ run: run.number, entry, aspect: "stop_reason" }, withPrefix("stopReason", difference));
  }
}

/** The messages before each recorded answer, folded from the earlier entries. */
function expectedRequests(
  run: RecordedRun,
  before: readonly JournalEntry[],
): readonly (readonly Message[])[] {
  const state = new SessionState();
  for (const entry of [...before, run.start, ...run.opening]) state.apply(entry);
  const expected: (readonly Message[])[] = [];
  for (const entry of run.body) {
    state.apply(entry);
    if (entry.type !== "assistant_message") continue;
    // The last message is the answer itself, which has closed everything that was open before it.
    expected.push(state.transcript.messages.slice(0, entry.message.content.length === 0 ? undefined : -1));
  }
  return expected;
}

function skipReason(call: RecordedCall, now: RecordedCall | undefined): string | undefined {
  if (call.result === undefined && call.request !== undefined) return "calls that wait for an answer";
  if (call.result === undefined || call.result.status === "aborted") return "interrupted calls";
  if (now !== undefined || call.parentCallId === undefined) return undefined;
  return "calls of calls without recorded arguments";
}

/** Equivalent results are equal, however long the call took. */
function liveDifference(
  call: RecordedCall,
  { content, isError, fingerprint }: LiveOutcome,
): Difference | undefined {
  const now = { status: isError ? "error" : "ok", content };
  const isSame = fingerprint !== undefined && fingerprint === call.result?.fingerprint;
  return isSame && now.status === call.result?.status ? undefined : firstDifference(outcomeOf(call), now);
}

function outcomeOf({ result }: RecordedCall): object {
  return { status: result?.status, content: result?.result.content };
}

function onlyOne(left: string, right: string): Difference {
  return { path: "the top", left, right };
}

function withPrefix(path: string, difference: Difference | undefined): Difference | undefined {
  if (difference === undefined) return undefined;
  const inner = difference.path === "the top" ? "" : difference.path;
  const joint = inner === "" || inner.startsWith("[") ? "" : ".";
  return { ...difference, path: `${path}${joint}${inner}` };
}
