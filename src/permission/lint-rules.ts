import { matchesText } from "./match-text.ts";
import { type Rule, ruleText } from "./rule.ts";
import { patternKind } from "./tool-names.ts";

/** A rule that can never matter, and why. */
export interface RuleFinding {
  readonly rule: Rule;
  readonly reason: string;
}

const OPERATORS = /&&|\|\||[;|&\n]|(?<!-)>|</;

/**
 * Finds rules that can never matter: repeated, hidden by a wider rule of the same or a stronger action, or
 * written so that no call fits them. `tools` are the known tools; without them names are not looked at. At
 * most the first 2,000 rules are compared with each other.
 */
export function lintRules(rules: readonly Rule[], tools?: readonly string[]): readonly RuleFinding[] {
  const compared = rules.slice(0, 2000);
  return compared.flatMap((rule, index) => {
    const reason = unreachable(rule, tools) ?? hidden(rule, index, compared);
    return reason === undefined ? [] : [{ rule, reason }];
  });
}

function unreachable(
  { tool, pattern, action }: Rule,
  tools: readonly string[] | undefined,
): string | undefined {
  if (tools !== undefined && !tool.includes("*") && !tool.startsWith("mcp__") && !tools.includes(tool))
    return `there is no tool ${tool}`;
  if (pattern === undefined) return undefined;
  if (patternKind(tool) === "command" && OPERATORS.test(pattern))
    return "a pattern is compared with one command at a time: it never has an operator or a redirection in it";
  if (patternKind(tool) === "command" && action === "allow") {
    if (/["'`]|\$\(/.test(pattern) && !pattern.includes("*"))
      return "a pattern is compared with words after their quotes are removed";
    if (/^\s|\s$/.test(pattern)) return "a command begins and ends without blanks";
  }
  if (patternKind(tool) === "path" && /(?:^|\/)\.\.(?:\/|$)/.test(pattern))
    return "a path with .. in it never resolves: use an absolute or home path";
  return undefined;
}

const STRENGTH = { allow: 0, ask: 1, deny: 2 };

function hidden(rule: Rule, index: number, rules: readonly Rule[]): string | undefined {
  const by = rules.find((other, place) => {
    if (place === index || STRENGTH[other.action] < STRENGTH[rule.action] || !covers(other, rule))
      return false;
    // Of two rules that cover each other and say the same, the later one is the idle one.
    return STRENGTH[other.action] > STRENGTH[rule.action] || !covers(rule, other) || place < index;
  });
  if (by === undefined) return undefined;
  return by.action === rule.action
    ? `${ruleText(by)} says the same and more`
    : `${by.action} ${ruleText(by)} is stronger and covers it`;
}

/** True when `outer` describes all that `inner` does. Compares patterns as texts: not every case is found. */
function covers(outer: Rule, inner: Rule): boolean {
  if (outer.tool !== inner.tool && !matchesText(outer.tool, inner.tool)) return false;
  // For commands and folders a rule with a pattern reaches less than one without.
  if (outer.pattern === undefined)
    return outer.action !== "allow" || inner.pattern === undefined || patternKind(inner.tool) === "command";
  if (inner.pattern === undefined) return false;
  if (outer.pattern === inner.pattern) return true;
  if (patternKind(inner.tool) !== "command" || inner.action === "allow") return false;
  return matchesText(outer.pattern, inner.pattern);
}
