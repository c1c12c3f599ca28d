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
import type { ApprovalAnswer, Approvals, Approver, Gate, GateDecision } from "../../core/agent/ports.ts";
import { defined, equalJson } from "../../core/base/json.ts";
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
  /** Input: entries before the loop began. */
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
  let number = 0;
  entries.forEach((entry, at) => {
    if (!beginsPart(entry)) return;
    if (entry.type === "run_start") number++;
    runs.push(recordedRun(entries, entry, at, number));
  });
  return runs;
}

function recordedRun(
  entries: readonly JournalEntry[],
  start: RunStartEntry | RunResumeEntry,
  at: number,
  number: number,
): RecordedRun {
  const inside: JournalEntry[] = [];
  let end: RunEndEntry | undefined;
  for (const entry of entries.slice(at + 1)) {
    if (beginsPart(entry)) break;
    if (entry.scope === undefined && entry.type === "run_end") {
      end = entry;
      break;
    }
    inside.push(entry);
  }
  const length = openingLength(inside);
  const opening = inside.slice(0, length);
  const scopes = new Scopes();
  const delegated = new Set(inside.filter((entry) => scopes.of(entry) !== undefined));
  const body = inside.slice(length).filter((entry) => !delegated.has(entry));
  const answers = body.filter((entry) => entry.type === "assistant_message");
  return {
    number,
    before: at,
    start,
    opening,
    body,
    delegated: [...delegated].filter(({ type }) => type === "assistant_message").length,
    isStoppedInSubagent: [...delegated].some(
      (entry) => entry.type === "permission_decision" && entry.stop === true,
    ),
    end,
    answers,
    calls: withUntraced(recordedCalls(body), answers),
  };
}

/** True if a run begins here, or resumes after an interruption or a wait; each part is judged separately. */
function beginsPart(entry: JournalEntry): entry is RunStartEntry | RunResumeEntry {
  return entry.scope === undefined && (entry.type === "run_start" || entry.type === "run_resume");
}

/** Number of leading input entries: the run's start, answers to waiting calls and their refusals. */
function openingLength(inside: readonly JournalEntry[]): number {
  const loop = inside.findIndex((entry) => !canBeInput(entry));
  const before = loop === -1 ? inside : inside.slice(0, loop);
  const said = before.findLastIndex(({ type }) => type === "user_message" || type === "history") + 1;
  const refused = new Set<string>();
  const rest = before.slice(said).findIndex((entry) => {
    if (isRefusedByMessage(entry)) refused.add(entry.callId);
    return !(isRefusedByMessage(entry) || isAnswerFromOutside(entry, refused));
  });
  return rest === -1 ? before.length : said + rest;
}

/** An interrupted run may lack the message that its refusals come from. */
function isRefusedByMessage(entry: JournalEntry): entry is PermissionEntry {
  return entry.type === "permission_decision" && entry.code === "answered_otherwise";
}

function canBeInput(entry: JournalEntry): boolean {
  if (entry.scope !== undefined) return false;
  if (entry.type === "user_message" && entry.source === "system") return entry.code === "interrupted";
  if (entry.type === "user_message") return entry.source !== "steering";
  return entry.type === "history" || entry.type === "tool_result" || entry.type === "permission_decision";
}

function isAnswerFromOutside(entry: JournalEntry, refused: ReadonlySet<string>): boolean {
  if (entry.type !== "tool_result") return false;
  return entry.status === "ok" || entry.status === "error" || refused.has(entry.callId);
}

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
  readonly externalTools: ReadonlySet<string>;
  readonly hasApprover: boolean;
  /** Ids of the calls in the last answer; of all top-level calls if the run has no answer. */
  readonly lastCalls: ReadonlySet<string>;
}

/** Infers how a run must have been set up to proceed as it did. */
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

/** Codes of messages the loop itself repeats; not a warning of the guard, which is off in a replay. */
export const SAID_BY_LOOP: ReadonlySet<UserEntry["code"]> = new Set([
  "nudge",
  "unreadable",
  "summarize",
  "empty",
]);

function asksForSummary(entry: JournalEntry): boolean {
  return entry.type === "user_message" && entry.code === "summarize";
}

