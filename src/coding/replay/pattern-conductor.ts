import type { Run } from "../../core/agent/run.ts";
import { ownValue } from "../../core/base/json.ts";
import type { RecordedRun } from "../../session/replay/recorded-run.ts";
import type { Conductor } from "../../session/replay/replay-run.ts";
import type { PatternName } from "../settings/config-schema.ts";
import { createPatternAgent } from "../setup/pattern-agent.ts";

/** Conducts a run worked out in phases of a pattern; undefined for a plain loop and unknown phases. */
export function patternConductor(run: RecordedRun): Conductor | undefined {
  const pattern = patternOf(run);
  if (pattern === undefined) return undefined;
  return (tools) => {
    const model = { provider: "recorded", id: "recorded", stream: never };
    const agent = createPatternAgent(pattern, { model, tools });
    // The phases alone: input, journal, model and limits are those of the replay.
    return (context: Run) => agent.conduct(context);
  };
}

const FIRST_PHASE: { readonly [phase: string]: PatternName } = {
  planning: "plan",
  initial_execution: "reflection",
};

function patternOf({ body }: RecordedRun): PatternName | undefined {
  const scope = body.find((entry) => entry.scope !== undefined)?.scope?.split("/")[0];
  return ownValue(FIRST_PHASE, scope);
}

function never(): never {
  throw new Error("A replay asks the model of its record.");
}
