export { Agent } from "./agent/agent.ts";
export type { AgentState } from "./agent/agent-session.ts";
export type { AgentStream } from "./agent/agent-stream.ts";
export type { CallbackEvent, Callbacks } from "./agent/callbacks.ts";
export type { AgentOptions, CompactOptions, OutputOf, RunOptions } from "./agent/options.ts";
export type { SteeringMessage } from "./agent/steering.ts";
export { type AgentLoopOptions, agentLoop } from "./app/agent-loop.ts";
export type { CheckpointedCall, Checkpointer } from "./core/agent/checkpointer.ts";
export type {
  ApprovalRequestEntry,
  AssistantEntry,
  BudgetLimit,
  CheckpointEntry,
  CompactionEntry,
  CompactionReason,
  CompactionUndoneEntry,
  EntryBase,
  HistoryEntry,
  JournalEntry,
  LoopCircle,
  MemoryEditEntry,
  ModeChangeEntry,
  ModelChangeEntry,
  ModelUsageEntry,
  NewEntry,
  NoteEntry,
  PermissionEntry,
  RecordedError,
  RetryEntry,
  RollbackEndEntry,
  RollbackEntry,
  RunEndEntry,
  RunResumeEntry,
  RunStartEntry,
  SystemRemark,
  ToolIntentEntry,
  ToolResultEntry,
  ToolStatus,
  UserEntry,
} from "./core/agent/entry.ts";
export type {
  AgentEvent,
  CompactionStartEvent,
  DoneEvent,
  PhaseEvent,
  SubagentEvent,
  ToolUpdateEvent,
  TurnStartEvent,
  WarningEvent,
} from "./core/agent/event.ts";
export type { FileChange, FileVersion, Omission, OmissionReason } from "./core/agent/file-change.ts";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  Approvals,
  Approver,
  DecisionCode,
  Gate,
  GateDecision,
  GateRequest,
} from "./core/agent/gate.ts";
export type { Journal } from "./core/agent/journal.ts";
export type { Budget } from "./core/agent/ledger.ts";
export { MemoryJournal } from "./core/agent/memory-journal.ts";
export type { PendingCall } from "./core/agent/result.ts";
export { MaxIterationsError, RunError, type RunResult } from "./core/agent/result.ts";
export type { ConversationMemory, MaxIterationsContext, OnMaxIterations } from "./core/agent/run-context.ts";
export {
  type ErrorCode,
  isNanoAgentError,
  type Json,
  NanoAgentError,
  type NanoAgentErrorOptions,
} from "./core/base/errors.ts";
export type { Redaction, RedactionStream } from "./core/base/redaction.ts";
export type {
  CompiledSchema,
  FromJsonSchema,
  InferSchema,
  JsonSchema,
  SchemaInput,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from "./core/base/schema.ts";
export type { StopReason } from "./core/base/stop-reason.ts";
export type {
  AssistantBlock,
  ContentBlock,
  ImageBlock,
  InvalidInput,
  ProviderData,
  TextBlock,
  ThinkingBlock,
  ToolInput,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
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
export { type CollectedAnswer, collect } from "./core/model/collect.ts";
export { type FallbackOptions, fallbackModel, isFallbackError } from "./core/model/fallback.ts";
export type {
  BlockPart,
  Effort,
  FinishPart,
  FinishReason,
  Model,
  ModelCallOptions,
  ModelInfo,
  ModelPrice,
  ModelRequest,
  RetryPart,
  StreamPart,
  TextDelta,
  ThinkingDelta,
  ToolCallDelta,
  ToolCallStart,
  ToolChoice,
  ToolSpec,
} from "./core/model/model.ts";
export { defineTool } from "./core/tool/define-tool.ts";
export { ToolRegistry } from "./core/tool/registry.ts";
export type {
  SubagentOutcome,
  SubagentTask,
  Tool,
  ToolAccess,
  ToolContext,
  ToolDefinition,
  ToolOutput,
  ToolResult,
  ToolUpdate,
} from "./core/tool/tool.ts";
export type {
  Compaction,
  CompactionPreview,
  CompactionTask,
  Compactor,
  ContextView,
} from "./memory/context/compactor.ts";
export {
  InMemoryMemory,
  type MemoryChoice,
  type MemoryFilter,
  type MemoryHost,
  type MemoryItem,
} from "./memory/in-memory-memory.ts";
export type {
  LongTermMemory,
  LongTermMemoryMode,
  LongTermMemoryOptions,
  Recollection,
  Recordable,
  RecordContext,
  RecordOutcome,
  RetrieveOptions,
} from "./memory/long-term-memory.ts";
export type { LoopPatternOptions } from "./patterns/conduct-loop.ts";
export type { AskPerson, LineReader, PersonInput } from "./patterns/person-input.ts";
export { PlanAndSolveAgent } from "./patterns/plan-and-solve-agent.ts";
export type { PlanAndSolveAgentOptions } from "./patterns/plan-options.ts";
export { ReActAgent, type ReActAgentOptions } from "./patterns/react-agent.ts";
export { ReflectionAgent, type ReflectionAgentOptions } from "./patterns/reflection-agent.ts";
export { SimpleAgent, type SimpleAgentOptions } from "./patterns/simple-agent.ts";
export { UserAgent, type UserAgentOptions } from "./patterns/user-agent.ts";
export { type FinishPrintOptions, finishPrintHook } from "./plugins/finish-print.ts";
export {
  type ActingArguments,
  HOOK_POINTS,
  type Hook,
  type HookArguments,
  type HookedAgent,
  type HookMoment,
  type HookOptions,
  type HookOutputs,
  type HookPoint,
  type PostHook,
  type PreHook,
} from "./plugins/hook.ts";
export { HookRegistry, type HookSettings } from "./plugins/hook-registry.ts";
export type { LoopGuardOptions } from "./plugins/loop-guard.ts";
