export type { ApprovalPrompt, ApprovalQuestion, ApprovalReply } from "./approval-prompt.ts";
export { type ApproverOptions, createApprover } from "./approver.ts";
export { describeDefaults } from "./built-in-rules.ts";
export { type CheckedLine, type CheckLineBase, checkLine } from "./check-lines.ts";
export { lintRules, type RuleFinding } from "./lint-rules.ts";
export { parseRule, parseRules } from "./parse-rule.ts";
export type { PathSpaceOptions } from "./paths/path-space.ts";
export {
  type PermissionCheck,
  PermissionManager,
  type PermissionManagerOptions,
} from "./permission-manager.ts";
export { POLICY_MODES, type PolicyMode } from "./permission-mode.ts";
export {
  createPolicy,
  type Policy,
  type PolicyCall,
  type PolicyDecision,
  type PolicyOptions,
} from "./policy.ts";
export { PolicyGate, type PolicyGateOptions } from "./policy-gate.ts";
export { type Rule, type RuleAction, ruleText } from "./rule.ts";
export { DEFAULT_RULES, HIGH_SECURITY_RULES, READONLY_RULES, TRUSTED_RULES } from "./rule-sets.ts";
export { type ApprovalScope, SessionRules } from "./session-rules.ts";
