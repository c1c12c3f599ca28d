import { type Fields, omitUndefined } from "../core/base/json.ts";
import { truncateEnd } from "../core/base/text.ts";
import { fold, PathPattern } from "./match-text.ts";
import { type JudgedPath, type PathSpace, slashes } from "./path-space.ts";
import type { PermissionMode, SandboxState } from "./permission-mode.ts";
import {
  isEditTool,
  isReadTool,
  MAX_PATTERN,
  namesTool,
  type OriginRule,
  type RuleAction,
  ruleText,
} from "./rule.ts";

/**
 * The basis of a decision: a rule, or the lack of one; a mode; a path where writing always asks; or a call
 * that cannot be judged.
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

/** The verdict about a call, and its reason. */
export interface Verdict {
  readonly decision: RuleAction;
  /** The part of the call that decided: one command of a line, or a path. */
  readonly part?: string;
  /** The rule that decided, in written form. */
  readonly rule?: string;
  /** One sentence. */
  readonly reason: string;
  /** The rule to offer a person: with it the call is allowed. Absent if no rule can do that. */
  readonly suggestion?: string;
  /** Where a command runs if it is allowed. */
  readonly runs?: "inside" | "network" | "outside";
  /** True for a command allowed without a rule because it only looks. */
  readonly looks?: true;
  /** The reason for programs. Absent for calls allowed without a rule. */
  readonly code?: PolicyCode;
  /** True for a question that no mode answers by itself. */
  readonly isFirm?: true;
}

export function ruleVerdict(rule: OriginRule, part: string): Verdict {
  const { action, origin } = rule;
  const text = ruleText(rule);
  const verb = { allow: "allows", ask: "asks before", deny: "forbids" }[action];
  const reason = `The rule ${oneLine(text)} ${verb} ${oneLine(part)}.`;
  const firm = origin === "built-in" ? {} : ({ isFirm: true } as const);
  return { decision: action, part, rule: text, reason, code: `${action}_rule`, ...firm };
}

export function secretVerdict(part: string, pattern: string, does: string): Verdict {
  const reason = `${oneLine(part)} ${does} (${pattern}).`;
  return { decision: "ask", part, rule: `built-in: ${pattern}`, reason, code: "ask_rule" };
}

export const BYPASS_VERDICT: Verdict = {
  decision: "allow",
  reason: "Permissions are bypassed, and no rule denies it.",
};

export function planDenial(part: string): Verdict {
  const reason = `Plan mode only reads, and ${oneLine(part)} may change things.`;
  return { decision: "deny", part, reason, code: "plan_mode" };
}

/** `rule`: the one that would allow the part. */
export function noRuleVerdict(reason: string, part: string, rule?: string): Verdict {
  const suggestion = rule !== undefined && rule.length <= MAX_PATTERN ? rule : undefined;
  return { decision: "ask", part, reason, code: "no_rule", ...omitUndefined({ suggestion }) };
}

export function unjudgedVerdict(reason: string, part?: string): Verdict {
  return { decision: "ask", reason, code: "not_judged", ...omitUndefined({ part }) };
}

export function oneLine(text: string): string {
  return truncateEnd(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim(), 160);
}

export interface JudgedCall {
  readonly tool: string;
  readonly input: Fields;
  readonly rules: RuleSet;
  readonly space: PathSpace;
  readonly mode: PermissionMode;
  readonly sandbox: SandboxState;
  /** True if the built-in rules apply. */
  readonly defaults: boolean;
}

export class RuleSet {
  readonly #rules: readonly OriginRule[];

  constructor(rules: readonly OriginRule[]) {
    this.#rules = rules;
  }

  /** Rules for a tool. For deny and ask, `read` covers `grep` and `glob`; `edit` and `write` share theirs. */
  rulesForTool(action: RuleAction, tool: string): readonly OriginRule[] {
    const isRelated = (other: string): boolean =>
      (other === "read" && isReadTool(tool)) || (isEditTool(other) && isEditTool(tool));
    return this.#rules.filter(
      (rule) =>
        rule.action === action && (namesTool(rule, tool) || (action !== "allow" && isRelated(rule.tool))),
    );
  }

  wholeToolRule(action: RuleAction, tool: string): OriginRule | undefined {
    return this.rulesForTool(action, tool).find(
      (rule) => rule.pattern === undefined && namesTool(rule, tool),
    );
  }

  ruleAgainstPath(
    action: "deny" | "ask",
    tool: string,
    path: JudgedPath,
    space: PathSpace,
  ): OriginRule | undefined {
    return this.rulesForTool(action, tool).find(({ tool: name, pattern }) =>
      pattern === undefined
        ? namesTool({ tool: name }, tool)
        : [...path.written, path.resolved].some((form) => matchesPath(pattern, form, space, true)),
    );
  }

  hasRuleAgainst(tool: string, path: JudgedPath, space: PathSpace): boolean {
    return (["deny", "ask"] as const).some(
      (action) => this.ruleAgainstPath(action, tool, path, space) !== undefined,
    );
  }

  ruleForPath(tool: string, path: JudgedPath, space: PathSpace): OriginRule | undefined {
    const isWide = tool === "grep" || tool === "glob";
    return this.rulesForTool("allow", tool).find(({ pattern }) =>
      pattern === undefined
        ? space.isInside(path.resolved)
        : matchesPath(pattern, path.resolved, space, isWide),
    );
  }
}

/** `isWide`: for rules that forbid and for searches, `x/**` also matches `x`, and case may be ignored. */
function matchesPath(pattern: string, path: string, space: PathSpace, isWide: boolean): boolean {
  const absolute = space.absolutePattern(pattern);
  const wanted = absolute ?? (slashes(pattern).replace(/^(?:\.\/+)+/, "") || ".");
  const forms = absolute === undefined ? space.workspaceForms(path) : [path];
  // The workspace itself has no relative name.
  if (wanted === "**" && forms.length > 0) return true;
  const texts = isWide && wanted.endsWith("/**") ? [wanted, wanted.slice(0, -3)] : [wanted];
  const spelled = isWide && space.ignoreCase ? fold : (text: string): string => text;
  return texts.some((text) => {
    const compiled = new PathPattern(spelled(text));
    return forms.some((form) => compiled.matches(spelled(form)));
  });
}
