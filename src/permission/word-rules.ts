import { HeadIndex } from "./head-index.ts";
import { fold, type PathPattern } from "./paths/match-path.ts";
import type { PathSpace } from "./paths/path-space.ts";
import type { OriginRule } from "./rule.ts";
import { pathPatterns, type RuleSet } from "./rule-set.ts";
import type { ShellPlan } from "./shell/plan-shell.ts";
import { pathFrom, START } from "./shell/work-folders.ts";
import { namesTool } from "./tool-names.ts";
import { byRule, type Verdict } from "./verdict.ts";

/** Deny or ask rules for files, applied to the words of command lines as far as these show paths. */
export class WordRules {
  readonly #space: PathSpace;
  readonly #reads: PathRules;
  readonly #writes: PathRules;

  constructor(
    action: "deny" | "ask",
    { rules, space }: { readonly rules: RuleSet; readonly space: PathSpace },
  ) {
    const patterned = (tool: string): readonly OriginRule[] =>
      rules
        .forTool(action, tool)
        .filter((rule) => rule.pattern !== undefined && (namesTool(rule, tool) || tool === "write"));
    const reads = patterned("read");
    this.#space = space;
    this.#reads = new PathRules(reads, space);
    this.#writes = new PathRules([...patterned("write"), ...reads], space);
  }

  /** True when there is no rule. */
  get isEmpty(): boolean {
    return this.#writes.isEmpty;
  }

  /** The `read` rule a word falls under, or the `edit` or `write` rule for a redirection's target. */
  against(plan: ShellPlan): Verdict | undefined {
    if (this.isEmpty) return undefined;
    for (const { target, writes, source, folders } of plan.redirects) {
      for (const folder of folders ?? START) {
        const rule = this.#find(writes ? this.#writes : this.#reads, pathFrom(folder, target.resolved));
        if (rule !== undefined) return byRule(rule, source);
      }
    }
    return this.#reads.isEmpty ? undefined : this.#inWords(plan);
  }

  #inWords(plan: ShellPlan): Verdict | undefined {
    const seen = new Set<string>();
    for (const unit of plan.units) {
      if (PRINTING.has(unit.name)) continue;
      const folders = unit.folders ?? START;
      for (const [index, word] of unit.words.entries()) {
        if (index === 0) continue;
        for (const piece of pathsIn(word.resolved).flatMap((each) => pathsFrom(folders, each))) {
          if (seen.has(piece)) continue;
          seen.add(piece);
          const rule = this.#find(this.#reads, piece);
          if (rule !== undefined) return byRule(rule, unit.text);
        }
      }
    }
    return undefined;
  }

  #find(rules: PathRules, text: string): OriginRule | undefined {
    if (text === "" || text.length > 4096 || rules.isEmpty) return undefined;
    const { written, resolved } = this.#space.path(text);
    return rules.find(written.includes(resolved) ? written : [...written, resolved]);
  }
}

interface PathRule {
  readonly rule: OriginRule;
  readonly pattern: PathPattern;
}

/** Path rules, ready to be compared with thousands of paths. */
class PathRules {
  readonly isEmpty: boolean;
  readonly #space: PathSpace;
  readonly #absolute: HeadIndex<PathRule>;
  readonly #relative: HeadIndex<PathRule>;

  constructor(rules: readonly OriginRule[], space: PathSpace) {
    const absolute: [string, PathRule][] = [];
    const relative: [string, PathRule][] = [];
    for (const rule of rules) {
      const found = pathPatterns(rule.pattern ?? "", { space, generous: true });
      const list = found.absolute ? absolute : relative;
      list.push(...found.patterns.map((pattern): [string, PathRule] => [pattern.head, { rule, pattern }]));
    }
    this.isEmpty = rules.length === 0;
    this.#space = space;
    this.#absolute = new HeadIndex(absolute);
    this.#relative = new HeadIndex(relative);
  }

  find(forms: readonly string[]): OriginRule | undefined {
    for (const each of forms) {
      const form = this.#space.ignoreCase ? fold(each) : each;
      const fits = ({ pattern }: PathRule): boolean => pattern.matches(form);
      const found = this.#absolute.find(form, fits) ?? this.#inside(each);
      if (found !== undefined) return found.rule;
    }
    return undefined;
  }

  #inside(path: string): PathRule | undefined {
    for (const each of this.#space.insideForms(path)) {
      const form = this.#space.ignoreCase ? fold(each) : each;
      const found = this.#relative.find(form, ({ pattern }) => pattern.matches(form));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Programs whose words are texts. */
const PRINTING = new Set(["echo", "printf", "test", "[", "which", "type"]);

function pathsFrom(folders: readonly string[], path: string): readonly string[] {
  return folders === START ? [path] : folders.map((folder) => pathFrom(folder, path));
}

function pathsIn(word: string): readonly string[] {
  if (!/[=:@,]/.test(word)) return word.startsWith("-") ? [word.replace(/^-+[A-Za-z]?/, "")] : [word];
  return [word, ...word.split(/[=:@,]/)].filter((piece) => !piece.startsWith("-"));
}
