import { raceAbort } from "../base/async.ts";
import { errorMessage } from "../base/errors.ts";
import { equalJson, isRecord, omitUndefined, ownValue, toStoredJson } from "../base/json.ts";
import { type ToolInput, type ToolUseBlock, toolCallsOf } from "../message/message.ts";
import { INTERRUPTED_BEFORE_START, OUTCOME_UNKNOWN } from "../message/transcript.ts";
import { isExternal, type Tool, type ToolResult } from "../tool/tool.ts";
import {
  errorResult,
  invalidArgumentsText,
  modelExcerpt,
  toResultBlock,
  unknownToolText,
} from "../tool/tool-output.ts";
import type { ApprovalRequestEntry, PermissionEntry, ToolIntentEntry, ToolStatus } from "./entries.ts";
import type {
  ApprovalAnswer,
  ApproverAnswer,
  CallVerdict,
  GateDecision,
  GateRequest,
  RequestedCall,
  UnaskedYes,
} from "./ports.ts";
import { keepPluginFailure, type Run, record, whenRecorded } from "./run.ts";
import { NOT_APPROVED, type OpenCall, questionOf } from "./state.ts";

export interface FinishedCall {
  readonly status: ToolStatus;
  readonly result: ToolResult;
}

export const NOT_STARTED: FinishedCall = { status: "aborted", result: errorResult(INTERRUPTED_BEFORE_START) };

/** Lets a call run, with its own input or with one that a person put in its place. */
interface Permit {
  readonly input: ToolInput;
}

type Answer = FinishedCall | "waiting" | Permit;

/** A yes that arrives in a later run, and the question it answers. */
interface LaterYes {
  readonly asked: ApprovalRequestEntry;
  readonly answer: FullAnswer;
}

/**
 * Asks the gate about a call, and a person if the gate or the tool wants one. Resolves to a permit for a call
 * that may run, to its result for one that may not, or to `waiting`. Anything but a clear yes refuses. Throws
 * only when the journal fails.
 */
async function authorize(run: Run, request: GateRequest, later?: LaterYes): Promise<Answer> {
  const decision = await askGate(run, request);
  if (run.signal.aborted) return NOT_STARTED;
  if (decision.action !== "allow" && decision.action !== "ask") return refuseByRule(run, request, decision);
  if (later !== undefined) return authorizeLater(run, request, decision, later);
  return decision.action === "allow"
    ? authorizeAllowed(run, request, decision)
    : askPerson(run, request, decision, false);
}

/** A later yes covers what was shown. If that has changed, the call is judged afresh. */
async function authorizeLater(
  run: Run,
  request: GateRequest,
  decision: GateDecision,
  { asked, answer }: LaterYes,
): Promise<Answer> {
  const { place } = decision;
  const again: GateDecision = { action: "ask", ...questionOf(asked), ...omitUndefined({ place }) };
  if (isUnchanged(asked, request, decision)) {
    const question = withQuestion(decision.action === "ask" ? decision : again);
    if (run.state.isStopped) return refuse(run, request, { ...question, ...RUN_ENDING });
    await whenRecorded(run);
    return authorizeApproved(run, request, question, answer);
  }
  // If today's rules allow the call, nobody is asked, unless a person changed its input.
  if (answer.input !== undefined || run.state.isStopped) return askPerson(run, request, again, false);
  return decision.action === "allow"
    ? authorizeAllowed(run, request, decision)
    : askPerson(run, request, decision, false);
}

/** An action that is not one of the known words counts as a refusal. */
function refuseByRule(run: Run, request: GateRequest, decision: GateDecision): Promise<FinishedCall> {
  const reason = decision.reason ?? "a rule forbids it";
  return refuse(run, request, { ...decision, by: "rule", reason });
}

/** The permit for a call the rules allow, after a person has agreed if its tool asks for that. */
async function authorizeAllowed(run: Run, request: GateRequest, decision: GateDecision): Promise<Answer> {
  const question = await toolQuestion(run, request, decision);
  if (run.signal.aborted) return NOT_STARTED;
  if (question !== undefined) return askPerson(run, request, question);
  const wasAsked = run.state.open.get(request.callId)?.question !== undefined;
  return wasAsked ? handOver(run, request, request.input) : { input: request.input };
}

