import { NanoAgentError } from "../base/errors.ts";
import { equalJson } from "../base/json.ts";
import type { ToolUseBlock } from "../message/block.ts";
import { NEVER_RAN, OUTCOME_UNKNOWN } from "../message/transcript.ts";
import { errorResult } from "../tool/output.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import { type Admission, admit } from "./admit.ts";
import type { ApprovalRequestEntry } from "./entry.ts";
import type { ApprovalAnswer, Approvals, Approver, Gate } from "./gate.ts";
import type { PendingCall } from "./pending-call.ts";
import { refuse } from "./permit.ts";
import { type RunContext, record } from "./run-context.ts";
import type { SessionState } from "./session-state.ts";

/** The calls of the last answer that wait for somebody, in call order. */
export function pendingCalls({ transcript, approvals }: SessionState): readonly PendingCall[] {
  return transcript.pending.map((call) => {
    const asked = approvals.get(call.id);
    return asked === undefined
      ? { callId: call.id, name: call.name, input: call.input, waitsFor: "result" }
      : { ...askedCall(asked), waitsFor: "approval" };
  });
}

function askedCall({
  callId,
  name,
  input,
  reason,
  code,
  part,
  rule,
  suggestion,
}: ApprovalRequestEntry): Omit<PendingCall, "waitsFor"> {
  return {
    callId,
    name,
    input,
    reason,
    ...(code === undefined ? {} : { code }),
    ...(part === undefined ? {} : { part }),
    ...(rule === undefined ? {} : { rule }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** Throws `invalid_argument` when calls wait for somebody and a run without input brings no answer to any of them. */
export function assertAnswered(state: SessionState, tools: ToolRegistry, approvals: Approvals = {}): void {
  if (Object.keys(approvals).length > 0) return;
  const open = pendingCalls(state).filter(
    ({ name, waitsFor }) => waitsFor === "approval" || isExternal(tools, name),
  );
  if (open.length === 0) return;
  throw new NanoAgentError(
    "invalid_argument",
    `Tool calls wait for your answer: ${open.map(describe).join(", ")}. Pass ${howToAnswer(open)}.`,
  );
}

/** Throws `invalid_argument` for an answer to a call that does not wait for approval, and for answers beside a message. */
export function assertApprovals(
  state: SessionState,
  approvals: Approvals | undefined,
  hasInput: boolean,
): void {
  const ids = Object.keys(approvals ?? {});
  if (ids.length === 0) return;
  const unknown = ids.filter((id) => !state.approvals.has(id));
  if (unknown.length > 0) {
    const open = [...state.approvals.values()].map(describe).join(", ");
    throw new NanoAgentError(
      "invalid_argument",
      `approvals answers ${unknown.map((id) => JSON.stringify(id)).join(", ")}, which does not wait for approval. Waiting: ${open === "" ? "none" : open}.`,
    );
  }
  if (!hasInput) return;
  throw new NanoAgentError(
    "invalid_argument",
    "approvals and a message: a message closes the calls that wait. Pass the approvals alone, and steer() for what is to be said.",
  );
}

function describe({ name, callId }: { readonly name: string; readonly callId: string }): string {
  return `${name} (${callId})`;
}

function howToAnswer(open: readonly PendingCall[]): string {
  const ways = [
    ...(open.some(({ waitsFor }) => waitsFor === "approval")
      ? ["approvals: { [callId]: true } as an option"]
      : []),
    ...(open.some(({ waitsFor }) => waitsFor === "result") ? ["their tool_result blocks as input"] : []),
  ];
  return ways.join(", or ");
}

function isExternal(tools: ToolRegistry, name: string): boolean {
  const tool = tools.get(name);
  return tool !== undefined && tool.execute === undefined;
}

/** Refuses the calls that wait for approval, but for those that are answered: a person who says something instead has not approved. */
export async function refuseAsked(run: RunContext, answered: ReadonlySet<string>): Promise<void> {
  const reason = "the user said something else instead";
  for (const { callId, name, input } of run.state.approvals.values()) {
    if (answered.has(callId)) continue;
    await refuse(run, { callId, name, input }, { by: "person", code: "answered_otherwise", reason });
    await record(run, {
      type: "tool_result",
      callId,
      name,
      status: "denied",
      result: {
        type: "tool_result",
        tool_use_id: callId,
        content: `Error: Tool call was not approved: ${reason}`,
        is_error: true,
      },
      durationMs: 0,
    });
  }
}

/**
 * The open calls of the last answer as a run goes on with them: those with an answer as the answer says, those a run was cut in are
 * answered with that, the others wait on.
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
    if (!hasBegun && isExternal(run.tools, call.name)) return { type: "external", call };
    const mayRun = !hasBegun || run.tools.get(call.name)?.idempotent === true;
    if (run.openCalls === "run" && mayRun) return admit(run, call);
    const result = errorResult(hasBegun ? OUTCOME_UNKNOWN : NEVER_RAN);
    return { type: "refused", call, settled: { status: "aborted", result } };
  }
  const answer = Object.hasOwn(run.approvals, call.id) ? run.approvals[call.id] : undefined;
  if (answer === undefined || answer === "later") return { type: "waiting", call };
  return admit({ ...run, gate: answeredGate(run.gate, asked), approve: answeredBy(asked, answer) }, call);
}

/** A rule of today may forbid what was asked about; whatever it does not forbid is for the person's answer to settle. */
function answeredGate(
  gate: Gate | undefined,
  { reason, code, rule, part, suggestion }: ApprovalRequestEntry,
): Gate {
  return {
    check: async (request) => {
      const decision = await gate?.check(request);
      if (decision !== undefined && decision.action !== "allow") return decision;
      return {
        action: "ask",
        reason,
        ...(code === undefined ? {} : { code }),
        ...(rule === undefined ? {} : { rule }),
        ...(part === undefined ? {} : { part }),
        ...(suggestion === undefined ? {} : { suggestion }),
      };
    },
  };
}

/** An answer holds for what was shown: a call that has become another one (by a hook, say) is asked about again. */
function answeredBy(asked: ApprovalRequestEntry, answer: ApprovalAnswer): Approver {
  return ({ input }) => (equalJson(input, asked.input) ? answer : "later");
}
