import { orAborted } from "../base/abort.ts";
import { defined } from "../base/defined.ts";
import { errorMessage } from "../base/errors.ts";
import { equalJson, isPlain, isRecord } from "../base/json.ts";
import type { ToolInput } from "../message/block.ts";
import { NEVER_RAN } from "../message/transcript.ts";
import { errorResult } from "../tool/output.ts";
import type { ToolResult } from "../tool/tool.ts";
import type { PermissionEntry, ToolStatus } from "./entry.ts";
import type { ApprovalAnswer, ApproverAnswer, GateDecision, GateRequest, UnaskedYes } from "./gate.ts";
import { type RunContext, record, recorded } from "./run-context.ts";
import { NOT_APPROVED } from "./session-state.ts";

/** How a call ended, before it is recorded. */
export interface SettledCall {
  readonly status: ToolStatus;
  readonly result: ToolResult;
}

/** The end of a call that an abort kept from running. */
export const NOT_RUN: SettledCall = { status: "aborted", result: errorResult(NEVER_RAN) };

/** A call may run: with its own input, or with the form of it that was judged. */
export interface Permit {
  readonly input: ToolInput;
  /** The yes it came from, which {@link recordPermit} is to record; absent where none was needed. */
  readonly yes?: Decision;
}

/** A call may run with another input than was asked about, once that is checked and judged. */
export interface GivenInput {
  readonly given: unknown;
  /** A rule gave it, and nobody was shown it. */
  readonly unasked: boolean;
  /** It is what was asked about: the schema has made it, and is not to make it once more. */
  readonly isChecked: boolean;
}

type Answer = SettledCall | "waiting" | Permit | GivenInput;

/**
 * Asks the gate about a call, and a person where the gate or the tool says so. Resolves to a permit for a
 * call that may run, to its end for one that may not, to `waiting` for one that waits for approval. Whatever
 * is not a clear yes refuses. `given`: the input of the request came from there, and only a rule can forbid
 * it. Throws only for the journal.
 */
export async function permit(run: RunContext, request: GateRequest, given?: GivenInput): Promise<Answer> {
  const decision = await judge(run, request);
  if (run.signal.aborted) return NOT_RUN;
  const { action, input: form = request.input } = decision;
  // As a person wrote it.
  if (given?.unasked === false && (action === "allow" || action === "ask")) return { input: request.input };
  if (action === "allow") return allowed(run, { ...request, input: form }, decision);
  // Rules that have answered for a person once, and ask now, leave it to the person.
  if (action === "ask") return ask(run, { ...request, input: form }, decision, given !== undefined);
  // Anything that is not one of the known words refuses: an unknown answer is no permission.
  const reason = decision.reason ?? "a rule forbids it";
  return refuse(run, { ...request, input: form }, { ...decision, by: "rule", reason });
}

/** The permit for a call that the rules allow, once a person has agreed where its tool wants that. */
async function allowed(run: RunContext, request: GateRequest, decision: GateDecision): Promise<Answer> {
  const question = await questionOfTool(run, request, decision);
  if (run.signal.aborted) return NOT_RUN;
  return question === undefined ? { input: request.input } : ask(run, request, question);
}

async function judge({ permission, signal }: RunContext, request: GateRequest): Promise<GateDecision> {
  if (permission === undefined) return ALLOWED;
  try {
    const answer: unknown = await orAborted(Promise.resolve(permission.check(request)), signal);
    return isRecord(answer) ? (answer as unknown as GateDecision) : NO_DECISION;
  } catch (error) {
    const reason = `the permission check failed: ${errorMessage(error)}`;
    return { action: "deny", code: "gate_failed", reason };
  }
}

/** The question of a tool that wants a person to look at a call; nothing where it does not. */
async function questionOfTool(
  run: RunContext,
  { tool, name, input }: GateRequest,
  { place }: GateDecision,
): Promise<GateDecision | undefined> {
  const { needsApproval = false } = tool;
  const asks = (reason: string): GateDecision => ({ ...TOOL_ASKS, reason, ...defined({ place }) });
  try {
    const wanted =
      typeof needsApproval === "function"
        ? await orAborted(Promise.resolve(needsApproval(input as never)), run.signal)
        : needsApproval;
    return wanted === false ? undefined : asks(`${name} needs approval`);
  } catch (error) {
    return asks(`whether ${name} needs approval could not be decided: ${errorMessage(error)}`);
  }
}

