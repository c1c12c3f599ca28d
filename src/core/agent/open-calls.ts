import { defined } from "../base/defined.ts";
import { equalJson, ownValue } from "../base/json.ts";
import type { ToolUseBlock } from "../message/block.ts";
import { NEVER_RAN, OUTCOME_UNKNOWN } from "../message/transcript.ts";
import { errorResult } from "../tool/output.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import { toBlock } from "./act.ts";
import { type Admission, admit } from "./admit.ts";
import type { ApprovalRequestEntry } from "./entry.ts";
import type { ApprovalAnswer, Approver, Gate } from "./gate.ts";
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
  const permission = answeredGate(run.permission, asked);
  return admit({ ...run, permission, approve: answeredBy(asked, answer) }, call);
}

/** A rule of today may forbid what was asked about; all else is for the person's answer to settle. */
function answeredGate(gate: Gate | undefined, asked: ApprovalRequestEntry): Gate {
  return {
    check: async (request) => {
      const decision = await gate?.check(request);
      if (decision !== undefined && decision.action !== "allow") return decision;
      // Where the form that the gate allows is the one that was shown, that one is answered.
      const isShown = decision?.input !== undefined && equalJson(decision.input, asked.input);
      return { action: "ask", ...questionOf(asked), ...(isShown && { input: decision.input }) };
    },
  };
}

/** An answer holds for what was shown: a call that a hook has changed since is asked about again. */
function answeredBy(asked: ApprovalRequestEntry, answer: ApprovalAnswer): Approver {
  return ({ input }) => (equalJson(input, asked.input) ? answer : "later");
}
