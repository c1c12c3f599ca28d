import { CommandRules } from "./command-rules.ts";
import type { PathSpace } from "./paths/path-space.ts";
import type { OriginRule } from "./rule.ts";
import type { RuleSet } from "./rule-set.ts";
import { WordRules } from "./word-rules.ts";

const TOOL = "bash";

/** The rules that command lines fall under, ready to be compared with long ones. */
export class ShellRules {
  readonly deny: CommandRules;
  readonly ask: CommandRules;
  readonly allow: CommandRules;
  /** The allow rule for every command. */
  readonly wholeAllow: OriginRule | undefined;
  readonly #words: Readonly<Record<"deny" | "ask", WordRules>>;

  constructor(rules: RuleSet, space: PathSpace) {
    const { ignoreCase } = space;
    this.deny = new CommandRules(rules.forTool("deny", TOOL), { ignoreCase });
    this.ask = new CommandRules(rules.forTool("ask", TOOL), { ignoreCase });
    this.allow = new CommandRules(rules.forTool("allow", TOOL));
    this.wholeAllow = rules.whole("allow", TOOL);
    this.#words = {
      deny: new WordRules("deny", { rules, space }),
      ask: new WordRules("ask", { rules, space }),
    };
  }

  /** True when there is any deny or ask rule. */
  get refuses(): boolean {
    return this.deny.any || this.ask.any || !this.#words.deny.isEmpty || !this.#words.ask.isEmpty;
  }

  /** Rules for files, as far as the words of commands show these. */
  words(action: "deny" | "ask"): WordRules {
    return this.#words[action];
  }
}
