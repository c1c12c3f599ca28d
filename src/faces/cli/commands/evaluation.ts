import type { Command } from "../command-call.ts";
import { compareResults } from "../evaluation/compare-results.ts";
import { runEvaluation } from "../evaluation/run-evaluation.ts";
import { validateSuites } from "../evaluation/validate-suites.ts";

/** `nano-agent eval …`: runs suites, compares results, proves tasks. */
export const evaluation: Command = (context, call) => {
  switch (call.action) {
    case "compare":
      return compareResults(context, call);
    case "validate":
      return validateSuites(context, call);
    default:
      return runEvaluation(context, call);
  }
};
