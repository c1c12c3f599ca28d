import { parseRule } from "./parse-rule.ts";
import type { OriginRule } from "./rule.ts";

/** Rules that answers of this session brought. A policy given this sees new ones from the next call on. */
export class SessionRules {
  #rules: readonly OriginRule[] = [];

  /** The rules so far, in the order they came. Another list after each change. */
  get rules(): readonly OriginRule[] {
    return this.#rules;
  }

  /** Allows what rules describe until the returned function is called. Throws `invalid_config`: no rule. */
  lend(texts: readonly string[]): () => void {
    const lent = texts.flatMap((text) => parseRule(text, "allow")).map(ofSession);
    this.#rules = [...this.#rules, ...lent];
    return () => {
      this.#rules = this.#rules.filter((rule) => !lent.includes(rule));
    };
  }

  /** Allows what a rule describes until the session ends. Throws `invalid_config` for another text. */
  allow(text: string): void {
    this.lend([text]);
  }

  /** Allows edits in the workspace until the session ends; protected places and key files still ask. */
  allowEdits(): void {
    this.lend(["write(**)", "edit(**)"]);
  }
}

function ofSession(rule: Omit<OriginRule, "origin">): OriginRule {
  return { ...rule, origin: "session" };
}
