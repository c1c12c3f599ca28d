import { HARMFUL_OPTIONS } from "./commands/harmful-options.ts";
import { LOOKING_PROGRAMS } from "./commands/looking-programs.ts";
import type { OriginRule } from "./rule.ts";
import { SECRET_FILES } from "./secret-files.ts";

/**
 * The rules that take part unless they are left out: tools that change nothing of the user's, or whose calls
 * are judged one by one. Commands that only look ({@link LOOKING_PROGRAMS}) and files with keys
 * ({@link SECRET_FILES}) are the other built-in rules.
 */
export const BUILT_IN_RULES: readonly OriginRule[] = ["skill", "task", "todo", "job"].map((tool) => ({
  tool,
  action: "allow",
  origin: "built-in",
}));

/** The built-in rules as a person reads them, one a line, and the options that no `*` of a rule covers. */
export function describeDefaults(): readonly string[] {
  return [
    ...BUILT_IN_RULES.map(({ tool, action }) => `${action} ${tool}`),
    ...LOOKING_PROGRAMS.map(({ name, more }) => {
      const without = more.length === 0 ? "" : `, without ${more.join(" ")}`;
      return `allow ${name === "sed" ? "sed -n LINESp" : name} (inside the workspace${without})`;
    }),
    ...SECRET_FILES.map((pattern) => `ask ${pattern} (every tool)`),
    ...HARMFUL_OPTIONS.map((line) => `no * covers ${line.replace(/:\s/, " ").replaceAll(/\s+/g, " ")}`),
  ];
}
