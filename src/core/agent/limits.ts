import { NanoAgentError } from "../base/errors.ts";
import type { BudgetLimit } from "./result.ts";
import type { RunContext } from "./run-context.ts";

/** The budget limit that is used up, if any. Looked at before each model request. */
export function exhaustedLimit(run: RunContext): BudgetLimit | undefined {
  const { usd, tokens, wallTimeMs } = run.budget;
  const spent = run.state.session;
  if (wallTimeMs !== undefined && performance.now() - run.startedAt >= wallTimeMs) return "wall_time";
  if (tokens !== undefined && spent.usage.inputTokens + spent.usage.outputTokens >= tokens) return "tokens";
  // An answer of unknown price may have cost anything: fail closed.
  if (usd !== undefined && (spent.costUsd === undefined || spent.costUsd >= usd)) return "usd";
  return undefined;
}

/** Throws `invalid_argument` for a limit that is no positive number (`maxIterations`: a whole one, or `Infinity`). */
export function assertLimits(limits: {
  readonly maxIterations?: number | undefined;
  readonly budget?:
    | { readonly usd?: number; readonly tokens?: number; readonly wallTimeMs?: number }
    | undefined;
}): void {
  const { maxIterations, budget = {} } = limits;
  if (maxIterations !== undefined && maxIterations !== Number.POSITIVE_INFINITY) {
    if (!Number.isInteger(maxIterations) || maxIterations < 1) {
      throw new NanoAgentError(
        "invalid_argument",
        `maxIterations is ${String(maxIterations)}; it counts model requests and must be a whole number from 1, or Infinity.`,
      );
    }
  }
  for (const [name, value] of Object.entries(budget)) {
    if (value === undefined) continue;
    if (typeof value !== "number" || Number.isNaN(value) || value <= 0) {
      throw new NanoAgentError(
        "invalid_argument",
        `budget.${name} is ${String(value)}; it must be a number above 0.`,
      );
    }
  }
}
