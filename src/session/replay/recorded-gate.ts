import type { ApprovalRequestEntry, PermissionEntry, ToolIntentEntry } from "../../core/agent/entries.ts";
import type { ApprovalAnswer, Approvals, Approver, Gate, GateDecision } from "../../core/agent/ports.ts";
import { defined } from "../../core/base/defined.ts";
import { equalJson } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/block.ts";
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
    check: ({ callId, input }) => {
      const question = waited.get(callId);
      const { decision, request } = run.calls.get(callId) ?? {};
      if (question !== undefined && request === undefined) return ofWaiting(question, { callId, input, run });
      if (decision !== undefined) return { ...asked(decision, request), ...formOf(decision, input, run) };
      if (request !== undefined) return { ...waiting(request), ...askedForm(request, input) };
      return { action: "allow", ...judgedInput(callId, run) };
    },
  };
  if (!facts.hasApprover) return { gate, approve: undefined };
  return { gate, approve: ({ callId }) => answerTo(callId, run) };
}

/** The decision about a call that had waited for an answer, and was not asked about anew on the record. */
function ofWaiting(
  question: ApprovalRequestEntry,
  { callId, input, run }: { readonly callId: string; readonly input: ToolInput; readonly run: RecordedRun },
): GateDecision {
  const { decision, intent } = run.calls.get(callId) ?? {};
  // Rules allowed it by then: its answer was not needed.
  if (decision === undefined)
    return { action: "allow", place: ELSEWHERE, ...(intent && askedForm(intent, input)) };
  const isFor = decision.by !== "rule" && equalJson(decision.input, question.input);
  const where = isFor ? matter(question) : { place: ELSEWHERE };
  return { ...asked(decision, undefined), ...where, ...formOf(decision, input, run) };
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
  if (decision.action === "allow") return { approved: true, ...judgedInput(callId, run) };
  const { reason, stop } = decision;
  return { approved: false, reason, ...defined({ stop }) };
}

/** The input a call ran with where that was not its own. */
function judgedInput(callId: string, run: RecordedRun): Pick<GateDecision, "input"> {
  const { intent } = run.calls.get(callId) ?? {};
  return intent?.judged === true ? { input: intent.input } : {};
}

/** True for a yes without a question: of rules that answered one, or to a call of the caller's own. */
function isOfRules(by: PermissionEntry["by"], action: PermissionEntry["action"]): boolean {
  return by === "rule" && action === "allow";
}

/** The form of a call that was decided about: the one that rules had run in its place, else the one shown. */
function formOf(decision: PermissionEntry, own: ToolInput, run: RecordedRun): Pick<GateDecision, "input"> {
  const { callId, by, action } = decision;
  const ran = isOfRules(by, action) ? judgedInput(callId, run) : {};
  return { ...askedForm(decision, own), ...ran };
}

/** The form of a call that was asked about, where that was not its own. */
function askedForm(
  { input }: PermissionEntry | ApprovalRequestEntry | ToolIntentEntry,
  own: ToolInput,
): Pick<GateDecision, "input"> {
  return equalJson(input, own) ? {} : { input };
}

function asked(
  { action, by, reason, question, rule, suggestion }: PermissionEntry,
  request: ApprovalRequestEntry | undefined,
): GateDecision {
  if (isOfRules(by, action)) return { action };
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