const TOOL_ASKS: GateDecision = { action: "ask", code: "needs_approval" };

const ALLOWED: GateDecision = { action: "allow" };

const NO_DECISION: GateDecision = {
  action: "deny",
  code: "gate_failed",
  reason: "the permission check gave no answer",
};

async function ask(
  run: RunContext,
  request: GateRequest,
  decision: GateDecision,
  // The question of a tool is for a person, whom no rule answers for.
  isForPerson = true,
): Promise<Answer> {
  const { reason: question = "it needs approval" } = decision;
  const asked = { ...decision, question };
  if (run.state.isStopped) return refuse(run, request, { ...asked, ...RUN_ENDING });
  if (run.approve === undefined) return unheard(run, request, asked);
  await recorded(run);
  if (run.signal.aborted) return NOT_RUN;
  let answer: FullAnswer | "later";
  try {
    // A copy: who changes it in place has not changed what runs.
    const shown = { ...request, input: structuredClone(request.input), decision };
    answer = ownAnswer(await orAborted(Promise.resolve(run.approve(shown)), run.signal), shown.input);
  } catch (error) {
    if (run.signal.aborted) return NOT_RUN;
    const reason = `asking failed: ${errorMessage(error)}`;
    return refuse(run, request, { ...asked, by: "person", code: "approver_failed", reason });
  }
  if (answer === "later") return wait(run, request, asked);
  if (answer.approved === false && typeof answer.error === "string")
    return { status: "error", result: errorResult(answer.error) };
  if (answer.unasked === true && isForPerson) return unheard(run, request, asked);
  if (answer.approved === true) {
    // The person wanted the run to end while this question waited for its turn.
    if (run.state.isStopped) return refuse(run, request, { ...asked, ...RUN_ENDING });
    return agreed(run, request, { asked, answer });
  }
  return sayNo(run, request, { asked, answer });
}

/** Records the no of a person. The call ends with their reason. */
export function sayNo(
  run: RunContext,
  call: DecidedCall,
  { asked, answer }: { readonly asked: Partial<DecisionFields>; readonly answer: FullAnswer },
): Promise<SettledCall> {
  const { reason = "the user refused it", stop } = answer;
  const no = { by: "person", code: "person", reason } as const;
  return refuse(run, call, { ...asked, ...no, ...(stop === true ? { stop: true } : {}) });
}

const RUN_ENDING = {
  by: "person",
  code: "run_ending",
  reason: "the user wants the run to end",
} as const;

/** The permit a yes gives, or the call to be judged once more, or the tool's own question. */
async function agreed(
  run: RunContext,
  request: GateRequest,
  { asked, answer }: { readonly asked: GateQuestion; readonly answer: FullAnswer },
): Promise<Answer> {
  const { unasked = false, isAsShown = false } = answer;
  const { input = request.input } = isAsShown ? request : answer;
  const isGiven = answer.input !== undefined && (unasked || !equalJson(input, request.input));
  if (unasked && !isGiven) {
    const question = await questionOfTool(run, request, asked);
    if (run.signal.aborted) return NOT_RUN;
    if (question !== undefined) return ask(run, request, question);
  }
  const by = unasked ? "rule" : "person";
  const yes = { ...asked, action: "allow", by, reason: asked.question } as const;
  if (!isGiven) return { input, yes };
  await recordDecision(run, request, yes);
  // Nobody was shown what the rules allow: the gate sees the very object that is to run.
  return { given: isPlain(input) ? { ...input } : input, unasked, isChecked: isAsShown };
}

/** Nobody is there for a question: the call waits for an answer, or is refused. */
function unheard(
  run: RunContext,
  request: GateRequest,
  asked: GateQuestion,
): Promise<SettledCall | "waiting"> {
  if (run.onAsk === "pause") return wait(run, request, asked);
  const reason = `${asked.question.replace(/\.$/, "")}, and there is nobody to ask`;
  return refuse(run, request, { ...unanswered(asked), code: "nobody_to_ask", reason });
}

