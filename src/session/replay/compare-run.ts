import type { JournalEntry } from "../../core/agent/entries.ts";
import { SessionState } from "../../core/agent/state.ts";
import { type Difference, firstDifference } from "../../core/base/json.ts";
import type { Message, UserMessage } from "../../core/message/message.ts";
import { checkedInput, type RecordedCall, type RecordedRun, recordedCalls } from "./recorded-run.ts";
import type { ReplayAspect, ReplayDifference, ReplayFindings } from "./replay-report.ts";
import type { LiveOutcome, ReplayedRun } from "./replay-run.ts";
import { beginsNestedRun } from "./run-facts.ts";

/** The parts a comparison needs beside the two runs. */
export interface ComparedRun {
  readonly run: RecordedRun;
  readonly before: readonly JournalEntry[];
  readonly replayed: ReplayedRun;
  /** Number of the step of an entry; `null` for one that belongs to none. */
  readonly stepOf: (entry: JournalEntry | undefined) => number | null;
  /** Differences of smaller steps are not looked at. */
  readonly from: number;
  readonly findings: ReplayFindings;
}

/** Compares a run with its record: messages of requests, arguments and results of calls, its ending. */
export function compareRun(compared: ComparedRun): void {
  const { run, findings } = compared;
  findings.runs++;
  compareRequests(compared);
  compareCalls(compared);
  compareEnd(compared);
  findings.leaveOut("requests of subagents", run.delegated);
  if (run.answers.every(({ scope }) => scope === undefined))
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
function expectedRequests({ run, before, replayed }: ComparedRun): readonly (readonly Message[])[] {
  const state = new SessionState();
  for (const entry of [...before, run.start, ...run.opening]) state.apply(entry);
  const nested = new NestedConversations();
  const expected: (readonly Message[])[] = [];
  for (const entry of run.body) {
    const made = replayed.requests[expected.length] ?? [];
    state.apply(entry);
    if (entry.scope !== undefined) nested.apply(entry, entry.scope, made);
    if (entry.type !== "assistant_message") continue;
    const messages = entry.scope === undefined ? state.transcript.messages : nested.messages(entry.scope);
    // The answer itself, which has closed what was open before it, is the last message.
    expected.push(messages.slice(0, entry.message.content.length === 0 ? undefined : -1));
  }
  return expected;
}

/** Nested runs. Their start is not recorded: it is taken from now, with the recorded question. */
class NestedConversations {
  readonly #questions = new Map<string, UserMessage>();
  readonly #states = new Map<string, SessionState>();

  messages(scope: string): readonly Message[] {
    return this.#states.get(scope)?.transcript.messages ?? [];
  }

  /** `made` are the messages of the request that is made next. */
  apply(entry: JournalEntry, scope: string, made: readonly Message[]): void {
    if (entry.type === "user_message" && beginsNestedRun(entry)) {
      this.#questions.set(scope, entry.message);
      this.#states.delete(scope);
      return;
    }
    const isFirst = entry.type === "assistant_message" && !this.#states.has(scope);
    const state = isFirst ? this.#start(scope, made) : this.#states.get(scope);
    state?.apply(entry);
  }

  #start(scope: string, made: readonly Message[]): SessionState {
    const state = new SessionState([], { scope, parent: new SessionState() });
    const question = this.#questions.get(scope);
    state.transcript.addHistory(question === undefined ? made : [...made.slice(0, -1), question]);
    this.#states.set(scope, state);
    return state;
  }
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
