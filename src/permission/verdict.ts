import { defined } from "../core/base/json.ts";
import { clipped } from "../core/base/text.ts";
import { MAX_PATTERN, type OriginRule, type RuleAction, ruleText } from "./rule.ts";

/**
 * Why a call was decided so: by a rule, or since there is none; by a mode; a place that is never written
 * without a question; or a call that cannot be judged.
 */
export type PolicyCode =
  | "allow_rule"
  | "ask_rule"
  | "deny_rule"
  | "no_rule"
  | "plan_mode"
  | "dont_ask_mode"
  | "protected_path"
  | "not_judged";

/** The verdict about a call, and why. */
export interface Verdict {
  readonly decision: RuleAction;
  /** The part of the call that decided: one command of a line, or a path. */
  readonly part?: string;
  /** The rule that decided, as one writes it. */
  readonly rule?: string;
  /** One sentence. */
  readonly reason: string;
  /** The rule a person may be offered: with it the call is allowed. Absent where no rule can do that. */
  readonly suggestion?: string;
  /** Where a command runs when it is allowed. */
  readonly runs?: "inside" | "network" | "outside";
  /** A command that is allowed without a rule, since it only looks. */
  readonly looks?: true;
  /** The reason for programs. Absent for what is allowed without a rule. */
  readonly code?: PolicyCode;
  /** A question that no mode answers by itself. */
  readonly isFirm?: true;
}

export function byRule(rule: OriginRule, part: string): Verdict {
  const { action, origin } = rule;
  const text = ruleText(rule);
  const said = { allow: "allows", ask: "asks before", deny: "forbids" }[action];
  const reason = `The rule ${shown(text)} ${said} ${shown(part)}.`;
  const firm = origin === "built-in" ? {} : ({ isFirm: true } as const);
  return { decision: action, part, rule: text, reason, code: `${action}_rule`, ...firm };
}

/** A question about a part that a built-in rule for files with keys speaks of. */
export function secretVerdict(part: string, pattern: string, does: string): Verdict {
  const reason = `${shown(part)} ${does} (${pattern}).`;
  return { decision: "ask", part, rule: `built-in: ${pattern}`, reason, code: "ask_rule" };
}

export const BYPASSED: Verdict = {
  decision: "allow",
  reason: "Permissions are bypassed, and no rule denies it.",
};

export function planDenial(part: string): Verdict {
  const reason = `Plan mode only reads, and ${shown(part)} may change things.`;
  return { decision: "deny", part, reason, code: "plan_mode" };
}

/** The question about a part that nothing decides, with the rule that would. */
export function noRule(reason: string, part: string, rule?: string): Verdict {
  const suggestion = rule !== undefined && rule.length <= MAX_PATTERN ? rule : undefined;
  return { decision: "ask", part, reason, code: "no_rule", ...defined({ suggestion }) };
}

export function notJudged(reason: string, part?: string): Verdict {
  return { decision: "ask", reason, code: "not_judged", ...defined({ part }) };
}

/** A text as it stands in a sentence: in one line, and not too long. */
export function shown(text: string): string {
  return clipped(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim(), 160);
}
