import type {
  AssistantEntry,
  CompactionEntry,
  ToolIntentEntry,
  ToolResultEntry,
} from "../../core/agent/entry.ts";
import type { AgentEvent, SubagentEvent } from "../../core/agent/event.ts";
import { toolCallsOf } from "../../core/message/message.ts";
import { NO_USAGE } from "../../core/message/usage.ts";
import type { NewLine } from "./event-line.ts";
import { lineBlocks, lineUsage, stopReasonOf } from "./line-content.ts";
import { PartialEvents } from "./partial-events.ts";

/**
 * Turns the events of a run into the lines of `stream-json`, the first and the last left out. Results of tool
 * calls come in the order of the calls, each as soon as those before it are there. Keeps what it needs for
 * that, so one instance per run.
 */
export class EventLines {
  readonly #partial: PartialEvents | undefined;
  /** Calls of the last answer whose result has not been written, in call order. */
  #open: string[] = [];
  readonly #waiting = new Map<string, ToolResultEntry>();
  #model = "";
  /** One for each call that started a subagent. */
  readonly #subagents = new Map<string, EventLines>();

  constructor(options: { readonly partial: boolean }) {
    this.#partial = options.partial ? new PartialEvents() : undefined;
  }

  /** The lines an event stands for. */
  lines(event: AgentEvent): readonly NewLine[] {
    const partial = this.#partial?.lines(event, this.#model) ?? [];
    const whole = this.#whole(event);
    return partial.length === 0 ? whole : [...partial, ...whole];
  }

  #whole(event: AgentEvent): readonly NewLine[] {
    switch (event.type) {
      case "subagent":
        return this.#ofSubagent(event);
      case "run_start":
      case "run_resume":
        this.#model = event.model;
        return [];
      case "assistant_message":
        this.#open = toolCallsOf(event.message).map((call) => call.id);
        this.#waiting.clear();
        return [assistantLine(event)];
      case "tool_intent":
        return event.parentCallId === undefined ? [] : [this.#nestedCall(event, event.parentCallId)];
      case "tool_result":
        return event.parentCallId === undefined ? this.#results(event) : [resultLine(event)];
      case "compaction":
        return [compactLine(event)];
      case "retry": {
        const { code, message } = event.error;
        return [
          {
            type: "system",
            subtype: "api_retry",
            attempt: event.attempt,
            retry_delay_ms: event.delayMs,
            error: { code, message },
          },
        ];
      }
      default:
        return [];
    }
  }

  /**
   * Whole messages only, each with the call that started the subagent: pieces of several at once could not be
   * told apart.
   */
  #ofSubagent({ callId, event }: SubagentEvent): readonly NewLine[] {
    let inner = this.#subagents.get(callId);
    if (inner === undefined) {
      inner = new EventLines({ partial: false });
      this.#subagents.set(callId, inner);
    }
    if (event.type === "run_end") this.#subagents.delete(callId);
    return inner
      .lines(event)
      .map((line) =>
        (line.type === "assistant" || line.type === "user") && line.parent_tool_use_id === null
          ? { ...line, parent_tool_use_id: callId }
          : line,
      );
  }

  #nestedCall(event: ToolIntentEntry, parent: string): NewLine {
    const call = { type: "tool_use", id: event.callId, name: event.name, input: event.input } as const;
    return {
      type: "assistant",
      message: {
        id: event.id,
        type: "message",
        role: "assistant",
        model: this.#model,
        content: [call],
        stop_reason: "tool_use",
        stop_sequence: null,
        usage: lineUsage(NO_USAGE),
      },
      parent_tool_use_id: parent,
    };
  }

  #results(event: ToolResultEntry): readonly NewLine[] {
    this.#waiting.set(event.callId, event);
    const lines: NewLine[] = [];
    for (let next = this.#open[0]; next !== undefined; next = this.#open[0]) {
      const ready = this.#waiting.get(next);
      if (ready === undefined) break;
      lines.push(resultLine(ready));
      this.#waiting.delete(next);
      this.#open.shift();
    }
    return lines;
  }
}

function compactLine({ reason, method, tokensBefore, tokensAfter }: CompactionEntry): NewLine {
  return {
    type: "system",
    subtype: "compact_boundary",
    compact_metadata: {
      trigger: reason === "manual" ? "manual" : "auto",
      pre_tokens: tokensBefore,
      post_tokens: tokensAfter,
      reason,
      method,
    },
  };
}

function assistantLine(entry: AssistantEntry): NewLine {
  return {
    type: "assistant",
    message: {
      id: entry.responseId ?? entry.id,
      type: "message",
      role: "assistant",
      model: entry.model,
      content: lineBlocks(entry.message.content),
      stop_reason: stopReasonOf(entry.finishReason),
      stop_sequence: null,
      usage: lineUsage(entry.usage),
    },
    parent_tool_use_id: null,
  };
}

function resultLine(entry: ToolResultEntry): NewLine {
  return {
    type: "user",
    message: { role: "user", content: lineBlocks([entry.result]) },
    parent_tool_use_id: entry.parentCallId ?? null,
  };
}
