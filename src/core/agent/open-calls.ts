import { defined } from "../base/defined.ts";
import { asStored, equalJson, isRecord, ownValue } from "../base/json.ts";
import type { ToolInput, ToolUseBlock } from "../message/block.ts";
import { toolCallsOf } from "../message/message.ts";
import { NEVER_RAN, OUTCOME_UNKNOWN } from "../message/transcript.ts";
import { errorResult } from "../tool/output.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import { toBlock } from "./act.ts";
import { type Admission, admit, oneTooMany } from "./admit.ts";
import type { ApprovalRequestEntry, ToolIntentEntry } from "./entry.ts";
import type { ApprovalAnswer, Approver, Gate, GateDecision, GateRequest } from "./gate.ts";
import { refuse, refused, sayNo } from "./permit.ts";
import type { PendingCall } from "./result.ts";
import { type RunContext, record } from "./run-context.ts";
import type { SessionState } from "./session-state.ts";

/** The calls of the last answer that wait for somebody, in call order. */
export function pendingCalls(state: SessionState): readonly PendingCall[] {
  const { transcript, approvals } = state;
  // What is decided is not waited for, except the result of a call of the caller's own.
  const open = transcript.pending.filter(({ id }) => {
    const decided = state.decision(id);
    return decided === undefined || decided.external === true;
  });
  return open.map(({ id, name, input }) => {
    const asked = approvals.get(id);
    return asked === undefined
      ? { callId: id, name, input: state.decision(id)?.input ?? input, waitsFor: "result" }
      : {
          callId: id,
          name,
          input: asked.input,
          question: asked.id,
          ...defined({ cwd: asked.cwd, place: asked.place }),
          ...questionOf(asked),
          waitsFor: "approval",
        };
  });
}

/** The question that was asked about a call. */
function questionOf({ reason, code, part, rule, suggestion }: ApprovalRequestEntry) {
  return defined({ reason, code, part, rule, suggestion });
}

/** True when the caller answers the calls of a tool. */
export function isExternal(tools: ToolRegistry, name: string): boolean {
  const tool = tools.get(name);
  return tool !== undefined && tool.execute === undefined;
}

/** Refuses the calls that wait for approval: who says something else instead has not approved. */
export async function refuseAsked(run: RunContext, answered: ReadonlySet<string>): Promise<void> {
  const reason = "the user said something else instead";
  for (const { callId, name, input } of run.state.approvals.values()) {
    if (answered.has(callId)) continue;
    const decided = { by: "person", code: "answered_otherwise", reason } as const;
    const { status, result: refusal } = await refuse(run, { callId, name, input }, decided);
    const result = toBlock(callId, refusal, run.maxToolResultChars);
    await record(run, { type: "tool_result", callId, name, status, result, durationMs: 0 });
  }
}

/**
 * The open calls of the last answer as a run goes on with them: those with an answer as the answer says,
 * those a run was cut in are answered with that, the others wait on.
 */
export async function admitOpen(run: RunContext): Promise<readonly Admission[]> {
  const calls = run.state.transcript.pending;
  const refusals = new Map<string, Admission>();
  // A no holds whatever has become of its call, and a stop for what was allowed beside it.
  for (const call of calls) {
    const asked = run.state.approvals.get(call.id);
    const answer = asked && answerTo(run, asked);
    if (asked === undefined || answer === undefined || answer.approved === true) continue;
    const settled = await sayNo(run, asked, { asked: { ...asked, question: asked.reason }, answer });
    refusals.set(call.id, { type: "refused", call, settled });
  }
  const excess = excessCalls(run);
  const admissions: Admission[] = [];
  for (const call of calls)
    admissions.push(
      refusals.get(call.id) ?? (excess.has(call.id) ? oneTooMany(run, call) : await admitOne(run, call)),
    );
  return admissions;
}

/** The calls behind the last one that an answer may hold, as far as nothing came of them. */
function excessCalls({ state, maxCallsPerAnswer }: RunContext): ReadonlySet<string> {
  const answer = state.transcript.messages.at(-1);
  const excess = answer === undefined ? [] : toolCallsOf(answer).slice(maxCallsPerAnswer);
  const ids = excess.map(({ id }) => id);
  const isUntouched = (id: string): boolean =>
    (state.intent(id) ?? state.approvals.get(id) ?? state.decision(id)) === undefined &&
    !state.isHandedOut(id);
  return new Set(ids.filter(isUntouched));
}

