import type { ApprovalRequestEntry, PermissionEntry } from "../../core/agent/entry.ts";
import type { ApprovalAnswer, Approvals, Approver, Gate, GateDecision } from "../../core/agent/gate.ts";
import { defined } from "../../core/base/defined.ts";
import { equalJson } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/block.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RunFacts } from "./run-facts.ts";

/**
 * A gate and a person that decide as the record says; what it says nothing of was allowed. `waited`: calls
 * that waited for approval when the run began. Where nobody was asked anew, their answers were for them.
 */
export function recordedGate(
  run: RecordedRun,
  facts: RunFacts,
  waited: ReadonlySet<string>,
): { readonly gate: Gate; readonly approve: Approver | undefined } {
  const gate: Gate = {
    check: ({ callId, input }) => {
      const { decision, request } = run.calls.get(callId) ?? {};
      if (decision?.by === "person" && request === undefined && waited.has(callId))
        return { action: "allow", ...askedForm(decision, input) };
      if (decision !== undefined) return { ...asked(decision, request), ...askedForm(decision, input) };
      if (request !== undefined) return { ...waiting(request), ...askedForm(request, input) };
      return { action: "allow", ...judgedInput(callId, run) };
    },
  };
  if (!facts.hasApprover) return { gate, approve: undefined };
  return { gate, approve: ({ callId }) => answerTo(callId, run) };
}

/** The record's approvals of calls that waited when the run began. */
export function recordedApprovals(run: RecordedRun): Approvals {
  const decided = [...run.calls.values()].filter(({ decision }) => decision?.by === "person");
  return Object.fromEntries(decided.map(({ callId }) => [callId, answerTo(callId, run)]));
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

/** The form of a call that was asked about, where that was not its own. */
function askedForm(
  { input }: PermissionEntry | ApprovalRequestEntry,
  own: ToolInput,
): Pick<GateDecision, "input"> {
  return equalJson(input, own) ? {} : { input };
}

function asked(
  { by, reason, question, rule, suggestion }: PermissionEntry,
  request: ApprovalRequestEntry | undefined,
): GateDecision {
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
