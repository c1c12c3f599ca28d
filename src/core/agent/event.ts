import type { NanoAgentError } from "../base/errors.ts";
import type { ToolUpdate } from "../tool/tool.ts";
import type { JournalEntry } from "./entry.ts";
import type { RunResult } from "./result.ts";

/** A model request is about to be made. `iteration` counts from 1 within the run. */
export interface TurnStartEvent {
  readonly type: "turn_start";
  readonly iteration: number;
}

/** New text of the answer. */
export interface TextDeltaEvent {
  readonly type: "text_delta";
  readonly text: string;
}

/** New text of the reasoning. */
export interface ThinkingDeltaEvent {
  readonly type: "thinking_delta";
  readonly text: string;
}

/** The model began to write a tool call. */
export interface ToolCallStartEvent {
  readonly type: "tool_call_start";
  readonly callId: string;
  readonly name: string;
}

/** A piece of the JSON text of a call's arguments. For display: the assistant message has the parsed value. */
export interface ToolCallDeltaEvent {
  readonly type: "tool_call_delta";
  readonly callId: string;
  readonly json: string;
}

/** Progress of a running tool. */
export interface ToolUpdateEvent extends ToolUpdate {
  readonly type: "tool_update";
  readonly callId: string;
  readonly name: string;
}

/** A model request failed and is made again. The deltas of this turn so far are void. */
export interface RetryEvent {
  readonly type: "retry";
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: NanoAgentError;
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
 * What a run publishes, in order: journal entries as they are written, and between them ephemeral deltas. Exactly one `done` event
 * ends it.
 */
export type AgentEvent =
  | JournalEntry
  | TurnStartEvent
  | TextDeltaEvent
  | ThinkingDeltaEvent
  | ToolCallStartEvent
  | ToolCallDeltaEvent
  | ToolUpdateEvent
  | RetryEvent
  | WarningEvent
  | DoneEvent;
