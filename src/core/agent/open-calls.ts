import { defined } from "../base/defined.ts";
import { equalJson, isRecord, ownValue } from "../base/json.ts";
import type { ToolInput, ToolUseBlock } from "../message/block.ts";
import { NEVER_RAN, OUTCOME_UNKNOWN } from "../message/transcript.ts";
import { errorResult } from "../tool/output.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import { toBlock } from "./act.ts";
import { type Admission, admit } from "./admit.ts";
import type { ApprovalRequestEntry } from "./entry.ts";
import type { ApprovalAnswer, Approver, Gate, GateDecision, GateRequest } from "./gate.ts";
import { refuse } from "./permit.ts";
import type { PendingCall } from "./result.ts";
import { type RunContext, record } from "./run-context.ts";
import type { SessionState } from "./session-state.ts";

/** The calls of the last answer that wait for somebody, in call order. */
export function pendingCalls({ transcript, approvals }: SessionState): readonly PendingCall[] {
  return transcript.pending.map(({ id, name, input }) => {
    const asked = approvals.get(id);
    return asked === undefined
      ? { callId: id, name, input, waitsFor: "result" }
      : { callId: id, name, input: asked.input, ...questionOf(asked), waitsFor: "approval" };
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
  const admissions: Admission[] = [];
  for (const call of run.state.transcript.pending) admissions.push(await admitOne(run, call));
  return admissions;
}

async function admitOne(run: RunContext, call: ToolUseBlock): Promise<Admission> {
  const asked = run.state.approvals.get(call.id);
  if (asked === undefined) {
    const hasBegun = run.state.hasBegun(call.id);
    if (!hasBegun && isExternal(run.tools, call.name)) return { type: "open", call };
    const mayRun = !hasBegun || run.tools.get(call.name)?.idempotent === true;
    if (run.openCalls === "run" && mayRun) return admit(run, call);
    const result = errorResult(hasBegun ? OUTCOME_UNKNOWN : NEVER_RAN);
    return { type: "refused", call, settled: { status: "aborted", result } };
  }
  const answer = ownValue(run.approvals, call.id);
  if (answer === undefined || answer === "later") return { type: "open", call };
  return admit({ ...run, ...answered(run, asked, answer) }, call);
}

/**
 * Who decides about a call that an answer has come for. A rule of today may forbid it. A no holds whatever
 * has become of the call, a yes for what was shown alone: where that has changed, it is judged as a new one.
 */
function answered(
  run: RunContext,
  asked: ApprovalRequestEntry,
  answer: ApprovalAnswer,
): { readonly permission: Gate; readonly approve: Approver } {
  const { approved, input: given } = isRecord(answer) ? answer : { approved: answer === true };
  /** The question that the answer is for. */
  let carried: GateDecision | undefined;
  const check = async (request: GateRequest): Promise<GateDecision> => {
    const decision: GateDecision = (await run.permission?.check(request)) ?? { action: "allow" };
    const { action, place } = decision;
    if (action !== "allow" && action !== "ask") return decision;
    const anew: GateDecision = { action: "ask", ...questionOf(asked), ...defined({ place }) };
    const form = shownForm(asked, request, decision);
    // Where a rule allows it by now, only what a person put in its place is still a question.
    if (approved === true && form === undefined) return given === undefined ? decision : anew;
    carried = action === "ask" ? { ...decision } : { ...anew, ...defined({ input: form }) };
    return carried;
  };
  const approve: Approver = (request) =>
    request.decision === carried ? answer : (run.approve?.(request) ?? "later");
  return { permission: { check }, approve };
}

/** The input of a call that is still what the question about it showed; `undefined` where it is not. */
function shownForm(
  asked: ApprovalRequestEntry,
  { input: own, cwd }: GateRequest,
  { action, input, place, code, part }: GateDecision,
): ToolInput | undefined {
  if (cwd !== (asked.cwd ?? "")) return undefined;
  const isSame = place === asked.place && code === asked.code && part === asked.part;
  if (action === "ask" && !isSame) return undefined;
  // What a rule allows may run in the form that was asked about, or in the one that the rule allows.
  const forms = action === "allow" ? [input ?? own, own] : [input ?? own];
  return forms.find((form) => equalJson(stored(form), stored(asked.input)));
}

/** An input as a journal has it: a date is a text there. */
function stored(input: ToolInput): unknown {
  return JSON.parse(JSON.stringify(input));
}
