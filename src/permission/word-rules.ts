import type { PathSpace } from "./paths/path-space.ts";
import type { OriginRule } from "./rule.ts";
import { describesPath, namesTool, type RuleSet } from "./rule-set.ts";
import type { ShellPlan } from "./shell/plan-shell.ts";
import { byRule, type Verdict } from "./verdict.ts";

/** Words looked up on disk for one line; the rest is compared as it is written. */
const MAX_WORDS = 2000;

/** Deny and ask rules for files, applied to the words of command lines as far as these show paths. */
export class WordRules {
  readonly #rules: RuleSet;
  readonly #space: PathSpace;

  constructor(rules: RuleSet, space: PathSpace) {
    this.#rules = rules;
    this.#space = space;
  }

  /** The rule for `read` that a word falls under, or the one for `edit` or `write` that the target of a redirection does. */
  against(action: "deny" | "ask", plan: ShellPlan): Verdict | undefined {
    const reads = this.#patterned(action, "read");
    const writes = this.#patterned(action, "write");
    if (reads.length + writes.length === 0) return undefined;
    for (const { target, writes: isWrite, source } of plan.redirects) {
      const rule = this.#fits(isWrite ? [...writes, ...reads] : reads, target.resolved, true);
      if (rule !== undefined) return byRule(rule, source);
    }
    if (reads.length === 0) return undefined;
    const seen = new Set<string>();
    for (const unit of plan.units) {
      if (PRINTING.has(unit.name)) continue;
      for (const word of unit.words.slice(1)) {
        if (seen.has(word.text)) continue;
        seen.add(word.text);
        for (const piece of piecesOf(word.resolved)) {
          const rule = this.#fits(reads, piece, seen.size < MAX_WORDS);
          if (rule !== undefined) return byRule(rule, unit.text);
        }
      }
    }
    return undefined;
  }

  #patterned(action: "deny" | "ask", tool: string): readonly OriginRule[] {
    return this.#rules
      .forTool(action, tool)
      .filter((rule) => rule.pattern !== undefined && (namesTool(rule, tool) || tool === "write"));
  }

  #fits(rules: readonly OriginRule[], text: string, onDisk: boolean): OriginRule | undefined {
    if (text === "" || text.length > 4096 || rules.length === 0) return undefined;
    const path = onDisk ? this.#space.path(text) : undefined;
    const forms = path === undefined ? [text] : [...path.written, path.resolved];
    return rules.find(({ pattern = "" }) =>
      forms.some((form) => describesPath(pattern, form, { space: this.#space, generous: true })),
    );
  }
}

/** Programs whose words are texts. */
const PRINTING = new Set(["echo", "printf", "test", "[", "which", "type"]);

function piecesOf(word: string): readonly string[] {
  if (!/[=:@,]/.test(word)) return word.startsWith("-") ? [word.replace(/^-+[A-Za-z]?/, "")] : [word];
  return [word, ...word.split(/[=:@,]/)].filter((piece) => !piece.startsWith("-"));
}
