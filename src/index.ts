export { Agent } from "./agent/agent.ts";
export { agentLoop } from "./agent/agent-loop.ts";
export type { AgentState } from "./agent/agent-session.ts";
export type { AgentStream } from "./agent/agent-stream.ts";
export type { AgentOptions, RunOptions } from "./agent/options.ts";
export type { AgentEvent, JournalEntry } from "./core/agent/entries.ts";
export { type Journal, MemoryJournal } from "./core/agent/journal.ts";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approver,
  Gate,
  GateDecision,
  GateRequest,
  UnaskedYes,
} from "./core/agent/ports.ts";
export { MaxIterationsError, type PendingCall, RunError, type RunResult } from "./core/agent/result.ts";
export { type ErrorCode, isNanoAgentError, type Json, NanoAgentError } from "./core/base/errors.ts";
export type { JsonSchema } from "./core/base/schema.ts";
export type { StopReason } from "./core/base/stop-reason.ts";
export type { GivenMessage, Input } from "./core/message/input.ts";
export type {
  ContentBlock,
  ImageBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from "./core/message/message.ts";
export {
  type AssistantMessage,
  addUsage,
  assistantMessage,
  type Message,
  messageText,
  NO_USAGE,
  textOf,
  toolCallsOf,
  type Usage,
  type UserMessage,
  userMessage,
} from "./core/message/message.ts";
export { repairTranscript, transcriptViolations } from "./core/message/transcript.ts";
export { collect } from "./core/model/answer.ts";
export type { Budget } from "./core/model/budget.ts";
export type { Effort, Model, ModelRequest, StreamPart, ToolChoice } from "./core/model/model.ts";
export {
  defineTool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolOutput,
  ToolRegistry,
  type ToolResult,
} from "./core/tool/tool.ts";
export { finishPrintHook } from "./hooks/finish-tool.ts";
export { HOOK_POINTS, type Hook, type HookOptions, type HookPoint } from "./hooks/hook.ts";
export { HookRegistry } from "./hooks/hooks.ts";
export { InMemoryMemory } from "./memory/in-memory-memory.ts";
export { PlanAndSolveAgent } from "./patterns/plan-and-solve-agent.ts";
export { ReActAgent } from "./patterns/react-agent.ts";
export { ReflectionAgent } from "./patterns/reflection-agent.ts";
export { SimpleAgent } from "./patterns/simple-agent.ts";
export { UserAgent } from "./patterns/user-agent.ts";
export { fallbackModel, isFallbackError } from "./providers/fallback.ts";
