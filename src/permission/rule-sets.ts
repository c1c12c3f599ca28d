import type { Rule, RuleAction } from "./rule.ts";

function of(action: RuleAction, tools: readonly string[]): readonly Rule[] {
  return tools.map((tool) => ({ tool, action }));
}

/** Looking is allowed, changing is asked about. */
export const DEFAULT_RULES: readonly Rule[] = [
  ...of("allow", ["read", "glob", "grep", "task", "skill"]),
  ...of("ask", ["write", "edit", "bash", "batch"]),
];

/** Looking is allowed, everything that changes something is denied. */
export const READONLY_RULES: readonly Rule[] = [
  ...of("allow", ["read", "glob", "grep"]),
  ...of("deny", ["write", "edit", "bash", "batch", "task"]),
];

/** Every tool is allowed. What no rule covers (redirections, hidden characters, files with keys, machinery) is still asked about. */
export const TRUSTED_RULES: readonly Rule[] = of("allow", ["*"]);

/** Even reading is asked about, and commands are denied. */
export const HIGH_SECURITY_RULES: readonly Rule[] = [
  ...of("ask", ["read", "glob", "grep", "skill", "write", "edit"]),
  ...of("deny", ["bash", "batch", "task", "web_fetch"]),
];
