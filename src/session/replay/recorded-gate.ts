import type { ApprovalRequestEntry, PermissionEntry } from "../../core/agent/entries.ts";
import type { ApprovalAnswer, Approvals, Approver, Gate, GateDecision } from "../../core/agent/ports.ts";
import { defined, equalJson } from "../../core/base/json.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RunFacts } from "./run-facts.ts";

/**
 * A gate and a person that decide as the record says; what it says nothing of was allowed. `waited`: the
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

/** The decision about a call that had waited for an answer, and was not asked about anew on the record. */
function ofWaiting(question: ApprovalRequestEntry, decision: PermissionEntry | undefined): GateDecision {
  // Rules allowed it by then: its answer was not needed.
  if (decision === undefined) return { action: "allow", place: ELSEWHERE };
  const isFor = decision.by !== "rule" && equalJson(decision.input, question.input);
  return { ...asked(decision, undefined), ...(isFor ? matter(question) : { place: ELSEWHERE }) };
}

/** A place that no question is about. */
const ELSEWHERE = "";

/**
 * Answers to the calls that waited when the run began: those on record. A yes stands for what rules decided
 * instead, and for what was asked about anew.
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
  // A yes without a question: of rules that answered one, or to a call of the caller's own.
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
