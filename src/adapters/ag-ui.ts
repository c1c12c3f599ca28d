import type { AssistantEntry, ToolResultEntry } from "../core/agent/entry.ts";
import type { AgentEvent, PhaseEvent } from "../core/agent/event.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { Json } from "../core/base/errors.ts";
import { textOf, toolCallsOf } from "../core/message/message.ts";

/** Events of the Agent-User Interaction Protocol, version 1.0, as far as a run has them. Source: https://docs.ag-ui.com/concepts/events */
export type AgUiEvent =
  | { readonly type: "RUN_STARTED"; readonly threadId: string; readonly runId: string }
  | {
      readonly type: "RUN_FINISHED";
      readonly threadId: string;
      readonly runId: string;
      readonly result: { readonly text: string; readonly stopReason: RunResult["stopReason"] };
      readonly outcome:
        | { readonly type: "success"; readonly pendingToolCallIds?: string[] }
        | { readonly type: "cancelled" };
    }
  | { readonly type: "RUN_ERROR"; readonly message: string; readonly code: string }
  | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
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
  | { readonly type: "CUSTOM"; readonly name: string; readonly value: Json };

/** How AG-UI events are made. */
export interface AgUiOptions {
  /** Default: the id of the session. */
  readonly threadId?: string;
  /** Default: the id of the journal entry that began the run. */
  readonly runId?: string;
}

/**
 * A run as AG-UI events. Text and reasoning are streamed; a tool call is told whole, once the answer stands, for an attempt that failed
 * leaves calls nobody would answer. A retry ends the message begun and is told as `CUSTOM` `retry`; a phase of a pattern is a step.
 * Calls inside calls (`batch`) are left out. A run left to the caller ends with `pendingToolCallIds`. Leaving the iteration early leaves the run.
 */
export async function* toAgUiEvents(
  events: AsyncIterable<AgentEvent>,
  options: AgUiOptions = {},
): AsyncGenerator<AgUiEvent, void, undefined> {
  const translation = new Translation(options);
  for await (const event of events) yield* translation.of(event);
}

type Stream = "text" | "thinking";

class Translation {
  readonly #options: AgUiOptions;
  #threadId = "";
  #runId = "";
  #messages = 0;
  #step: string | undefined;
  /** The message that is being streamed. */
  #open: { readonly kind: Stream; readonly id: string } | undefined;
  /** Calls without a result. */
  readonly #calls = new Set<string>();
  /** What was streamed of the answer at work. */
  #streamed = new Set<Stream>();

  constructor(options: AgUiOptions) {
    this.#options = options;
  }

  of(event: AgentEvent): readonly AgUiEvent[] {
    switch (event.type) {
      case "run_start":
        this.#threadId = this.#options.threadId ?? event.sessionId;
        this.#runId = this.#options.runId ?? event.id;
        return [{ type: "RUN_STARTED", threadId: this.#threadId, runId: this.#runId }];
      case "phase":
        return [...this.#close(), ...this.#phase(event)];
      case "turn_start":
        this.#streamed.clear();
        return this.#close();
      case "text_delta":
        return this.#delta("text", event.text);
      case "thinking_delta":
        return this.#delta("thinking", event.text);
      case "retry":
        this.#streamed.clear();
        return [...this.#close(), { type: "CUSTOM", name: "retry", value: { attempt: event.attempt } }];
      case "assistant_message":
        return this.#answer(event);
      case "tool_result":
        return event.parentCallId === undefined ? [this.#result(event)] : [];
      case "warning":
        return [{ type: "CUSTOM", name: "warning", value: event.message }];
      case "done":
        return [...this.#close(), ...this.#endStep(), this.#end(event.result)];
      default:
        return [];
    }
  }

  #delta(kind: Stream, delta: string): readonly AgUiEvent[] {
    if (delta === "") return [];
    this.#streamed.add(kind);
    const before = this.#open?.kind === kind ? [] : [...this.#close(), ...this.#begin(kind)];
    const id = this.#open?.id ?? "";
    const type = kind === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    return [...before, { type, messageId: id, delta }];
  }

  #begin(kind: Stream): readonly AgUiEvent[] {
    const id = this.#newId();
    this.#open = { kind, id };
    if (kind === "text") return [{ type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" }];
    return [
      { type: "REASONING_START", messageId: id },
      { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" },
    ];
  }

  #close(): readonly AgUiEvent[] {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return [];
    if (open.kind === "text") return [{ type: "TEXT_MESSAGE_END", messageId: open.id }];
    return [
      { type: "REASONING_MESSAGE_END", messageId: open.id },
      { type: "REASONING_END", messageId: open.id },
    ];
  }

  /** Models that do not stream say in the answer what no delta said. */
  #answer({ message }: AssistantEntry): readonly AgUiEvent[] {
    const whole = message.content.flatMap((block): readonly AgUiEvent[] => {
      if (block.type === "thinking" && !this.#streamed.has("thinking"))
        return [...this.#delta("thinking", block.thinking), ...this.#close()];
      if (block.type === "text" && !this.#streamed.has("text"))
        return [...this.#delta("text", block.text), ...this.#close()];
      return [];
    });
    this.#streamed.clear();
    this.#calls.clear();
    for (const { id } of toolCallsOf(message)) this.#calls.add(id);
    const calls = toolCallsOf(message).flatMap(({ id, name, input }): readonly AgUiEvent[] => [
      { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
      { type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify(input) },
      { type: "TOOL_CALL_END", toolCallId: id },
    ]);
    return [...this.#close(), ...whole, ...calls];
  }

  #result({ callId, result }: ToolResultEntry): AgUiEvent {
    this.#calls.delete(callId);
    return {
      type: "TOOL_CALL_RESULT",
      messageId: this.#newId(),
      toolCallId: callId,
      content: textOf(result.content, "\n"),
      role: "tool",
    };
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

  #end({ error, text, stopReason }: RunResult): AgUiEvent {
    if (error !== undefined) return { type: "RUN_ERROR", message: error.message, code: error.code };
    const pending = stopReason === "awaiting_external" ? [...this.#calls] : [];
    return {
      type: "RUN_FINISHED",
      threadId: this.#threadId,
      runId: this.#runId,
      result: { text, stopReason },
      outcome:
        stopReason === "aborted"
          ? { type: "cancelled" }
          : {
              type: "success",
              ...(pending.length === 0 ? {} : { pendingToolCallIds: pending }),
            },
    };
  }

  #newId(): string {
    return `${this.#runId}_${++this.#messages}`;
  }
}