async function askGate({ settings, signal }: Run, request: GateRequest): Promise<GateDecision> {
  const { permission: gate } = settings;
  if (gate === undefined) return ALLOWED;
  try {
    const answer: unknown = await raceAbort(Promise.resolve(gate.check(request)), signal);
    return isRecord(answer) ? (answer as unknown as GateDecision) : NO_DECISION;
  } catch (error) {
    const reason = `the permission check failed: ${errorMessage(error)}`;
    return { action: "deny", code: "gate_failed", reason };
  }
}

async function toolQuestion(
  run: Run,
  { tool, name, input }: GateRequest,
  { place }: GateDecision,
): Promise<GateDecision | undefined> {
  const { needsApproval = false } = tool;
  const asks = (reason: string): GateDecision => ({ ...TOOL_QUESTION, reason, ...omitUndefined({ place }) });
  try {
    const wanted =
      typeof needsApproval === "function"
        ? await raceAbort(Promise.resolve(needsApproval(input as never)), run.signal)
        : needsApproval;
    return wanted === false ? undefined : asks(`${name} needs approval`);
  } catch (error) {
    return asks(`whether ${name} needs approval could not be decided: ${errorMessage(error)}`);
  }
}

const TOOL_QUESTION: GateDecision = { action: "ask", code: "needs_approval" };

const ALLOWED: GateDecision = { action: "allow" };

const NO_DECISION: GateDecision = {
  action: "deny",
  code: "gate_failed",
  reason: "the permission check gave no answer",
};

async function askPerson(
  run: Run,
  request: GateRequest,
  decision: GateDecision,
  // A tool's own question must reach a person: no rule may answer it.
  isForPerson = true,
): Promise<Answer> {
  const asked = withQuestion(decision);
  const { approve } = run.settings;
  if (run.state.isStopped) return refuse(run, request, { ...asked, ...RUN_ENDING });
  if (approve === undefined) return withoutApprover(run, request, asked);
  await whenRecorded(run);
  if (run.signal.aborted) return NOT_STARTED;
  let answer: FullAnswer | "later";
  try {
    // A copy: an approver that mutates it does not change what runs.
    const shown = { ...request, input: structuredClone(request.input), decision };
    const given = await raceAbort(Promise.resolve(approve(shown)), run.signal);
    answer = given === "later" ? given : copyAnswer(given);
  } catch (error) {
    if (run.signal.aborted) return NOT_STARTED;
    const reason = `asking failed: ${errorMessage(error)}`;
    return refuse(run, request, { ...asked, by: "person", code: "approver_failed", reason });
  }
  if (answer === "later") return waitForAnswer(run, request, asked);
  if (answer.approved === false && typeof answer.error === "string")
    return { status: "error", result: errorResult(answer.error) };
  if (answer.unasked === true && isForPerson) return withoutApprover(run, request, asked);
  if (answer.approved !== true) return refuseByPerson(run, request, asked, answer);
  // While this question waited for its turn, the person asked for the run to end.
  if (run.state.isStopped) return refuse(run, request, { ...asked, ...RUN_ENDING });
  return authorizeApproved(run, request, asked, answer);
}

function withQuestion(decision: GateDecision): GateQuestion {
  return { ...decision, question: decision.reason ?? "it needs approval" };
}

function refuseByPerson(
  run: Run,
  call: DecidedCall,
  asked: Partial<DecisionFields>,
  { reason = "the user refused it", stop }: FullAnswer,
): Promise<FinishedCall> {
  const no = { by: "person", code: "person", reason } as const;
  return refuse(run, call, { ...asked, ...no, ...(stop === true ? { stop: true } : {}) });
}

const RUN_ENDING = { by: "person", code: "run_ending", reason: "the user wants the run to end" } as const;

