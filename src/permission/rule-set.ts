import { PathPattern } from "./paths/match-path.ts";
import type { JudgedPath, PathSpace } from "./paths/path-space.ts";
import type { OriginRule, Rule, RuleAction } from "./rule.ts";
import { isEditTool, isReadTool, namesTool } from "./tool-names.ts";

/** Rules grouped by what they say, with the questions a check asks of them. */
export class RuleSet {
  readonly #byAction: Readonly<Record<RuleAction, readonly OriginRule[]>>;

  constructor(rules: readonly OriginRule[]) {
    const of = (action: RuleAction): readonly OriginRule[] => rules.filter((rule) => rule.action === action);
    this.#byAction = { allow: of("allow"), ask: of("ask"), deny: of("deny") };
  }

  /** The same rules but for those of one action. */
  without(action: RuleAction): RuleSet {
    return new RuleSet(
      Object.values(this.#byAction)
        .flat()
        .filter((rule) => rule.action !== action),
    );
  }

  /** Rules for a tool. Deny and ask: those of `read` also for `grep`, `glob`; `edit` and `write` share. */
  forTool(action: RuleAction, tool: string): readonly OriginRule[] {
    return this.#byAction[action].filter(
      (rule) => namesTool(rule, tool) || (action !== "allow" && isRelated(rule, tool)),
    );
  }

  /** A rule without a pattern for the tool. */
  whole(action: RuleAction, tool: string): OriginRule | undefined {
    return this.#byAction[action].find((rule) => rule.pattern === undefined && namesTool(rule, tool));
  }

  /** The deny or ask rule that a path falls under, as it was written or as it resolves. */
  againstPath(action: "deny" | "ask", tool: string, { path, space }: PathQuestion): OriginRule | undefined {
    return this.forTool(action, tool).find((rule) => {
      if (rule.pattern === undefined) return namesTool(rule, tool);
      return [...path.written, path.resolved].some((form) =>
        describesPath(rule.pattern ?? "", form, { space, generous: true }),
      );
    });
  }

  /** The allow rule that covers the place a path resolves to. */
  forPath(tool: string, { path, space }: PathQuestion): OriginRule | undefined {
    if (path.odd !== undefined) return undefined;
    return this.forTool("allow", tool).find((rule) => {
      if (rule.pattern === undefined) return space.isInside(path.resolved);
      return describesPath(rule.pattern, path.resolved, {
        space,
        generous: tool === "grep" || tool === "glob",
      });
    });
  }
}

/** A path, and where it lies. */
export interface PathQuestion {
  readonly path: JudgedPath;
  readonly space: PathSpace;
}

function isRelated({ tool }: Rule, name: string): boolean {
  if (tool === "read") return isReadTool(name);
  return isEditTool(tool) && isEditTool(name);
}

interface DescribeOptions {
  readonly space: PathSpace;
  /** For deny rules and tools that look below a folder: `x/**` is also `x`; capitals may not matter. */
  readonly generous: boolean;
}

/** True when a rule's path pattern describes an absolute path. */
function describesPath(pattern: string, path: string, { space, generous }: DescribeOptions): boolean {
  const absolute = space.absolutePattern(pattern);
  const relative = space.slashes(pattern).replace(/^(?:\.\/+)+/, "");
  const wanted = absolute ?? (relative === "" ? "." : relative);
  const texts = [wanted];
  if (generous && wanted.endsWith("/**")) texts.push(wanted.slice(0, -3));
  if (absolute === undefined && relative === "**") texts.push(".");
  const forms = absolute === undefined ? space.insideForms(path) : [path];
  const options = { ignoreCase: generous && space.ignoreCase };
  return texts.some((text) => {
    const compiled = new PathPattern(text, options);
    return forms.some((form) => compiled.matches(form));
  });
}