function maxIterationsOf(run: RecordedRun, summarizes: boolean): number {
  const asked = summarizes ? run.body.findLastIndex(asksForSummary) : run.body.length;
  const { length } = run.body.slice(0, asked).filter(({ type }) => type === "assistant_message");
  // A resumed run may have used up its requests earlier.
  const isUsedUp = summarizes || run.end?.stopReason === "max_iterations";
  return isUsedUp ? length : Number.POSITIVE_INFINITY;
}

function externalTools(run: RecordedRun): ReadonlySet<string> {
  const stopReason = run.end?.stopReason;
  if (stopReason !== "awaiting_external" && stopReason !== "awaiting_approval") return new Set();
  const answer = run.answers.at(-1);
  if (answer === undefined) return new Set();
  const open = toolCallsOf(answer.message).filter(({ id }) => {
    const call = run.calls.get(id);
    return call?.intent === undefined && call?.result === undefined && call?.request === undefined;
  });
  return new Set(open.map(({ name }) => name));
}

/**
 * A gate and a person that decide as recorded; calls without a recorded decision were allowed. `waited`: the
 * questions that were open when the run began.
 */
export function recordedGate(
  run: RecordedRun,
  facts: RunFacts,
  waited: ReadonlyMap<string, ApprovalRequestEntry>,
): { readonly gate: Gate; readonly approve: Approver | undefined } {
  const gate: Gate = {
    check: ({ callId }) => {
      const question = waited.get(callId);
      const { decision, request } = run.calls.get(callId) ?? {};
      if (question !== undefined && request === undefined) return ofWaiting(question, decision);
      if (decision !== undefined) return asked(decision, request);
      return request === undefined ? { action: "allow" } : waiting(request);
    },
  };
  if (!facts.hasApprover) return { gate, approve: undefined };
  return { gate, approve: ({ callId }) => answerTo(callId, run) };
}

/** The decision about a call that had waited for an answer, without a new question on record. */
function ofWaiting(question: ApprovalRequestEntry, decision: PermissionEntry | undefined): GateDecision {
  // Rules allowed it then: its answer was not needed.
  if (decision === undefined) return { action: "allow", place: ELSEWHERE };
  const isFor = decision.by !== "rule" && equalJson(decision.input, question.input);
  return { ...asked(decision, undefined), ...(isFor ? matter(question) : { place: ELSEWHERE }) };
}

/** A place that no question is about. */
const ELSEWHERE = "";

/**
 * The recorded answers to calls that waited when the run began. A yes replaces decisions by rules and new
 * questions.
 */
export function recordedApprovals(
  run: RecordedRun,
  waited: ReadonlyMap<string, ApprovalRequestEntry>,
): Approvals {
  const settled = [...run.calls.values()].filter(
    ({ callId, decision, intent }) => waited.has(callId) && (decision ?? intent) !== undefined,
  );
  const isAnswer = (decision: PermissionEntry): boolean =>
    decision.by !== "rule" && equalJson(decision.input, waited.get(decision.callId)?.input);
  return Object.fromEntries(
    settled.map(({ callId, decision }) => [
      callId,
      decision === undefined || !isAnswer(decision) ? true : answerTo(callId, run),
    ]),
  );
}

function answerTo(callId: string, run: RecordedRun): ApprovalAnswer {
  const { decision } = run.calls.get(callId) ?? {};
  if (decision === undefined || decision.by === "nobody") return "later";
  const { intent } = run.calls.get(callId) ?? {};
  // A person's own input.
  if (decision.action === "allow")
    return { approved: true, ...(intent?.judged === true ? { input: intent.input } : {}) };
  const { reason, stop } = decision;
  return { approved: false, reason, ...defined({ stop }) };
}

function asked(
  { action, by, reason, question, rule, suggestion }: PermissionEntry,
  request: ApprovalRequestEntry | undefined,
): GateDecision {
  // A yes without a question: from rules, or for one of the caller's own calls.
  if (by === "rule" && action === "allow") return { action };
  return {
    action: by === "rule" ? "deny" : "ask",
    reason: by === "nobody" ? (question ?? reason) : reason,
    ...defined({ rule, suggestion }),
    ...(request && matter(request)),
  };
}

function waiting(request: ApprovalRequestEntry): GateDecision {
  const { reason, rule, suggestion } = request;
  return { action: "ask", reason, ...defined({ rule, suggestion }), ...matter(request) };
}

/** The parts of a question that an answer of a later run is bound to. */
function matter({ code, part, place }: ApprovalRequestEntry): Pick<GateDecision, "code" | "part" | "place"> {
  return defined({ code, part, place });
}
