export type { CallbackEvent, Callbacks } from "../core/agent/callbacks.ts";
export type {
  CompactionStartEvent,
  DoneEvent,
  PhaseEvent,
  SubagentEvent,
  ToolUpdateEvent,
  TurnStartEvent,
  WarningEvent,
} from "../core/agent/event.ts";
export type { FinishPrintOptions } from "../core/agent/finish-print.ts";
export type {
  ActingArguments,
  HookArguments,
  HookedAgent,
  HookMoment,
  HookOutputs,
  PostHook,
  PreHook,
} from "../core/agent/hook.ts";
export type { HookSettings } from "../core/agent/hook-registry.ts";
export type { LoopGuardOptions } from "../core/agent/loop-guard.ts";
export type { MaxIterationsContext, OnMaxIterations, OutputOf } from "../core/agent/options.ts";
export type { SteeringMessage } from "../core/agent/steering.ts";
export type { NanoAgentErrorOptions } from "../core/base/errors.ts";
export type { AgentLoopOptions } from "./agent-loop.ts";
