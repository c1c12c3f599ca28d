/// <reference types="node" preserve="true" />
export type { Approvals } from "../core/agent/ports.ts";
export type { DecisionCode } from "../core/agent/result.ts";
export type { Redaction, RedactionStream } from "../core/base/text.ts";
export type {
  SandboxCommand as CommandToConfine,
  SandboxedCommand as ConfinedStart,
} from "../system/command-sandbox.ts";
export type { Environment as Variables } from "../system/env.ts";
export type { ApprovalPrompt, ApprovalQuestion, ApprovalReply } from "./approver.ts";
export { type ApproverOptions, createApprover } from "./approver.ts";
export { describeDefaults } from "./built-in-rules.ts";
export type { PathSpaceOptions } from "./path-space.ts";
export type { SandboxState } from "./permission-mode.ts";
export { PERMISSION_MODES, type PermissionMode } from "./permission-mode.ts";
export {
  createPolicy,
  type PermissionCheck,
  PermissionManager,
  type PermissionManagerOptions,
  type Policy,
  type PolicyCall,
  type PolicyDecision,
  PolicyGate,
  type PolicyGateOptions,
  type PolicyOptions,
} from "./policy.ts";
export {
  DEFAULT_RULES,
  HIGH_SECURITY_RULES,
  parseRule,
  parseRules,
  READONLY_RULES,
  type Rule,
  type RuleAction,
  ruleText,
  SessionRules,
  TRUSTED_RULES,
} from "./rule.ts";
export { type OpenedSandbox, openSandbox, type Sandbox } from "./sandbox/open-sandbox.ts";
export type { SandboxOptions } from "./sandbox/sandbox-limits.ts";
export {
  type CommandEnvironment,
  type CommandEnvironmentOptions,
  commandEnvironment,
} from "./secrets/command-environment.ts";
export type { Secret } from "./secrets/create-redaction.ts";
export { createRedaction, type RedactionOptions, secretsOf } from "./secrets/create-redaction.ts";
export type { PolicyCode } from "./verdict.ts";
