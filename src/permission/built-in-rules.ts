import { READ_ONLY_COMMANDS } from "./read-only-commands.ts";
import type { OriginRule } from "./rule.ts";
import { SECRET_FILES } from "./secret-files.ts";

/**
 * The rules that take part unless they are left out: tools that change nothing of the user's, or whose calls
 * are judged one by one. Commands that only look ({@link READ_ONLY_COMMANDS}) and files with keys
 * ({@link SECRET_FILES}) are the other built-in rules.
 */
export const BUILT_IN_RULES: readonly OriginRule[] = ["skill", "task", "todo", "job"].map((tool) => ({
  tool,
  action: "allow",
  origin: "built-in",
}));

/** The built-in rules as a person reads them, one a line. */
export function describeDefaults(): readonly string[] {
  return [
    ...BUILT_IN_RULES.map(({ tool, action }) => `${action} ${tool}`),
    ...READ_ONLY_COMMANDS.map(({ name }) => `allow ${name} (safe options, inside the workspace)`),
    "allow sed (scripts that only print or edit the stream)",
    ...SECRET_FILES.map((pattern) => `ask ${pattern} (every tool)`),
  ];
}
