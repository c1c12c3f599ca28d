import { HeadIndex } from "./head-index.ts";
import { type FixedRange, TextPattern } from "./match-text.ts";
import { fold } from "./paths/match-path.ts";
import type { OriginRule } from "./rule.ts";
import { globFits } from "./secret-files.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import { byRule, type Verdict } from "./verdict.ts";

interface TextRule {
  readonly rule: OriginRule;
  readonly pattern: TextPattern;
}

/** Rules on the texts of commands, ready to be compared with thousands of them. */
export class CommandRules {
  /** The first rule without a pattern. */
  readonly whole: OriginRule | undefined;
  readonly #compiled: readonly TextRule[];
  readonly #index: HeadIndex<TextRule>;
  readonly #ignoreCase: boolean;

  constructor(rules: readonly OriginRule[], { ignoreCase = false }: { readonly ignoreCase?: boolean } = {}) {
    this.#ignoreCase = ignoreCase;
    this.whole = rules.find(({ pattern }) => pattern === undefined);
    this.#compiled = rules.flatMap((rule) =>
      rule.pattern === undefined
        ? []
        : [{ rule, pattern: new TextPattern(ignoreCase ? fold(rule.pattern) : rule.pattern) }],
    );
    this.#index = new HeadIndex(this.#compiled.map((each) => [each.pattern.head, each]));
  }

  /** True when there is any rule. */
  get any(): boolean {
    return this.whole !== undefined || !this.isEmpty;
  }

  /** True when there is no rule with a pattern. */
  get isEmpty(): boolean {
    return this.#compiled.length === 0;
  }

  /** The first rule whose pattern describes `text`; only its literal characters may meet fixed ranges. */
  find(text: string, fixed: readonly FixedRange[] = []): OriginRule | undefined {
    const form = this.#ignoreCase ? fold(text) : text;
    return this.#index.find(form, ({ pattern }) => pattern.matches(form, fixed))?.rule;
  }

  /** The first rule for a command whose name is a pattern of file names; `rest` follows the name. */
  findByGlob(glob: string, rest: string): OriginRule | undefined {
    const wanted = this.#ignoreCase ? fold(glob) : glob;
    const first = /^[^*?[+@!]/.exec(wanted)?.[0] ?? "";
    return this.#compiled.find(({ pattern }) => {
      const name = /^[^\s*]+/.exec(pattern.pattern)?.[0] ?? "";
      if (name === "" || !name.startsWith(first) || !globFits(wanted, name)) return false;
      const form = name + rest;
      return pattern.matches(this.#ignoreCase ? fold(form) : form);
    })?.rule;
  }

  /** The first rule with an operator of the shell in it that describes a whole line. */
  findByLine(line: string): OriginRule | undefined {
    const form = this.#ignoreCase ? fold(line) : line;
    return this.#compiled.find(({ pattern }) => /[|&;<>]/.test(pattern.pattern) && pattern.matches(form))
      ?.rule;
  }
}

function ruleAgainst(rules: CommandRules, unit: ShellUnit): OriginRule | undefined {
  const own = rules.find(unit.text);
  if (own !== undefined) return own;
  for (const alias of unit.aliases) {
    const found = rules.find(alias);
    if (found !== undefined) return found;
  }
  if (unit.globName === undefined) return undefined;
  return rules.findByGlob(unit.globName, unit.text.slice(unit.words[0]?.text.length ?? 0));
}

/** The first rule against any of the commands, or against what their options run. */
export function firstAgainst(rules: CommandRules, units: readonly ShellUnit[]): Verdict | undefined {
  for (const unit of units) {
    const rule = ruleAgainst(rules, unit);
    if (rule !== undefined) return byRule(rule, unit.text);
    for (const { program } of unit.guards) {
      const verdict = program === undefined ? undefined : firstAgainst(rules, program);
      if (verdict !== undefined) return verdict;
    }
  }
  return undefined;
}
