import type {
  ApprovalRequestEntry,
  AssistantEntry,
  JournalEntry,
  PermissionEntry,
  RunEndEntry,
  RunResumeEntry,
  RunStartEntry,
  ToolIntentEntry,
  ToolResultEntry,
  UserEntry,
} from "../../core/agent/entries.ts";
import type { ApprovalAnswer, GateDecision } from "../../core/agent/ports.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { type ToolInput, toolCallsOf } from "../../core/message/message.ts";
import { Scopes } from "../../journal/scopes.ts";

/** Record of one tool call. */
export interface RecordedCall {
  readonly callId: string;
  readonly name: string;
  readonly intent: ToolIntentEntry | undefined;
  readonly result: ToolResultEntry | undefined;
  readonly decision: PermissionEntry | undefined;
  /** Set if the call had to wait for an answer. */
  readonly request: ApprovalRequestEntry | undefined;
  readonly parentCallId: string | undefined;
}

/** One run of a session, as recorded in its journal. */
export interface RecordedRun {
  /** From 1. A resumed part, after an interruption or a wait, has the number of its run. */
  readonly number: number;
  readonly before: number;
  readonly start: RunStartEntry | RunResumeEntry;
  /** The input, and what became of calls that were open before; a replay begins after it. */
  readonly opening: readonly JournalEntry[];
  /** The loop's entries up to the run's end, without those of subagents: their reports are results. */
  readonly body: readonly JournalEntry[];
  /** Number of requests that subagents made. */
  readonly delegated: number;
  /** True if a person ended the run with the answer about a subagent's call. */
  readonly isStoppedInSubagent: boolean;
  /** Undefined if the run was interrupted. */
  readonly end: RunEndEntry | undefined;
  /** Answers of the model in order. */
  readonly answers: readonly AssistantEntry[];
  /** Calls by id, in order of first appearance. */
  readonly calls: ReadonlyMap<string, RecordedCall>;
}

export function recordedRuns(entries: readonly JournalEntry[]): readonly RecordedRun[] {
  const runs: RecordedRun[] = [];
  const requested = new Set<string>();
  let number = 0;
  entries.forEach((entry, at) => {
    if (beginsPart(entry)) {
      if (entry.type === "run_start") number++;
      const part = partAt(entries, at, requested);
      runs.push({ number, before: at, start: entry, ...part });
    }
    if (entry.type === "assistant_message")
      for (const { id } of toolCallsOf(entry.message)) requested.add(id);
  });
  return runs;
}

type Part = Omit<RecordedRun, "number" | "before" | "start">;

/** `requested`: the ids of calls in earlier answers. */
function partAt(entries: readonly JournalEntry[], at: number, requested: ReadonlySet<string>): Part {
  const next = entries.findIndex((entry, index) => index > at && (beginsPart(entry) || isRunEnd(entry)));
  const last = entries[next];
  const scopes = new Scopes();
  const [own, delegated]: [JournalEntry[], JournalEntry[]] = [[], []];
  for (const entry of entries.slice(at + 1, next === -1 ? undefined : next))
    (scopes.of(entry) === undefined ? own : delegated).push(entry);
  const first = own.findIndex((entry) => isOfLoop(entry, requested));
  const opening = own.slice(0, first === -1 ? undefined : first);
  const body = own.slice(opening.length);
  const answers = body.filter((entry) => entry.type === "assistant_message");
  return {
    opening,
    body,
    delegated: delegated.filter(({ type }) => type === "assistant_message").length,
    isStoppedInSubagent: delegated.some(
      (entry) => entry.type === "permission_decision" && entry.stop === true,
    ),
    end: last !== undefined && isRunEnd(last) ? last : undefined,
    answers,
    calls: withUntraced(recordedCalls(body), answers),
  };
}

/** True if a run begins here, or resumes after an interruption or a wait; each part is judged separately. */
function beginsPart(entry: JournalEntry): entry is RunStartEntry | RunResumeEntry {
  return entry.scope === undefined && (entry.type === "run_start" || entry.type === "run_resume");
}

function isRunEnd(entry: JournalEntry): entry is RunEndEntry {
  return entry.scope === undefined && entry.type === "run_end";
}

function isOfLoop(entry: JournalEntry, requested: ReadonlySet<string>): boolean {
  if (isOfCall(entry)) return !isWithin(requested, entry.callId);
  return entry.type === "assistant_message" || isLoopMessage(entry);
}

/** True for one of the calls, and for the calls that it makes itself: `a/1` is made by `a`. */
function isWithin(calls: ReadonlySet<string>, callId: string): boolean {
  if (calls.has(callId)) return true;
  const end = callId.lastIndexOf("/");
  return end > 0 && isWithin(calls, callId.slice(0, end));
}

/** True for a message that the loop itself repeats; not a warning of the guard, which is off in a replay. */
export function isLoopMessage(entry: JournalEntry): boolean {
  return entry.type === "user_message" && entry.source === "system" && LOOP_MESSAGES.has(entry.code);
}

