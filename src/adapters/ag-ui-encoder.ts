import type { AgentEvent, AssistantEntry, CompactionEntry, ToolResultEntry } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { Json } from "../core/base/errors.ts";
import { textOf, toolCallsOf } from "../core/message/message.ts";

type Stream = "text" | "thinking";

/** Translates the events of one run or subagent. Remembers the message being streamed. */
export class AgUiEncoder {
  /** Absent for the run itself. */
  readonly subagentRunId: string | undefined;
  readonly #newId: () => string;
  #open: { readonly kind: Stream; readonly id: string } | undefined;
  readonly #calls = new Set<string>();
  /** The kinds of text already streamed for the current answer. */
  readonly #streamed = new Set<Stream>();

  constructor(newId: () => string, subagentRunId?: string) {
    this.#newId = newId;
    this.subagentRunId = subagentRunId;
  }

  /** Announced calls without a result, in the order they were made. */
  get unanswered(): readonly string[] {
    return [...this.#calls];
  }

  /** The protocol's events for an event; empty if it has none. */
  encode(event: AgentEvent): readonly AgUiContentEvent[] {
    const events = this.#encode(event);
    const { subagentRunId } = this;
    return subagentRunId === undefined ? events : events.map((each) => ({ ...each, subagentRunId }));
  }

  #encode(event: AgentEvent): readonly AgUiContentEvent[] {
    switch (event.type) {
      case "turn_start":
        this.#streamed.clear();
        return this.#closeMessage();
      case "text_delta":
        return this.#delta("text", event.text);
      case "thinking_delta":
        return this.#delta("thinking", event.text);
      case "retry":
        this.#streamed.clear();
        return [
          ...this.#closeMessage(),
          { type: "CUSTOM", name: "retry", value: { attempt: event.attempt } },
        ];
      case "assistant_message":
        return this.#answer(event);
      case "tool_result":
        return event.parentCallId === undefined ? [this.#result(event)] : [];
      case "warning":
        return [{ type: "CUSTOM", name: "warning", value: event.message }];
      case "compaction_start":
        return [{ type: "CUSTOM", name: "compaction_start", value: { reason: event.reason } }];
      case "compaction":
        return [compaction(event)];
      case "phase":
      case "run_end":
      case "done":
        return this.#closeMessage();
      default:
        return [];
    }
  }

  #delta(kind: Stream, delta: string): readonly AgUiContentEvent[] {
    if (delta === "") return [];
    this.#streamed.add(kind);
    const opening = this.#open?.kind === kind ? [] : [...this.#closeMessage(), ...this.#openMessage(kind)];
    const id = this.#open?.id ?? "";
    const type = kind === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    return [...opening, { type, messageId: id, delta }];
  }

  #openMessage(kind: Stream): readonly AgUiContentEvent[] {
    const id = this.#newId();
    this.#open = { kind, id };
    if (kind === "text") return [{ type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" }];
    return [
      { type: "REASONING_START", messageId: id },
      { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" },
    ];
  }

  #closeMessage(): readonly AgUiContentEvent[] {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return [];
    if (open.kind === "text") return [{ type: "TEXT_MESSAGE_END", messageId: open.id }];
    return [
      { type: "REASONING_MESSAGE_END", messageId: open.id },
      { type: "REASONING_END", messageId: open.id },
    ];
  }

  /** A model that does not stream has text in its answer that no delta carried. */
  #answer({ message }: AssistantEntry): readonly AgUiContentEvent[] {
    const whole = message.content.flatMap((block): readonly AgUiContentEvent[] => {
      if (block.type === "thinking" && !this.#streamed.has("thinking"))
        return [...this.#delta("thinking", block.thinking), ...this.#closeMessage()];
      if (block.type === "text" && !this.#streamed.has("text"))
        return [...this.#delta("text", block.text), ...this.#closeMessage()];
      return [];
    });
    this.#streamed.clear();
    this.#calls.clear();
    for (const { id } of toolCallsOf(message)) this.#calls.add(id);
    const calls = toolCallsOf(message).flatMap(({ id, name, input }): readonly AgUiContentEvent[] => [
      { type: "TOOL_CALL_START", toolCallId: id, toolCallName: name },
      { type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify(input) },
      { type: "TOOL_CALL_END", toolCallId: id },
    ]);
    return [...this.#closeMessage(), ...whole, ...calls];
  }

  #result({ callId, result }: ToolResultEntry): AgUiContentEvent {
    this.#calls.delete(callId);
    return {
      type: "TOOL_CALL_RESULT",
      messageId: this.#newId(),
      toolCallId: callId,
      content: textOf(result.content, "\n"),
      role: "tool",
    };
  }
}

function compaction({ reason, method, tokensBefore, tokensAfter }: CompactionEntry): AgUiContentEvent {
  return { type: "CUSTOM", name: "compaction", value: { reason, method, tokensBefore, tokensAfter } };
}

/** Tells a subagent's events from the run's own, which have no id. */
interface RunAttributes {
  readonly subagentRunId?: string;
}

/** A question a run ended with. A later run answers it: `approvals: { [id]: … }`. */
export interface AgUiInterrupt {
  /** Id of the tool call. */
  readonly id: string;
  readonly reason: "tool_call";
  readonly message?: string;
  readonly toolCallId: string;
  readonly responseSchema?: { readonly [key: string]: Json };
  readonly metadata: { readonly [key: string]: Json };
}

/** How a run ended, in AG-UI terms. */
export type AgUiOutcome =
  | { readonly type: "success"; readonly pendingToolCallIds?: string[] }
  | { readonly type: "interrupt"; readonly interrupts: AgUiInterrupt[] }
  | { readonly type: "cancelled" };

/** The AG-UI 1.0 events that a run can have. Source: https://docs.ag-ui.com/concepts/events */
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
  | AgUiContentEvent;

/** Events that belong to the run or to a subagent. */
export type AgUiContentEvent = RunAttributes &
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