type GateQuestion = GateDecision & { readonly question: string };

type FullAnswer = Extract<ApprovalAnswer, object> &
  Partial<Pick<UnaskedYes, "unasked">> & {
    /** Rules allow the very input they were shown. */
    readonly isAsShown?: true;
    /** Of a call that cannot succeed. */
    readonly error?: string;
  };

/** An answer as it is now: whoever changes its input afterwards has not changed what runs. */
function ownAnswer(answer: ApproverAnswer, shown: ToolInput): FullAnswer | "later" {
  if (answer === "later") return answer;
  if (!isRecord(answer)) return { approved: answer === true };
  const { input, ...rest } = answer as FullAnswer;
  if (input === shown && rest.unasked === true) return { ...rest, input, isAsShown: true };
  return input === undefined ? rest : { ...rest, input: structuredClone(input) };
}

/** A call of the model itself can wait; in the middle of another call nothing could go on from there. */
async function wait(
  run: RunContext,
  request: GateRequest,
  asked: GateQuestion,
): Promise<SettledCall | "waiting"> {
  const { question, code, rule, part, place, suggestion } = asked;
  if (request.parentCallId !== undefined || run.scope !== undefined) {
    const reason = `${question}, and a call inside another one cannot wait for the answer: make it on its own`;
    return refuse(run, request, { ...unanswered(asked), code: "cannot_wait", reason });
  }
  const { callId, name, input, cwd } = request;
  const asks = {
    reason: question,
    ...defined({ code, rule, part, suggestion, cwd: cwd || undefined, place }),
  };
  await record(run, { type: "approval_request", callId, name, input, ...asks });
  return "waiting";
}

/** A question that nobody answers, which says why it was asked. */
function unanswered<T extends GateDecision>(asked: T): T & Pick<DecisionFields, "by" | "questionCode"> {
  return { ...asked, by: "nobody", ...defined({ questionCode: asked.code }) };
}

/** The record of a decision beside its call. */
type DecisionFields = Pick<
  PermissionEntry,
  "by" | "reason" | "question" | "code" | "questionCode" | "rule" | "suggestion" | "stop"
>;

/** A decision as it is recorded. `external`: the call is the caller's own, and now theirs to run. */
type Decision = DecisionFields & Pick<PermissionEntry, "action" | "external">;

/** Records a refusal. The call ends with its reason. */
export async function refuse(
  run: RunContext,
  call: DecidedCall,
  decision: DecisionFields,
): Promise<SettledCall> {
  await recordDecision(run, call, { ...decision, action: "deny" });
  return refused(decision.reason);
}

/** The end of a call that was refused for a reason. */
export function refused(reason: string): SettledCall {
  return { status: "denied", result: errorResult(`${NOT_APPROVED}: ${reason}`) };
}

/**
 * Records the yes of a permit, and that a call of the caller's own may run, and with which input, where that
 * was in question.
 */
export async function recordPermit(
  run: RunContext,
  request: GateRequest,
  { input, yes }: Permit,
): Promise<void> {
  const isOwn = request.tool.execute === undefined;
  const isOpen = isOwn && (input !== request.input || run.state.approvals.has(request.callId));
  const decision = yes ?? (isOpen ? RULES_ALLOW : undefined);
  if (decision === undefined) return;
  await recordDecision(run, { ...request, input }, { ...decision, ...(isOwn ? { external: true } : {}) });
}

const RULES_ALLOW = { action: "allow", by: "rule", reason: "these arguments are allowed" } as const;

/** The call a decision is about. */
export interface DecidedCall extends Pick<PermissionEntry, "callId" | "name" | "input"> {
  readonly parentCallId?: string | undefined;
}

async function recordDecision(
  run: RunContext,
  { callId, name, input, parentCallId }: DecidedCall,
  decision: Decision,
): Promise<void> {
  const { action, by, reason, code, questionCode, rule, suggestion, stop, external } = decision;
  const question = decision.question === reason ? undefined : decision.question;
  const why = { reason, question, code, questionCode, rule, suggestion };
  const decided = { action, by, ...defined({ ...why, stop, parentCallId, external }) };
  await recorded(run);
  await record(run, { type: "permission_decision", callId, name, input, ...decided });
}
