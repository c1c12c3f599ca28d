/** The verdict of a rule about the calls it describes. */
export type RuleAction = "allow" | "ask" | "deny";

/**
 * One permission rule. Of all rules that describe a call, deny wins over ask and ask over allow; order and
 * specificity do not matter. Without a `pattern` it describes every call of the tool.
 */
export interface Rule {
  /** Name of a tool, or several with `*`: `bash`, `mcp__server__*`. */
  readonly tool: string;
  /**
   * `bash`: the text of one command, `*` any run of characters. File tools: a path, `*` within a folder, `**`
   * across folders. `web_fetch`: `domain:HOST`. `skill` and `task`: the name of the skill or agent.
   */
  readonly pattern?: string;
  readonly action: RuleAction;
}

/** Where a rule comes from: its user, nano-agent itself, or an answer given in this session. */
export type RuleOrigin = "user" | "built-in" | "session";

/** A rule together with where it comes from. */
export interface OriginRule extends Rule {
  readonly origin: RuleOrigin;
}

/** A rule as one writes it: `bash(git status*)`. */
export function ruleText({ tool, pattern }: Pick<Rule, "tool" | "pattern">): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`;
}

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

/** Allows every tool. What no rule covers (redirections, hidden characters, keys, machinery) asks. */
export const TRUSTED_RULES: readonly Rule[] = of("allow", ["*"]);

/** Even reading is asked about, and commands are denied. */
export const HIGH_SECURITY_RULES: readonly Rule[] = [
  ...of("ask", ["read", "glob", "grep", "skill", "write", "edit"]),
  ...of("deny", ["bash", "batch", "task", "web_fetch"]),
];