/** The permit that a yes gives, or the tool's own question. A changed input is validated and judged first. */
async function authorizeApproved(
  run: Run,
  request: GateRequest,
  asked: GateQuestion,
  { unasked, input: given = request.input }: FullAnswer,
): Promise<Answer> {
  const isByRule = unasked === true;
  const question = isByRule ? await toolQuestion(run, request, asked) : undefined;
  if (run.signal.aborted) return NOT_STARTED;
  if (question !== undefined) return askPerson(run, request, question);
  const by = isByRule ? "rule" : "person";
  const yes: Decision = { ...asked, action: "allow", by, reason: asked.question };
  if (isByRule || equalJson(given, request.input)) {
    await recordDecision(run, request, { ...yes, ...externalFlag(request) });
    return { input: request.input };
  }
  await recordDecision(run, request, yes);
  const checked = await checkInput(run, request.tool, given);
  if ("error" in checked) {
    const reason = `The arguments a person gave instead cannot run. ${checked.error}`;
    return { status: "error", result: errorResult(reason) };
  }
  const changed = { ...request, input: checked.input };
  const decision = await askGate(run, changed);
  if (run.signal.aborted) return NOT_STARTED;
  if (decision.action !== "allow" && decision.action !== "ask") return refuseByRule(run, changed, decision);
  return handOver(run, changed, checked.input);
}

/** The permit for an input. For a call the caller runs, the permission and the input are recorded. */
async function handOver(run: Run, request: GateRequest, input: ToolInput): Promise<Permit> {
  const own = externalFlag(request);
  if (own.external === true) await recordDecision(run, { ...request, input }, { ...RULES_ALLOW, ...own });
  return { input };
}

const RULES_ALLOW = { action: "allow", by: "rule", reason: "these arguments are allowed" } as const;

function externalFlag({ tool }: GateRequest): Pick<Decision, "external"> {
  return tool.execute === undefined ? { external: true } : {};
}

/** Nobody can be asked: the call waits for an answer, or is refused. */
function withoutApprover(
  run: Run,
  request: GateRequest,
  asked: GateQuestion,
): Promise<FinishedCall | "waiting"> {
  const { approve } = run.settings;
  const hasWaited = approve === undefined && run.state.open.get(request.callId)?.question !== undefined;
  if (run.settings.onAsk === "pause" || hasWaited) return waitForAnswer(run, request, asked);
  const reason = `${asked.question.replace(/\.$/, "")}, and there is nobody to ask`;
  return refuse(run, request, { ...byNobody(asked), code: "nobody_to_ask", reason });
}

type GateQuestion = GateDecision & { readonly question: string };

type FullAnswer = Extract<ApprovalAnswer, object> &
  Partial<Pick<UnaskedYes, "unasked">> & {
    /** Set for a call that cannot succeed. */
    readonly error?: string;
  };

/** A copy: later changes to the answer's input do not change what runs. */
function copyAnswer(answer: Exclude<ApproverAnswer, "later">): FullAnswer {
  if (!isRecord(answer)) return { approved: answer === true };
  const { input, ...rest } = answer as FullAnswer;
  return input === undefined ? rest : { ...rest, input: structuredClone(input) };
}

/** Only a call the model made itself can wait; a call inside another one could not be resumed. */
async function waitForAnswer(
  run: Run,
  request: GateRequest,
  asked: GateQuestion,
): Promise<FinishedCall | "waiting"> {
  const { question, code, rule, part, place, suggestion } = asked;
  if (request.parentCallId !== undefined || run.scope !== undefined) {
    const reason = `${question}, and a call inside another one cannot wait for the answer: make it on its own`;
    return refuse(run, request, { ...byNobody(asked), code: "cannot_wait", reason });
  }
  const { callId, name, input, cwd } = request;
  const asks = {
    reason: question,
    ...omitUndefined({ code, rule, part, suggestion, cwd: cwd || undefined, place }),
  };
  await record(run, { type: "approval_request", callId, name, input, ...asks });
  return "waiting";
}

function byNobody<T extends GateDecision>(asked: T): T & Pick<DecisionFields, "by" | "questionCode"> {
  return { ...asked, by: "nobody", ...omitUndefined({ questionCode: asked.code }) };
}

type DecisionFields = Pick<
  PermissionEntry,
  "by" | "reason" | "question" | "code" | "questionCode" | "rule" | "suggestion" | "stop"
