import { parseRule } from "./parse-rule.ts";
import { type OriginRule, ruleText } from "./rule.ts";

/** How far an answer to a question reaches: this call, the calls of this session, or all to come. */
export type ApprovalScope = "once" | "session" | "always";

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
    const lent = rules
      .flatMap((text) => parseRule(text, "allow"))
      .map((rule): OriginRule => ({ ...rule, origin: "session" }));
    this.#lent.add(lent);
    this.#revision++;
    return () => {
      if (this.#lent.delete(lent)) this.#revision++;
    };
  }

  /**
   * Takes a yes to a question that showed `suggestion`. `once` leaves nothing behind; `session` allows what
   * the shown rule describes from now on; `always` does too, and returns the rule to be written down: exactly
   * the text that was shown. Throws `invalid_config` for a text that is no rule.
   */
  accept(suggestion: string, scope: ApprovalScope): string | undefined {
    if (scope === "once") return undefined;
    this.#revision++;
    for (const rule of parseRule(suggestion, "allow")) {
      if (!this.#rules.some((known) => ruleText(known) === ruleText(rule)))
        this.#rules.push({ ...rule, origin: "session" });
    }
    return scope === "always" ? suggestion : undefined;
  }
}
