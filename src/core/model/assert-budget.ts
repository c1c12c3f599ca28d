import { assertKnown, type Check, hasMethods } from "../base/check-option.ts";
import { misuse } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";

/** Throws `invalid_argument` for what is no budget. Agents and durable runs both ask. */
export const assertBudget: Check = (budget) => {
  if (!isRecord(budget)) throw misuse("budget is not an object: pass { usd }, { tokens } or { wallTimeMs }.");
  assertKnown(budget, ["usd", "tokens", "wallTimeMs", "shared"], "limit of a budget");
  const { shared, ...limits } = budget;
  if (shared !== undefined && !hasMethods(shared, ["setAside"]))
    throw misuse("budget.shared is not a SharedBudget: pass new SharedBudget(usd) of nano-agent/agent.");
  for (const [name, value] of Object.entries(limits)) {
    if (value === undefined || (typeof value === "number" && value > 0)) continue;
    throw misuse(`budget.${name} is ${String(value)}; it must be a number above 0.`);
  }
};
