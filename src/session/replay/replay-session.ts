import type { JournalEntry } from "../../core/agent/entries.ts";
import { SessionState } from "../../core/agent/state.ts";
import { type Difference, firstDifference } from "../../core/base/json.ts";
import type { Message } from "../../core/message/message.ts";
import { sessionSteps, stepNumbered } from "../../journal/steps.ts";
import {
  checkedInput,
  type RecordedCall,
  type RecordedRun,
  recordedCalls,
  recordedRuns,
} from "./recorded-run.ts";
import { type LiveOutcome, type ReplayTools, RunReplay } from "./replay-run.ts";

/** How a session is run again. */
export interface ReplayOptions extends ReplayTools {
  /** First step that is compared. Default 1. */
  readonly from?: number;
}

/**
 * Runs the loop of a session again from its journal, without a model: answers, permission decisions, input,
 * steering and interruptions come from the record, and so do the results of tools, unless `runTool` runs
 * them. Says where the messages of a request, the arguments or the result of a call, or the way a run ended
 * differ from the record. Every run starts from what is recorded before it, so one difference does not lead
 * to others. Writes nothing. Throws `invalid_argument` for a step that is not there.
 */
export async function replaySession(
  entries: readonly JournalEntry[],
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  const { from = 1, signal } = options;
  if (options.from !== undefined) stepNumbered(entries, from);
  const findings = new ReplayFindings();
  const stepOf = stepFinder(entries);
  for (const run of recordedRuns(entries)) {
    if (signal?.aborted === true) break;
    const last = stepOf(run.end ?? run.answers.at(-1) ?? run.start);
    if (last !== null && last < from) continue;
    if (run.body.some(isOfPhase)) {
      findings.leaveOut("runs of patterns with phases");
      continue;
    }
    const before = entries.slice(0, run.before);
    const replayed = new RunReplay(run, options);
    await replayed.perform(before);
    compareRun({ run, before, replayed, stepOf, from, findings });
  }
  return findings.report();
}

/** True for an entry of a conversation that was made within the run, as some patterns do. */
function isOfPhase({ type, scope }: JournalEntry): boolean {
  return scope !== undefined && (type === "user_message" || type === "assistant_message");
}

/** Tells the step an entry belongs to: the last one that had begun. */
function stepFinder(entries: readonly JournalEntry[]): (entry: JournalEntry | undefined) => number | null {
  const places = new Map(entries.map((entry, at) => [entry, at]));
  const steps = sessionSteps(entries);
  return (entry) => {
    const at = entry === undefined ? undefined : places.get(entry);
    return steps.findLast((step) => at !== undefined && step.at <= at)?.number ?? null;
  };
}

interface ComparedRun {
  readonly run: RecordedRun;
  readonly before: readonly JournalEntry[];
  readonly replayed: RunReplay;
  /** Number of the step of an entry; `null` for one that belongs to none. */
  readonly stepOf: (entry: JournalEntry | undefined) => number | null;
  readonly from: number;
  readonly findings: ReplayFindings;
}

function compareRun(compared: ComparedRun): void {
  const { run, findings } = compared;
  findings.runs++;
  compareRequests(compared);
  compareCalls(compared);
  compareEnd(compared);
  findings.leaveOut("requests of subagents", run.delegated);
  findings.leaveOut("history in a run", run.body.filter(({ type }) => type === "history").length);
}

type Place = Omit<ReplayDifference, "path" | "recorded" | "replayed">;

function placeOf(compared: ComparedRun, aspect: ReplayAspect, entry: JournalEntry | undefined): Place {
  return { run: compared.run.number, step: compared.stepOf(entry), aspect };
}

function isLookedAt({ from }: ComparedRun, { step }: Place): boolean {
  return step === null || step >= from;
}

function compareRequests(compared: ComparedRun): void {
  const { run, replayed, findings } = compared;
  const expected = expectedRequests(compared);
  run.answers.forEach((answer, at) => {
    const place = placeOf(compared, "request", answer);
    if (!isLookedAt(compared, place)) return;
    const made = replayed.requests[at];
    if (made === undefined) {
      findings.note(place, { path: "the top", left: "a request", right: "nothing" });
      return;
    }
    findings.requests++;
    findings.note(place, within("messages", firstDifference(expected[at], made)));
  });
  if (!replayed.askedTooOften) return;
  const place = placeOf(compared, "request", run.answers.at(-1));
  findings.note(place, { path: "the top", left: "nothing", right: "one more request" });
}

/** Messages each recorded answer answers: the fold of what stands before it. */
function expectedRequests({ run, before }: ComparedRun): readonly (readonly Message[])[] {
  const state = new SessionState();
  for (const entry of [...before, run.start, ...run.opening]) state.apply(entry);
  const expected: (readonly Message[])[] = [];
  for (const entry of run.body) {
    state.apply(entry);
    if (entry.type !== "assistant_message") continue;
    // The answer itself, which has closed what was open before it, is the last message.
    expected.push(state.transcript.messages.slice(0, entry.message.content.length === 0 ? undefined : -1));
  }
  return expected;
}