async function admitOne(run: RunContext, call: ToolUseBlock): Promise<Admission> {
  const asked = run.state.approvals.get(call.id);
  const decided = run.state.decision(call.id);
  if (decided?.external === true) return { type: "open", call };
  if (decided?.action === "deny") return { type: "refused", call, settled: refused(decided.reason) };
  const begun = run.state.intent(call.id);
  if (asked === undefined) return admitCut(run, call, begun);
  const answer = answerTo(run, asked);
  if (answer === undefined) return { type: "open", call };
  return admit({ ...run, ...answered(run, asked, answer) }, call, { begun });
}

/** A call that a run was cut in, or before: it runs where the host and its tool say so. */
async function admitCut(
  run: RunContext,
  call: ToolUseBlock,
  begun: ToolIntentEntry | undefined,
): Promise<Admission> {
  if (begun === undefined && isExternal(run.tools, call.name))
    return run.state.isHandedOut(call.id) ? { type: "open", call } : admit(run, call);
  const mayRun = begun === undefined || run.tools.get(call.name)?.idempotent === true;
  if (run.openCalls === "run" && mayRun && !run.state.isStopped) return admit(run, call, { begun });
  const result = errorResult(begun === undefined ? NEVER_RAN : OUTCOME_UNKNOWN);
  return { type: "refused", call, settled: { status: "aborted", result } };
}

type Answer = Extract<ApprovalAnswer, object>;

/** The answer that has come to a question; none for one that is left open, or is for an earlier question. */
function answerTo({ approvals }: RunContext, { callId, id }: ApprovalRequestEntry): Answer | undefined {
  const answer = ownValue(approvals, callId);
  if (answer === undefined || answer === "later") return undefined;
  if (!isRecord(answer)) return { approved: answer === true };
  return (answer.question ?? id) === id ? answer : undefined;
}

/**
 * Who decides about a call that was asked about and has a yes. A rule of today may forbid it, and a stop ends
 * it. A yes is for what was shown: where that has changed, the call is judged as a new one.
 */
function answered(
  run: RunContext,
  asked: ApprovalRequestEntry,
  answer: Answer,
): { readonly permission: Gate; readonly approve: Approver } {
  /** The question that the answer is for. */
  let carried: GateDecision | undefined;
  const check = async (request: GateRequest): Promise<GateDecision> => {
    const decision: GateDecision = (await run.permission?.check(request)) ?? { action: "allow" };
    const { action, place } = decision;
    if (action !== "allow" && action !== "ask") return decision;
    const anew: GateDecision = { action: "ask", ...questionOf(asked), ...defined({ place }) };
    const form = shownForm(asked, request, decision);
    // What a rule allows by now needs no question, unless a person put something else in its place.
    if (form === undefined) return answer.input === undefined && !run.state.isStopped ? decision : anew;
    carried = action === "ask" ? { ...decision } : { ...anew, input: form };
    return carried;
  };
  const approve: Approver = (request) =>
    request.decision === carried ? answer : (run.approve?.(request) ?? "later");
  return { permission: { check }, approve };
}

/** The input of a call that is still what the question about it showed; `undefined` where it is not. */
function shownForm(
  asked: ApprovalRequestEntry,
  { name, input: own, cwd }: GateRequest,
  { action, input, place, code, part }: GateDecision,
): ToolInput | undefined {
  const isThere = (place ?? asked.place) === undefined ? cwd === (asked.cwd ?? "") : place === asked.place;
  const isSame = code === asked.code && part === asked.part;
  if (name !== asked.name || !isThere || (action === "ask" && !isSame)) return undefined;
  // What a rule allows may run in the form that was asked about, or in the one that the rule allows.
  const forms = action === "allow" ? [input ?? own, own] : [input ?? own];
  return forms.find((form) => equalJson(form, asked.input) || equalJson(asStored(form), asked.input));
}