>;

/** A decision as recorded. `external`: the caller runs this call, and may start now. */
type Decision = DecisionFields & Pick<PermissionEntry, "action" | "external">;

export async function refuse(run: Run, call: DecidedCall, decision: DecisionFields): Promise<FinishedCall> {
  await recordDecision(run, call, { ...decision, action: "deny" });
  return deniedCall(decision.reason);
}

function deniedCall(reason: string): FinishedCall {
  return { status: "denied", result: errorResult(`${NOT_APPROVED}: ${reason}`) };
}

interface DecidedCall extends Pick<PermissionEntry, "callId" | "name" | "input"> {
  readonly parentCallId?: string | undefined;
}

async function recordDecision(
  run: Run,
  { callId, name, input, parentCallId }: DecidedCall,
  decision: Decision,
): Promise<void> {
  const { action, by, reason, code, questionCode, rule, suggestion, stop, external } = decision;
  const question = decision.question === reason ? undefined : decision.question;
  const why = { reason, question, code, questionCode, rule, suggestion };
  const decided = { action, by, ...omitUndefined({ ...why, stop, parentCallId, external }) };
  await whenRecorded(run);
  await record(run, { type: "permission_decision", callId, name, input, ...decided });
}

export type Admission =
  | {
      readonly type: "ready";
      readonly call: ToolUseBlock;
      readonly tool: Tool;
      readonly input: ToolInput;
      readonly judged?: true;
    }
  | { readonly type: "refused"; readonly call: ToolUseBlock; readonly settled: FinishedCall }
  | { readonly type: "open"; readonly call: ToolUseBlock };

/** Admits the calls of one answer, one by one in call order. Throws only when the journal fails. */
export async function prepareCalls(run: Run, calls: readonly ToolUseBlock[]): Promise<readonly Admission[]> {
  const admissions: Admission[] = [];
  for (const [at, call] of calls.entries())
    admissions.push(
      at < run.settings.maxCallsPerAnswer ? await prepareCall(run, call) : refuseExcessCall(run, call),
    );
  return admissions;
}

/** Some models, and servers stuck in a loop, emit calls without end. */
function refuseExcessCall({ settings }: Run, call: ToolUseBlock): Admission {
  const { maxCallsPerAnswer: most } = settings;
  const result = errorResult(
    `Not run: one answer may hold ${most} calls. Make it in the next one if it is still needed.`,
  );
  return { type: "refused", call, settled: { status: "error", result } };
}

/**
 * The phases before a call runs: hooks, then known, valid and permitted? `begun` is the intent of an attempt
 * that was cut; `later` the yes the call waited for. Throws only when the journal fails.
 */
export async function prepareCall(
  run: Run,
  made: ToolUseBlock,
  parentCallId?: string,
  begun?: ToolIntentEntry,
  later?: LaterYes,
): Promise<Admission> {
  if (run.signal.aborted) return { type: "refused", call: made, settled: NOT_STARTED };
  const call = await beforeCall(run, made, parentCallId);
  if ("status" in call) return { type: "refused", call: made, settled: call };
  const refused = (settled: FinishedCall): Admission => ({ type: "refused", call, settled });
  const prepared = await checkCall(run, call);
  if (run.signal.aborted) return refused(NOT_STARTED);
  if ("error" in prepared) return refused({ status: "error", result: errorResult(prepared.error) });
  const { tool } = prepared;
  const input = begun?.judged === true ? await inputOfAttempt(run, prepared, begun.input) : prepared.input;
  const isFree = run.settings.permission === undefined && tool.needsApproval === undefined;
  const answer =
    isFree && later === undefined
      ? { input }
      : await authorize(run, gateRequest(run, call.id, tool, input, parentCallId), later);
  if (answer === "waiting") return { type: "open", call };
  if ("status" in answer) return refused(answer);
  if (run.signal.aborted) return refused(NOT_STARTED);
  if (tool.execute === undefined) return { type: "open", call };
  const isAsMade = answer.input === prepared.input;
  return { type: "ready", call, tool, input: answer.input, ...(isAsMade ? {} : { judged: true }) };
}