function compareCalls(compared: ComparedRun): void {
  const { run, replayed, findings } = compared;
  const made = new Map(recordedCalls(replayed.entries));
  for (const call of run.calls.values()) {
    const entry = call.intent ?? call.decision ?? call.result;
    if (!isLookedAt(compared, placeOf(compared, "tool_input", entry))) continue;
    const now = made.get(call.callId);
    made.delete(call.callId);
    const left = reasonToLeaveOut(call, now);
    if (left !== undefined) findings.leaveOut(left);
    else compareCall(compared, call, now);
  }
  for (const call of made.values()) {
    const recorded = run.calls.get(call.callId);
    if (recorded !== undefined || call.result?.status === "aborted") continue;
    // A call of before that was only to get its answer, and the run was cut once more.
    if (run.end === undefined && call.intent === undefined) continue;
    const place = {
      ...placeOf(compared, "added_call", undefined),
      call: { id: call.callId, name: call.name },
    };
    findings.note(place, {
      path: "the top",
      left: "nothing",
      right: JSON.stringify(call.intent?.input ?? {}).slice(0, 200),
    });
  }
}

function reasonToLeaveOut(call: RecordedCall, now: RecordedCall | undefined): string | undefined {
  if (call.result === undefined && call.request !== undefined) return "calls that wait for an answer";
  if (call.result === undefined || call.result.status === "aborted") return "interrupted calls";
  if (now !== undefined || call.parentCallId === undefined) return undefined;
  return "calls of calls without recorded arguments";
}

function compareCall(compared: ComparedRun, call: RecordedCall, now: RecordedCall | undefined): void {
  const { findings, replayed } = compared;
  const { callId, name, intent, result } = call;
  const at = (aspect: ReplayAspect): Place => ({
    ...placeOf(compared, aspect, intent ?? call.decision ?? result),
    call: { id: callId, name },
  });
  if (now === undefined) {
    findings.note(at("missing_call"), { path: "the top", left: "a call", right: "nothing" });
    return;
  }
  findings.calls++;
  const input = checkedInput(call);
  // Of a call that came to nothing the answer has all there is: a hook may have had another one forbidden.
  if (input !== undefined && call.decision?.action !== "deny")
    findings.note(at("tool_input"), within("input", firstDifference(input, checkedInput(now))));
  const outcome = replayed.outcomes.get(callId);
  const recorded = outcomeOf(call);
  if (outcome === undefined) findings.note(at("tool_result"), firstDifference(recorded, outcomeOf(now)));
  else {
    findings.callsRun++;
    findings.note(at("tool_result"), liveDifference(call, outcome));
  }
}

/** Results that say the same are the same, whatever time the call took. */
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

function compareEnd(compared: ComparedRun): void {
  const { run, replayed, findings } = compared;
  const place = placeOf(compared, "stop_reason", run.answers.at(-1));
  if (!isLookedAt(compared, place)) return;
  if (run.end === undefined) {
    findings.leaveOut("ends of runs that were cut");
    return;
  }
  if (replayed.endedAsRecorded && !replayed.askedTooOften) {
    findings.leaveOut("ends that came from outside");
    return;
  }
  const ended = replayed.entries.findLast((entry) => entry.type === "run_end" && entry.scope === undefined);
  const now = ended?.type === "run_end" ? ended.stopReason : (replayed.failure?.message ?? "no end");
  findings.note(place, within("stopReason", firstDifference(run.end.stopReason, now)));
}

function within(path: string, difference: Difference | undefined): Difference | undefined {
  if (difference === undefined) return undefined;
  const inner = difference.path === "the top" ? "" : difference.path;
  const joint = inner === "" || inner.startsWith("[") ? "" : ".";
  return { ...difference, path: `${path}${joint}${inner}` };
}

/** The aspects that are compared when a run is run again. */
export type ReplayAspect =
  | "request"
  | "answer"
  | "tool_input"
  | "tool_result"
  | "missing_call"
  | "added_call"
  | "stop_reason";

/** A place where a replay differs from its record. */
export interface ReplayDifference {
  /** Of the session, from 1. */
  readonly run: number;
  /** Number of the step it belongs to; `null` where it belongs to no step. */
  readonly step: number | null;
  readonly aspect: ReplayAspect;
  /** The call it is about. */
  readonly call?: { readonly id: string; readonly name: string };
  /** Where in the value: like `messages[2].content[0].text`. */
  readonly path: string;
  readonly recorded: string;
  readonly replayed: string;
}

/** Outcome of a replay. */
export interface ReplayReport {
  readonly same: boolean;
  readonly differences: readonly ReplayDifference[];
  readonly runs: number;
  /** Model requests that were made again and compared. */
  readonly requests: number;
  /** Tool calls that were made again and compared. */
  readonly calls: number;
  /** Those of them that ran, instead of being answered from the record. */
  readonly callsRun: number;
  /** The parts taken from the record as they are because nothing could be run again for them, by kind. */
  readonly notReplayed: { readonly [kind: string]: number };
}

class ReplayFindings {
  readonly differences: ReplayDifference[] = [];
  requests = 0;
  calls = 0;
  callsRun = 0;
  runs = 0;
  readonly #notReplayed = new Map<string, number>();

  leaveOut(kind: string, count = 1): void {
    if (count > 0) this.#notReplayed.set(kind, (this.#notReplayed.get(kind) ?? 0) + count);
  }

  note(
    place: Omit<ReplayDifference, "path" | "recorded" | "replayed">,
    difference: Difference | undefined,
  ): void {
    if (difference === undefined) return;
    const { path, left, right } = difference;
    this.differences.push({ ...place, path, recorded: left, replayed: right });
  }

  report(): ReplayReport {
    const { differences, runs, requests, calls, callsRun } = this;
    return {
      same: differences.length === 0,
      differences,
      runs,
      requests,
      calls,
      callsRun,
      notReplayed: Object.fromEntries(this.#notReplayed),
    };
  }
}
