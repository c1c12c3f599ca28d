import type { PermissionEntry } from "../../core/agent/entry.ts";
import type { Approver, Gate, GateDecision } from "../../core/agent/gate.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { RunFacts } from "./run-facts.ts";

/** A gate and a person that decide as the record says; what it says nothing of was allowed. */
export function recordedGate(
  run: RecordedRun,
  facts: RunFacts,
): { readonly gate: Gate; readonly approve: Approver | undefined } {
  const decisionOf = (callId: string): PermissionEntry | undefined => run.calls.get(callId)?.decision;
  const gate: Gate = {
    check: ({ callId }) => {
      const decision = decisionOf(callId);
      return decision === undefined ? { action: "allow" } : asked(decision);
    },
  };
  if (!facts.hasApprover) return { gate, approve: undefined };
  const stops = run.end?.stopReason === "denied";
  return {
    gate,
    approve: ({ callId }) => {
      const decision = decisionOf(callId);
      if (decision?.action === "allow") return true;
      const stop = stops && facts.lastCalls.has(callId);
      return { approved: false, reason: decision?.reason ?? "", ...(stop ? { stop } : {}) };
    },
  };
}

const NOBODY = ", and there is nobody to ask";

function asked({ by, reason, rule, suggestion }: PermissionEntry): GateDecision {
  const why = by === "nobody" && reason.endsWith(NOBODY) ? reason.slice(0, -NOBODY.length) : reason;
  return {
    action: by === "rule" ? "deny" : "ask",
    reason: why,
    ...(rule === undefined ? {} : { rule }),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}
