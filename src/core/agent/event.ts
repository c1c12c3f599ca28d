import type { TextDelta, ThinkingDelta, ToolCallDelta, ToolCallStart } from "../model/model.ts";
import type { ToolUpdate } from "../tool/tool.ts";
import type { CompactionReason, JournalEntry } from "./entry.ts";
import type { RunResult } from "./result.ts";

/** A model request is about to be made. `iteration` counts from 1 within the run. */
export interface TurnStartEvent {
  readonly type: "turn_start";
  readonly iteration: number;
}

/** Progress of a running tool. */
export interface ToolUpdateEvent extends ToolUpdate {
  readonly type: "tool_update";
  readonly callId: string;
  readonly name: string;
}

/** A phase of a pattern begins: what follows, up to the next one, belongs to it. */
export interface PhaseEvent {
  readonly type: "phase";
  /**
   * Planning: `planning`, `execution`, `final_answer`. Reflecting: `initial_execution`, `reflection`,
   * `refinement`.
   */
  readonly phase:
    | "planning"
    | "execution"
    | "final_answer"
    | "initial_execution"
    | "reflection"
    | "refinement";
  /** Counts from 1: the round of reflection, or of planning. */
  readonly round?: number;
  /** Counts from 1: the step of the plan. */
  readonly step?: number;
  /** The plan as it stands, while it is executed. */
  readonly plan?: readonly string[];
}

/**
 * Something that happened in a subagent: an event of its run, which in turn may be one of a subagent of its
 * own. Wrapped, so that its words are never taken for those of the run around it. It begins with `run_start`
 * and ends with `run_end`; it has no `done`.
 */
export interface SubagentEvent {
  readonly type: "subagent";
  /** The tool call that started the subagent. */
  readonly callId: string;
  /** Counts the subagents of that call from 1; absent for the first one. */
  readonly number?: number;
  /** Name of the subagent. */
  readonly agent: string;
  readonly event: AgentEvent;
}

/** Code plugged into the agent failed; the run goes on. */
export interface WarningEvent {
  readonly type: "warning";
  readonly message: string;
}

/** A compaction begins, which may take a model request. A `compaction` entry or a `warning` follows. */
export interface CompactionStartEvent {
  readonly type: "compaction_start";
  readonly reason: CompactionReason;
}

/** The last event of every run. */
export interface DoneEvent {
  readonly type: "done";
  readonly result: RunResult;
}

/**
 * The events of a run, in order: journal entries as they are written (a `retry` voids the deltas of its turn
 * so far), and between them ephemeral parts: the deltas of the model's stream as they arrive, progress of
 * tools. Exactly one `done` event ends it.
 */
export type AgentEvent =
  | JournalEntry
  | TurnStartEvent
  | TextDelta
  | ThinkingDelta
  | ToolCallStart
  | ToolCallDelta
  | ToolUpdateEvent
  | PhaseEvent
  | CompactionStartEvent
  | SubagentEvent
  | WarningEvent
  | DoneEvent;
