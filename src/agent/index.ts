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
export type { FinishPrintOptions } from "../plugins/finish-print.ts";
export type {
  ActingArguments,
  HookArguments,
  HookedAgent,
  HookMoment,
  HookOutputs,
  PostHook,
  PreHook,
} from "../plugins/hook.ts";
export type { HookSettings } from "../plugins/hook-registry.ts";
export type { LoopGuardOptions } from "../plugins/loop-guard.ts";
export type { StopState, StopWhen } from "../plugins/stop-when.ts";
export type { AgentLoopOptions } from "./agent-loop.ts";
export type { SteeringMessage } from "./agent-session.ts";
export type { CallbackEvent, Callbacks } from "./agent-stream.ts";
export type { OutputOf } from "./options.ts";