const LOOP_MESSAGES: ReadonlySet<UserEntry["code"]> = new Set(["nudge", "unreadable", "summarize", "empty"]);

/** True if a person, a signal, a limit or a waiting call ended the run, and not its last answer. */
export function hasExternalEnd({ end, answers, isStoppedInSubagent }: RecordedRun): boolean {
  const isCut = answers.at(-1)?.interrupted === true;
  return isCut || isStoppedInSubagent || (end !== undefined && EXTERNAL_ENDS.has(end.stopReason));
}

const EXTERNAL_ENDS: ReadonlySet<string> = new Set([
  "aborted",
  "budget",
  "loop_detected",
  "awaiting_approval",
  "awaiting_external",
]);

/** Adds calls of which only the request is recorded: the caller's own, and those never reached. */
function withUntraced(
  traced: ReadonlyMap<string, RecordedCall>,
  answers: readonly AssistantEntry[],
): ReadonlyMap<string, RecordedCall> {
  const calls = new Map(traced);
  for (const { message } of answers)
    for (const { id: callId, name } of toolCallsOf(message))
      if (!calls.has(callId)) calls.set(callId, { callId, name, ...UNTRACED });
  return calls;
}

const UNTRACED = {
  parentCallId: undefined,
  intent: undefined,
  result: undefined,
  decision: undefined,
  request: undefined,
} as const;

const FIELD_OF = {
  tool_intent: "intent",
  tool_result: "result",
  permission_decision: "decision",
  approval_request: "request",
} as const;

export function recordedCalls(body: readonly JournalEntry[]): ReadonlyMap<string, RecordedCall> {
  const calls = new Map<string, RecordedCall>();
  for (const entry of body) {
    if (!isOfCall(entry)) continue;
    const { callId, name } = entry;
    const parentCallId = entry.type === "approval_request" ? undefined : entry.parentCallId;
    const before = calls.get(callId) ?? { ...UNTRACED, callId, name, parentCallId };
    calls.set(callId, { ...before, [FIELD_OF[entry.type]]: entry });
  }
  return calls;
}

function isOfCall(entry: JournalEntry): entry is Extract<JournalEntry, { type: keyof typeof FIELD_OF }> {
  return Object.hasOwn(FIELD_OF, entry.type);
}

/** The validated arguments of a call; undefined if it was never validated. */
export function checkedInput({ intent, decision, request }: RecordedCall): ToolInput | undefined {
  return (intent ?? decision ?? request)?.input;
}

export interface RunFacts {
  readonly finishTool: string | undefined;
  readonly maxIterations: number;
  readonly onMaxIterations: "summarize" | "last";
  readonly hasApprover: boolean;
  /** Ids of the calls in the last answer. */
  readonly lastCalls: ReadonlySet<string>;
}

/** Infers how a run must have been set up to proceed as it did. */
export function runFacts({ start, body, end, answers, calls }: RecordedRun): RunFacts {
  const isCoded = (entry: JournalEntry, code: string): boolean =>
    entry.type === "user_message" && entry.code === code;
  const summary = body.findLastIndex((entry) => isCoded(entry, "summarize"));
  const lastAnswer = answers.at(-1);
  const isUsedUp = summary !== -1 || end?.stopReason === "max_iterations";
  const upToLimit = summary === -1 ? body : body.slice(0, summary);
  const hasReminder = body.some((entry) => isCoded(entry, "nudge"));
  return {
    finishTool: hasReminder || end?.stopReason === "structured_output" ? start.tools.at(-1) : undefined,
    maxIterations: isUsedUp
      ? upToLimit.filter(({ type }) => type === "assistant_message").length
      : Number.POSITIVE_INFINITY,
    onMaxIterations: summary === -1 ? "last" : "summarize",
    hasApprover: ![...calls.values()].some(({ decision }) => decision?.code === "nobody_to_ask"),
    lastCalls: new Set(lastAnswer && toolCallsOf(lastAnswer.message).map(({ id }) => id)),
  };
}

/** The gate's decision about a call; without a recorded one it was allowed. */
export function recordedDecision(decision: PermissionEntry | undefined): GateDecision {
  // A yes without a question: from rules, or for one of the caller's own calls.
  if (decision === undefined || (decision.by === "rule" && decision.action === "allow"))
    return { action: "allow" };
  const { by, reason, question, rule, suggestion } = decision;
  return {
    action: by === "rule" ? "deny" : "ask",
    reason: by === "nobody" ? (question ?? reason) : reason,
    ...omitUndefined({ rule, suggestion }),
  };
}

/** The person's answer about a call. */
export function recordedAnswer({ decision, intent }: Partial<RecordedCall>): ApprovalAnswer {
  if (decision === undefined || decision.by === "nobody") return "later";
  // A person's own input.
  if (decision.action === "allow")
    return { approved: true, ...(intent?.judged === true ? { input: intent.input } : {}) };
  const { reason, stop } = decision;
  return { approved: false, reason, ...omitUndefined({ stop }) };
}
