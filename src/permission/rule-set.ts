import type { Fields } from "../core/base/json.ts";
import { fold, PathPattern } from "./match-text.ts";
import { type JudgedPath, type PathSpace, slashes } from "./path-space.ts";
import type { PermissionMode, SandboxState } from "./permission-mode.ts";
import { isEditTool, isReadTool, namesTool, type OriginRule, type RuleAction } from "./rule.ts";

/** A call, and what it is judged by. */
export interface JudgedCall {
  readonly tool: string;
  readonly input: Fields;
  readonly rules: RuleSet;
  readonly space: PathSpace;
  readonly mode: PermissionMode;
  readonly sandbox: SandboxState;
  /** True when the built-in rules take part. */
  readonly defaults: boolean;
}

export class RuleSet {
  readonly #rules: readonly OriginRule[];

  constructor(rules: readonly OriginRule[]) {
    this.#rules = rules;
  }

  /** Rules for a tool. Deny and ask: those of `read` also for `grep`, `glob`; `edit` and `write` share. */
  forTool(action: RuleAction, tool: string): readonly OriginRule[] {
    const isRelated = (other: string): boolean =>
      (other === "read" && isReadTool(tool)) || (isEditTool(other) && isEditTool(tool));
    return this.#rules.filter(
      (rule) =>
        rule.action === action && (namesTool(rule, tool) || (action !== "allow" && isRelated(rule.tool))),
    );
  }

  whole(action: RuleAction, tool: string): OriginRule | undefined {
    return this.forTool(action, tool).find((rule) => rule.pattern === undefined && namesTool(rule, tool));
  }

  /** The deny or ask rule that a path falls under, as it was written or as it resolves. */
  againstPath(
    action: "deny" | "ask",
    tool: string,
    path: JudgedPath,
    space: PathSpace,
  ): OriginRule | undefined {
    return this.forTool(action, tool).find(({ tool: name, pattern }) =>
      pattern === undefined
        ? namesTool({ tool: name }, tool)
        : [...path.written, path.resolved].some((form) => describesPath(pattern, form, space, true)),
    );
  }

  /** True when a deny or ask rule is against a path. */
  speaksAgainst(tool: string, path: JudgedPath, space: PathSpace): boolean {
    return (["deny", "ask"] as const).some(
      (action) => this.againstPath(action, tool, path, space) !== undefined,
    );
  }

  /** The allow rule that covers the place a path resolves to. */
  forPath(tool: string, path: JudgedPath, space: PathSpace): OriginRule | undefined {
    const isWide = tool === "grep" || tool === "glob";
    return this.forTool("allow", tool).find(({ pattern }) =>
      pattern === undefined
        ? space.isInside(path.resolved)
        : describesPath(pattern, path.resolved, space, isWide),
    );
  }
}

/** `isWide`: for what forbids or looks below a folder, `x/**` is also `x`, and case may not matter. */
function describesPath(pattern: string, path: string, space: PathSpace, isWide: boolean): boolean {
  const absolute = space.absolutePattern(pattern);
  const wanted = absolute ?? (slashes(pattern).replace(/^(?:\.\/+)+/, "") || ".");
  const forms = absolute === undefined ? space.insideForms(path) : [path];
  // The workspace itself has no name in it.
  if (wanted === "**" && forms.length > 0) return true;
  const texts = isWide && wanted.endsWith("/**") ? [wanted, wanted.slice(0, -3)] : [wanted];
  const spelled = isWide && space.ignoreCase ? fold : (text: string): string => text;
  return texts.some((text) => {
    const compiled = new PathPattern(spelled(text));
    return forms.some((form) => compiled.matches(spelled(form)));
  });
}
