import type { RunResult } from "../core/agent/result.ts";
import type { Json } from "../core/base/errors.ts";

/** Whose an event is: that of a subagent, or, without the id, the run's own. */
interface RunAttributes {
  readonly subagentRunId?: string;
}

/** A question a run was left with. A later run answers it: `approvals: { [id]: … }`. */
export interface AgUiInterrupt {
  /** Id of the tool call. */
  readonly id: string;
  readonly reason: "tool_call";
  readonly message?: string;
  readonly toolCallId: string;
  readonly responseSchema?: { readonly [key: string]: Json };
  readonly metadata: { readonly [key: string]: Json };
}

/** How a run ended, for the protocol. */
export type AgUiOutcome =
  | { readonly type: "success"; readonly pendingToolCallIds?: string[] }
  | { readonly type: "interrupt"; readonly interrupts: AgUiInterrupt[] }
  | { readonly type: "cancelled" };

/** Events of AG-UI 1.0, as far as a run has them. Source: https://docs.ag-ui.com/concepts/events */
export type AgUiEvent =
  | { readonly type: "RUN_STARTED"; readonly threadId: string; readonly runId: string }
  | {
      readonly type: "RUN_FINISHED";
      readonly threadId: string;
      readonly runId: string;
      readonly result: { readonly text: string; readonly stopReason: RunResult["stopReason"] };
      readonly outcome: AgUiOutcome;
    }
  | { readonly type: "RUN_ERROR"; readonly message: string; readonly code: string }
  | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
  | {
      readonly type: "SUBAGENT_STARTED";
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentSubagentRunId?: string;
      readonly parentToolCallId: string;
    }
  | {
      readonly type: "SUBAGENT_FINISHED";
      readonly subagentRunId: string;
      readonly result: { readonly stopReason: RunResult["stopReason"] };
      readonly outcome: { readonly type: "success" };
    }
  | {
      readonly type: "SUBAGENT_ERROR";
      readonly subagentRunId: string;
      readonly message: string;
      readonly code: string;
    }
  | AgUiVoiceEvent;

/** Events that are one run's or one subagent's. */
export type AgUiVoiceEvent = RunAttributes &
  (
    | { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string; readonly role: "assistant" }
    | { readonly type: "TEXT_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
    | { readonly type: "TEXT_MESSAGE_END"; readonly messageId: string }
    | {
        readonly type: "REASONING_START" | "REASONING_END" | "REASONING_MESSAGE_END";
        readonly messageId: string;
      }
    | { readonly type: "REASONING_MESSAGE_START"; readonly messageId: string; readonly role: "reasoning" }
    | { readonly type: "REASONING_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
    | { readonly type: "TOOL_CALL_START"; readonly toolCallId: string; readonly toolCallName: string }
    | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
    | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
    | {
        readonly type: "TOOL_CALL_RESULT";
        readonly messageId: string;
        readonly toolCallId: string;
        readonly content: string;
        readonly role: "tool";
      }
    | { readonly type: "CUSTOM"; readonly name: string; readonly value: Json }
  );
