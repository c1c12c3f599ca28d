export type {
  CompactionStartEvent,
  DoneEvent,
  PhaseEvent,
  SubagentEvent,
  ToolUpdateEvent,
  TurnStartEvent,
  WarningEvent,
} from "../core/agent/entries.ts";
export type { MaxIterationsContext, OnMaxIterations } from "../core/agent/run.ts";
export type { NanoAgentErrorOptions } from "../core/base/errors.ts";
export { SharedBudget } from "../core/model/budget.ts";
export type { FinishPrintOptions } from "../hooks/finish-tool.ts";
export type {
  ActingArguments,
  HookArguments,
  HookedAgent,
  HookMoment,
  HookOutputs,
  PostHook,
  PreHook,
} from "../hooks/hook.ts";
export type { HookSettings } from "../hooks/hooks.ts";
export type { LoopGuardOptions } from "../hooks/loop-guard.ts";
export type { StopState, StopWhen } from "../hooks/stop-when.ts";
export type { AgentLoopOptions } from "./agent-loop.ts";
export type { SteeringMessage } from "./agent-session.ts";
export type { CallbackEvent, Callbacks } from "./agent-stream.ts";
export type { OutputOf } from "./options.ts";
