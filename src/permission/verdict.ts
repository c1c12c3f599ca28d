import { clipped } from "../core/base/text.ts";
import { type OriginRule, type RuleAction, ruleText } from "./rule.ts";

/** The verdict of the policy about a call, and why. */
export interface Verdict {
  readonly decision: RuleAction;
  /** The part of the call that decided: one command of a line, or a path. */
  readonly part?: string;
  /** Parts that need a yes, most dangerous first: of a line that asks, or is denied for want of a rule. */
  readonly parts?: readonly string[];
  /** The line that runs if allowed: printed anew from what was judged, or as written if all is trusted. */
  readonly runs?: string;
  /** The rule that decided, as one writes it. */
  readonly rule?: string;
  /** One sentence. */
  readonly reason: string;
  /** The mode that decided, where it is not said by `rule`. */
  readonly mode?: "plan" | "dontAsk";
  /** The narrowest rule that would allow the part. Absent where no rule can. */
  readonly suggestion?: string;
  /** One wider rule, where it is harmless: program and sub-command with any arguments. */
  readonly wider?: string;
  /** Who decided: a rule of the user or session, a built-in one, the mode alone, or no form to run it in. */
  readonly by: "user" | "session" | "built-in" | "mode" | "guard" | "form";
  /** Why no rule can allow it: it may write where nothing writes unasked, or what it does cannot be told. */
  readonly obstacle?: "protected" | "unreadable";
}

/** A verdict by a rule. */
export function byRule(rule: OriginRule, part: string): Verdict {
  const text = ruleText(rule);
  const said = { allow: "allows", ask: "asks before", deny: "forbids" }[rule.action];
  const reason = `The rule ${shown(text)} ${said} ${shown(part)}.`;
  return { decision: rule.action, part, rule: text, reason, by: rule.origin };
}

/** A question about a part that a built-in rule for files with keys speaks of. */
export function secretVerdict(part: string, pattern: string, does: string): Verdict {
  const reason = `${shown(part)} ${does} (${pattern}).`;
  return { decision: "ask", part, rule: `built-in: ${pattern}`, reason, by: "built-in" };
}

/** The leave of the mode that asks no questions. */
export const BYPASSED: Verdict = {
  decision: "allow",
  reason: "Permissions are bypassed, and no rule denies it.",
  by: "mode",
};

/** A refusal of the mode that only reads. */
export function planDenial(part: string): Verdict {
  const reason = `Plan mode only reads, and ${shown(part)} may change things.`;
  return { decision: "deny", part, reason, mode: "plan", by: "mode" };
}

/** A text as it stands in a sentence: in one line, and not too long. */
export function shown(text: string): string {
  return clipped(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim(), 160);
}