function gateRequest(
  { settings, journal, subagent, signal }: Run,
  callId: string,
  tool: Tool,
  input: ToolInput,
  parentCallId = subagent?.callId,
): GateRequest {
  return {
    callId,
    tool,
    name: tool.name,
    input,
    cwd: settings.cwd,
    sessionId: journal.sessionId,
    ...omitUndefined({ parentCallId, agent: subagent?.agent }),
    signal,
  };
}

async function beforeCall(
  run: Run,
  call: ToolUseBlock,
  parentCallId: string | undefined,
): Promise<ToolUseBlock | FinishedCall> {
  let made = requestedCall(run, call, parentCallId);
  for (const plugin of run.shared.plugins) {
    let verdict: CallVerdict | undefined;
    try {
      const judging = plugin.beforeCall?.(run, made);
      if (judging !== undefined) verdict = await judging;
    } catch (error) {
      const { message } = keepPluginFailure(run, error);
      return { status: "error", result: errorResult(`The call was not run. ${message}`) };
    }
    if (verdict === undefined) continue;
    if ("refuse" in verdict) {
      const { refuse: reason, rule } = verdict;
      const { id: callId, name, input } = call;
      const decided = { by: "rule", code: "hook", rule, reason } as const;
      return refuse(run, { callId, name, input, parentCallId }, decided);
    }
    made = { ...made, input: verdict.input };
  }
  if (made.input === call.input) return call;
  // A hook has replaced arguments that could not be parsed.
  const { invalid_input: _invalid, ...readable } = call;
  return { ...readable, input: made.input };
}

export function requestedCall(run: Run, call: ToolUseBlock, parentCallId?: string): RequestedCall {
  const { id: callId, name, input } = call;
  const parent = parentCallId ?? run.subagent?.callId;
  return parent === undefined ? { callId, name, input } : { callId, name, input, parentCallId: parent };
}

/**
 * The input an interrupted call ran with. The journal stores JSON, so the schema is applied again to restore
 * values such as dates.
 */
async function inputOfAttempt(run: Run, { tool, input }: KnownCall, ran: ToolInput): Promise<ToolInput> {
  if (equalJson(toStoredJson(input), ran)) return input;
  const again = await checkInput(run, tool, ran);
  return "input" in again && equalJson(toStoredJson(again.input), ran) ? again.input : ran;
}

interface KnownCall {
  readonly tool: Tool;
  readonly input: ToolInput;
}

type CheckedCall = KnownCall | { readonly error: string };

async function checkCall(run: Run, call: ToolUseBlock): Promise<CheckedCall> {
  const { name, input, invalid_input: invalid } = call;
  const tool = run.tools.get(name);
  const names = (): readonly string[] => run.tools.specs().map((spec) => spec.name);
  if (tool === undefined) return { error: unknownToolText(name, names()) };
  if (invalid?.reason === "truncated") {
    return {
      error:
        "The call was cut off by the output limit and was not run. Write less in one call, or in several steps.",
    };
  }
  if (invalid !== undefined) {
    return {
      error: `The arguments of ${name} are not a JSON object, so it was not run. They were: ${modelExcerpt(invalid.raw)}`,
    };
  }
  return checkInput(run, tool, input);
}

async function checkInput(run: Run, tool: Tool, input: unknown): Promise<CheckedCall> {
  const { name } = tool;
  try {
    const checking = tool.schema.validate(input);
    const checked = checking instanceof Promise ? await raceAbort(checking, run.signal) : checking;
    if (checked.ok) return { tool, input: checked.value as ToolInput };
    return { error: invalidArgumentsText(name, checked.issues) };
  } catch (error) {
    return { error: `The arguments of ${name} could not be checked: ${errorMessage(error)}` };
  }
}

/** Refuses the calls waiting for approval: a person who says something else instead has not approved. */
export async function refusePendingQuestions(run: Run, answered: ReadonlySet<string>): Promise<void> {
  const reason = "the user said something else instead";
  for (const { callId, name, input } of run.state.approvals.values()) {
    if (answered.has(callId)) continue;
    const decided = { by: "person", code: "answered_otherwise", reason } as const;
    const { status, result: refusal } = await refuse(run, { callId, name, input }, decided);
    const result = toResultBlock(callId, refusal, run.settings.maxToolResultChars);
    await record(run, { type: "tool_result", callId, name, status, result, durationMs: 0 });
  }
}

