import { type AgentEvent, type PhaseEvent, type SubagentEvent } from "../core/agent/entries.ts";
import type { PendingCall, RunResult } from "../core/agent/result.ts";
import type { Json } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import { OpenSubagents } from "../journal/scopes.ts";
import { AgUiEncoder, type AgUiEvent, type AgUiInterrupt, type AgUiOutcome } from "./ag-ui-encoder.ts";

/** Options of {@link toAgUiEvents}. */
export interface AgUiOptions {
  /** Default: the session id. */
  readonly threadId?: string;
  /** Default: the id of the journal entry that started the run. */
  readonly runId?: string;
}

/**
 * A run as AG-UI events. Text and reasoning are streamed; a tool call is sent whole once the answer is final,
 * because a failed attempt leaves calls that never get a result. A retry ends the open message and appears as
 * `CUSTOM` `retry`; a phase of a pattern is a step; a subagent's events carry its `subagentRunId`. Calls
 * inside calls (`batch`) are left out. A run that asks for approval ends with the outcome `interrupt`, one
 * that leaves calls to the caller with `pendingToolCallIds`. Leaving the iteration early stops the run.
 */
export async function* toAgUiEvents(
  events: AsyncIterable<AgentEvent>,
  options: AgUiOptions = {},
): AsyncGenerator<AgUiEvent, void, undefined> {
  const translation = new Translation(options);
  for await (const event of events) yield* translation.of(event);
}

class Translation {
  readonly #options: AgUiOptions;
  #threadId = "";
  #runId = "";
  #messages = 0;
  #step: string | undefined;
  readonly #newId = (): string => `${this.#runId}_${++this.#messages}`;
  readonly #run = new AgUiEncoder(this.#newId);
  readonly #subagents = new OpenSubagents<AgUiEncoder>();

  constructor(options: AgUiOptions) {
    this.#options = options;
  }

  of(event: AgentEvent): readonly AgUiEvent[] {
    switch (event.type) {
      case "run_start":
      case "run_resume":
        this.#threadId = this.#options.threadId ?? event.sessionId;
        this.#runId = this.#options.runId ?? event.id;
        return [{ type: "RUN_STARTED", threadId: this.#threadId, runId: this.#runId }];
      case "phase":
        return [...this.#run.encode(event), ...this.#phase(event)];
      case "subagent":
        return this.#subagent(event, undefined);
      case "done":
        return [
          ...this.#subagents.closeAll().flatMap((encoder) => abortedSubagent(encoder, event)),
          ...this.#run.encode(event),
          ...this.#endStep(),
          this.#end(event.result),
        ];
      default:
        return this.#run.encode(event);
    }
  }

  #subagent(wrapped: SubagentEvent, parent: string | undefined): readonly AgUiEvent[] {
    const { callId, agent, event } = wrapped;
    const encoder = this.#subagents.of(
      wrapped,
      () => new AgUiEncoder(this.#newId, event.type === "run_start" ? event.id : callId),
    );
    const subagentRunId = encoder?.subagentRunId;
    if (encoder === undefined || subagentRunId === undefined) return [];
    if (event.type === "subagent") return this.#subagent(event, subagentRunId);
    if (event.type === "run_start")
      return [
        {
          type: "SUBAGENT_STARTED",
          subagentRunId,
          name: agent,
          ...omitUndefined({ parentSubagentRunId: parent }),
          parentToolCallId: callId,
        },
      ];
    if (event.type !== "run_end") return encoder.encode(event);
    this.#subagents.close(wrapped);
    const { stopReason, error, detail } = event;
    const failed = FAILED.has(stopReason);
    return [
      ...encoder.encode(event),
      failed
        ? {
            type: "SUBAGENT_ERROR",
            subagentRunId,
            message: error?.message ?? detail ?? `The subagent ended with ${stopReason}.`,
            code: error?.code ?? stopReason,
          }
        : { type: "SUBAGENT_FINISHED", subagentRunId, result: { stopReason }, outcome: { type: "success" } },
    ];
  }

  #phase({ phase, round, step }: PhaseEvent): readonly AgUiEvent[] {
    const number = step ?? round;
    const started = number === undefined ? phase : `${phase} ${number}`;
    const ended = this.#endStep();
    this.#step = started;
    return [...ended, { type: "STEP_STARTED", stepName: started }];
  }

  #endStep(): readonly AgUiEvent[] {
    const step = this.#step;
    this.#step = undefined;
    return step === undefined ? [] : [{ type: "STEP_FINISHED", stepName: step }];
  }

  #end(result: RunResult): AgUiEvent {
    const { error, text, stopReason } = result;
    if (error !== undefined) return { type: "RUN_ERROR", message: error.message, code: error.code };
    return {
      type: "RUN_FINISHED",
      threadId: this.#threadId,
      runId: this.#runId,
      result: { text, stopReason },
      outcome: this.#outcome(result),
    };
  }

  #outcome({ stopReason, pending = [] }: RunResult): AgUiOutcome {
    if (stopReason === "aborted") return { type: "cancelled" };
    if (stopReason === "awaiting_approval")
      return { type: "interrupt", interrupts: pending.map((call) => interruptOf(call)) };
    const open = pending.filter(({ waitsFor }) => waitsFor === "result").map(({ callId }) => callId);
    return { type: "success", ...(open.length === 0 ? {} : { pendingToolCallIds: open }) };
  }
}

/** Stop reasons with which a subagent returns no report. */
const FAILED: ReadonlySet<StopReason> = new Set([
  "error",
  "aborted",
  "budget",
  "denied",
  "loop_detected",
  "refusal",
]);

/** Closes a subagent that never reported its end because the run ended first. */
function abortedSubagent(encoder: AgUiEncoder, done: AgentEvent): readonly AgUiEvent[] {
  const { subagentRunId } = encoder;
  if (subagentRunId === undefined) return [];
  return [
    ...encoder.encode(done),
    { type: "SUBAGENT_ERROR", subagentRunId, message: "The run ended around the subagent.", code: "aborted" },
  ];
}

/** Schema of an answer in a later run's `approvals`. */
const APPROVAL: { readonly [key: string]: Json } = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};

function interruptOf({ callId, name, input, waitsFor, reason, ...more }: PendingCall): AgUiInterrupt {
  return {
    id: callId,
    reason: "tool_call",
    ...omitUndefined({ message: reason }),
    toolCallId: callId,
    ...(waitsFor === "approval" ? { responseSchema: APPROVAL } : {}),
    metadata: { waitsFor, name, input: input as { readonly [key: string]: Json }, ...more },
  };
}
