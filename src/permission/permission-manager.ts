import type { Gate, GateDecision, GateRequest } from "../core/agent/gate.ts";
import { parseRules } from "./parse-rule.ts";
import { createPolicy, type Policy, type PolicyOptions } from "./policy.ts";
import { toGateDecision } from "./policy-gate.ts";
import { DEFAULT_RULES, type Rule, type RuleAction } from "./rule.ts";

/** A call as {@link PermissionManager} takes it. */
export interface PermissionCheck {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Paths or commands the call is about, where its arguments do not show them as `path` or `command`. */
  readonly patterns?: readonly string[];
}

/** What a {@link PermissionManager} decides by. */
export interface PermissionManagerOptions extends Omit<PolicyOptions, "rules"> {
  /** Default {@link DEFAULT_RULES}. */
  readonly rules?: readonly Rule[];
}

/** Rules over one engine with a short answer: allow, deny or ask. Ask means deny where nobody can be asked. */
export class PermissionManager implements Gate {
  readonly #options: Omit<PolicyOptions, "rules">;
  #rules: readonly Rule[];
  #policy: Policy;

  constructor({ rules = DEFAULT_RULES, ...options }: PermissionManagerOptions) {
    this.#options = { defaults: false, ...options };
    this.#rules = parseRules([...rules]);
    this.#policy = createPolicy({ ...this.#options, rules: this.#rules });
  }

  /** Decides about a call. Every pattern has to be allowed. */
  check({ tool, params, patterns }: PermissionCheck): RuleAction;
  check(request: GateRequest): GateDecision;
  check(call: PermissionCheck | GateRequest): RuleAction | GateDecision {
    if (!("params" in call)) {
      return toGateDecision(this.#policy.check({ tool: call.name, input: call.input }), call.input);
    }
    const { tool, params, patterns } = call;
    const key = tool === "bash" ? "command" : "path";
    const inputs =
      patterns === undefined || patterns.length === 0
        ? [params]
        : patterns.map((pattern) => ({ ...params, [key]: pattern }));
    const decisions = inputs.map((input) => this.#policy.check({ tool, input }).decision);
    return decisions.find((each) => each === "deny") ?? decisions.find((each) => each === "ask") ?? "allow";
  }

  /** Adds a rule. Throws `invalid_config` for a malformed one. */
  addRule(rule: Rule): void {
    this.#rules = [...parseRules([rule]), ...this.#rules];
    this.#policy = createPolicy({ ...this.#options, rules: this.#rules });
  }
}
