import type { BudgetLimit } from "../model/ledger.ts";
import type { SharedBudget } from "../model/shared-budget.ts";
import type { RunContext } from "./run-context.ts";

/** The budget limit that is used up, if any. Looked at before each model request. */
export function exhaustedLimit(run: RunContext): BudgetLimit | undefined {
  const { usd, tokens, wallTimeMs, shared } = run.budget;
  const spent = run.state.session;
  if (wallTimeMs !== undefined && run.clock.elapsed() - run.startedAt >= wallTimeMs) return "wall_time";
  if (tokens !== undefined && spent.usage.inputTokens + spent.usage.outputTokens >= tokens) return "tokens";
  // An answer of unknown price may have cost anything: fail closed.
  if (usd !== undefined && (spent.costUsd === undefined || spent.costUsd >= usd)) return "usd";
  return shared !== undefined && shared.spentUsd >= shared.usd ? "usd" : undefined;
}

/** The spending against a limit, in one sentence for people. */
export function budgetDetail(run: RunContext, limit: BudgetLimit): string {
  const { usd = 0, tokens = 0, wallTimeMs = 0, shared } = run.budget;
  const { usage, costUsd } = run.state.session;
  if (limit === "wall_time") return wallTimeDetail(wallTimeMs);
  if (limit === "tokens") {
    const spent = usage.inputTokens + usage.outputTokens;
    return spentDetail(`${spent} of ${tokens} tokens are spent in this session`, spent >= tokens);
  }
  if (shared !== undefined && isScarcer(run, shared))
    return `Of the $${amount(shared.usd)} that it shares with other runs, what is left does not pay for the next request.`;
  if (costUsd === undefined)
    return `Of $${usd} for the session nobody knows how much is spent: an answer came from a model without a known price.`;
  return spentDetail(`$${amount(costUsd)} of $${amount(usd)} is spent in this session`, costUsd >= usd);
}

function spentDetail(spent: string, isAll: boolean): string {
  return isAll ? `${spent}.` : `${spent}, and what is left does not pay for the next request.`;
}

/** True when less is left of what a run shares than of its own. */
function isScarcer(
  { budget: { usd = Number.POSITIVE_INFINITY }, state }: RunContext,
  shared: SharedBudget,
): boolean {
  return shared.usd - shared.spentUsd <= usd - (state.session.costUsd ?? 0);
}

/** The end of a run by its wall time, in one sentence for people. */
export function wallTimeDetail(wallTimeMs: number): string {
  return `The run has taken the ${wallTimeMs} ms it had.`;
}

/** Dollars with as many digits as small amounts need, and no more than two where they do not. */
function amount(usd: number): string {
  return usd >= 1 ? usd.toFixed(2) : usd.toPrecision(3).replace(/\.?0+$/, "");
}
