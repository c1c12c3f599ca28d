import { parseRule } from "./parse-rule.ts";
import { type OriginRule, ruleText } from "./rule.ts";

/** Edits inside the workspace. Protected places, key files and the user's own rules come before it. */
const EDITS: readonly OriginRule[] = ["write", "edit"].map((tool) => ({
  tool,
  pattern: "**",
  action: "allow",
  origin: "session",
}));

/** Rules that answers of this session brought. A policy given this sees new ones from the next call on. */
export class SessionRules {
  readonly #rules: OriginRule[] = [];
  readonly #lent = new Set<readonly OriginRule[]>();
  #revision = 0;

  /** The rules so far, in the order they came. */
  get rules(): readonly OriginRule[] {
    return [...this.#rules, ...[...this.#lent].flat()];
  }

  /** Counts up with each change. */
  get revision(): number {
    return this.#revision;
  }

  /** Allows what rules describe until the returned function is called. Throws `invalid_config`: no rule. */
  lend(rules: readonly string[]): () => void {
    const lent = rules.flatMap(allowing);
    this.#lent.add(lent);
    this.#revision++;
    return () => {
      if (this.#lent.delete(lent)) this.#revision++;
    };
  }

  /**
   * Allows what a rule describes until the session ends. Throws `invalid_config` for a text that is no rule.
   */
  allow(rule: string): void {
    this.#add(allowing(rule));
  }

  /** Allows edits inside the workspace until the session ends. */
  allowEdits(): void {
    this.#add(EDITS);
  }

  #add(rules: readonly OriginRule[]): void {
    for (const rule of rules) {
      if (this.#rules.some((known) => ruleText(known) === ruleText(rule))) continue;
      this.#rules.push(rule);
      this.#revision++;
    }
  }
}

function allowing(text: string): readonly OriginRule[] {
  return parseRule(text, "allow").map((rule) => ({ ...rule, origin: "session" }));
}
