import type { RetryPart, TextDelta, ThinkingDelta, ToolCallDelta, ToolCallStart } from "../model/model.ts";
import type { ToolUpdate } from "../tool/tool.ts";
import type { JournalEntry } from "./entry.ts";
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

/** Code plugged into the agent failed; the run goes on. */
export interface WarningEvent {
  readonly type: "warning";
  readonly message: string;
}

/** The last event of every run. */
export interface DoneEvent {
  readonly type: "done";
  readonly result: RunResult;
}

/**
 * What a run publishes, in order: journal entries as they are written, and between them ephemeral parts: the deltas of the model's
 * stream as they arrive, progress of tools, retries (which void the deltas of their turn so far). Exactly one `done` event ends it.
 */
export type AgentEvent =
  | JournalEntry
  | TurnStartEvent
  | TextDelta
  | ThinkingDelta
  | ToolCallStart
  | ToolCallDelta
  | RetryPart
  | ToolUpdateEvent
  | WarningEvent
  | DoneEvent;