/**
 * The open calls of the last answer when a run resumes: answered ones follow their answer, interrupted ones
 * get a result that says so, the rest keep waiting.
 */
export async function prepareOpenCalls(run: Run): Promise<readonly Admission[]> {
  const calls = run.state.transcript.pending;
  const refusals = new Map<string, Admission>();
  // Refusals first: a no holds whatever became of the call, and a stop also cancels calls approved beside it.
  for (const call of calls) {
    const asked = run.state.open.get(call.id)?.question;
    const answer = asked && answerTo(run, asked);
    if (asked === undefined || answer === undefined || answer.approved === true) continue;
    const settled = await refuseByPerson(run, asked, { ...asked, question: asked.reason }, answer);
    refusals.set(call.id, { type: "refused", call, settled });
  }
  const excess = excessCalls(run);
  const admissions: Admission[] = [];
  for (const call of calls)
    admissions.push(
      refusals.get(call.id) ??
        (excess.has(call.id) ? refuseExcessCall(run, call) : await prepareOpenCall(run, call)),
    );
  return admissions;
}

/** Calls beyond the limit of one answer that were never touched. */
function excessCalls({ state, settings }: Run): ReadonlySet<string> {
  const answer = state.transcript.messages.at(-1);
  const excess = answer === undefined ? [] : toolCallsOf(answer).slice(settings.maxCallsPerAnswer);
  const ids = excess.map(({ id }) => id);
  const isUntouched = (id: string): boolean => state.open.get(id) === undefined;
  return new Set(ids.filter(isUntouched));
}

async function prepareOpenCall(run: Run, call: ToolUseBlock): Promise<Admission> {
  const open = run.state.open.get(call.id) ?? {};
  const { question: asked, decision: decided, begun } = open;
  if (decided?.external === true) return { type: "open", call };
  if (decided?.action === "deny") return { type: "refused", call, settled: deniedCall(decided.reason) };
  if (asked === undefined) return prepareInterruptedCall(run, call, open);
  const answer = answerTo(run, asked);
  if (answer === undefined) return { type: "open", call };
  return prepareCall(run, call, undefined, begun, { asked, answer });
}

/** A call that was interrupted, or had not started: it runs if both the host and its tool allow that. */
async function prepareInterruptedCall(
  run: Run,
  call: ToolUseBlock,
  { begun, handedOut }: OpenCall,
): Promise<Admission> {
  if (begun === undefined && isExternal(run.tools, call.name))
    return handedOut === true ? { type: "open", call } : prepareCall(run, call);
  const mayRun = begun === undefined || run.tools.get(call.name)?.idempotent === true;
  if (run.settings.openCalls === "run" && mayRun && !run.state.isStopped)
    return prepareCall(run, call, undefined, begun);
  const result = errorResult(begun === undefined ? INTERRUPTED_BEFORE_START : OUTCOME_UNKNOWN);
  return { type: "refused", call, settled: { status: "aborted", result } };
}

/** The answer to this question; undefined if it is still open or the answer names an earlier question. */
function answerTo({ settings }: Run, { callId, id }: ApprovalRequestEntry): FullAnswer | undefined {
  const given = ownValue(settings.approvals, callId);
  if (given === undefined || given === "later") return undefined;
  const answer = copyAnswer(given);
  return (answer.question ?? id) === id ? answer : undefined;
}

function isUnchanged(
  asked: ApprovalRequestEntry,
  { name, input, cwd }: GateRequest,
  { action, place, code, part }: GateDecision,
): boolean {
  const isThere = (place ?? asked.place) === undefined ? cwd === (asked.cwd ?? "") : place === asked.place;
  const isSame = code === asked.code && part === asked.part;
  if (name !== asked.name || !isThere || (action === "ask" && !isSame)) return false;
  return equalJson(input, asked.input) || equalJson(toStoredJson(input), asked.input);
}
