export { Agent } from "./agent/agent.ts";
export { agentLoop } from "./agent/agent-loop.ts";
export type { AgentState } from "./agent/agent-session.ts";
export type { AgentStream } from "./agent/agent-stream.ts";
export type { AgentOptions, RunOptions } from "./agent/options.ts";
export type { JournalEntry } from "./core/agent/entry.ts";
export type { AgentEvent } from "./core/agent/event.ts";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approver,
  Gate,
  GateDecision,
  GateRequest,
  UnaskedYes,
} from "./core/agent/gate.ts";
export type { Journal } from "./core/agent/journal.ts";
export { MemoryJournal } from "./core/agent/memory-journal.ts";
export type { PendingCall } from "./core/agent/result.ts";
export { MaxIterationsError, RunError, type RunResult } from "./core/agent/result.ts";
export { type ErrorCode, isNanoAgentError, type Json, NanoAgentError } from "./core/base/errors.ts";
export type { JsonSchema } from "./core/base/schema.ts";
export type { StopReason } from "./core/base/stop-reason.ts";
export type {
  ContentBlock,
  ImageBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "./core/message/block.ts";
export type { GivenMessage, Input } from "./core/message/given-message.ts";
export {
  type AssistantMessage,
  assistantMessage,
  type Message,
  messageText,
  textOf,
  toolCallsOf,
  type UserMessage,
  userMessage,
} from "./core/message/message.ts";
export { repairTranscript, transcriptViolations } from "./core/message/transcript.ts";
export { addUsage, NO_USAGE, type Usage } from "./core/message/usage.ts";
export { collect } from "./core/model/collect.ts";
export { fallbackModel, isFallbackError } from "./core/model/fallback.ts";
export type { Budget } from "./core/model/ledger.ts";
export type { Effort, Model, ModelRequest, StreamPart, ToolChoice } from "./core/model/model.ts";
export { defineTool } from "./core/tool/define-tool.ts";
export { ToolRegistry } from "./core/tool/registry.ts";
export type { Tool, ToolContext, ToolDefinition, ToolOutput, ToolResult } from "./core/tool/tool.ts";
export { InMemoryMemory } from "./memory/in-memory-memory.ts";
export { PlanAndSolveAgent } from "./patterns/plan-and-solve-agent.ts";
export { ReActAgent } from "./patterns/react-agent.ts";
export { ReflectionAgent } from "./patterns/reflection-agent.ts";
export { SimpleAgent } from "./patterns/simple-agent.ts";
export { UserAgent } from "./patterns/user-agent.ts";
export { finishPrintHook } from "./plugins/finish-print.ts";
export { HOOK_POINTS, type Hook, type HookOptions, type HookPoint } from "./plugins/hook.ts";
export { HookRegistry } from "./plugins/hook-registry.ts";
