import type {
  AgentEvent,
  CompactionEntry,
  SubagentEvent,
  ToolIntentEntry,
  ToolResultEntry,
} from "../../core/agent/entries.ts";
import { NO_USAGE, toolCallsOf } from "../../core/message/message.ts";
import { CallOrder } from "../../journal/call-order.ts";
import { lineBlocks, lineUsage, type OutputLine, stopReasonOf } from "./line-content.ts";
import { PartialEvents } from "./partial-events.ts";

/**
 * Turns the events of a run into the lines of `stream-json`, the first and the last left out. Results of tool
 * calls come in the order of the calls, each as soon as those before it are there. Keeps what it needs for
 * that, so one instance per run.
 */
export class EventLines {
  readonly #partial: PartialEvents | undefined;
  readonly #order = new CallOrder<ToolResultEntry>();
  #model = "";
  /** One for each call that started a subagent. */
  readonly #subagents = new Map<string, EventLines>();

  constructor(options: { readonly partial: boolean }) {
    this.#partial = options.partial ? new PartialEvents() : undefined;
  }

  lines(event: AgentEvent): readonly OutputLine[] {
    return [...(this.#partial?.lines(event, this.#model) ?? []), ...this.#whole(event)];
  }

  #whole(event: AgentEvent): readonly OutputLine[] {
    switch (event.type) {
      case "subagent":
        return this.#ofSubagent(event);
      case "run_start":
      case "run_resume":
        this.#model = event.model;
        return [];
      case "assistant_message": {
        this.#order.begin(toolCallsOf(event.message).map(({ id }) => id));
        const content = lineBlocks(event.message.content);
        const [stop_reason, usage] = [stopReasonOf(event.finishReason), lineUsage(event.usage)];
        const id = event.responseId ?? event.id;
        return [assistantLine({ id, model: event.model, content, stop_reason, usage }, null)];
      }
      case "tool_intent":
        return event.parentCallId === undefined ? [] : [this.#nestedCall(event, event.parentCallId)];
      case "tool_result":
        return event.parentCallId === undefined
          ? this.#order.add(event.callId, event).map(resultLine)
          : [resultLine(event)];
      case "compaction":
        return [compactLine(event)];
      case "retry": {
        const { code, message } = event.error;
        const { attempt, delayMs: retry_delay_ms } = event;
        return [{ type: "system", subtype: "api_retry", attempt, retry_delay_ms, error: { code, message } }];
      }
      default:
        return [];
    }
  }

  /** Whole messages only: pieces of several subagents at once could not be told apart. */
  #ofSubagent({ callId, event }: SubagentEvent): readonly OutputLine[] {
    const inner = this.#subagents.get(callId) ?? new EventLines({ partial: false });
    this.#subagents.set(callId, inner);
    if (event.type === "run_end") this.#subagents.delete(callId);
    return inner
      .lines(event)
      .map((line) => (line["parent_tool_use_id"] === null ? { ...line, parent_tool_use_id: callId } : line));
  }

  #nestedCall({ id, callId, name, input }: ToolIntentEntry, parent: string): OutputLine {
    const content = [{ type: "tool_use", id: callId, name, input }];
    const usage = lineUsage(NO_USAGE);
    return assistantLine({ id, model: this.#model, content, stop_reason: "tool_use", usage }, parent);
  }
}

function compactLine({ reason, method, tokensBefore, tokensAfter }: CompactionEntry): OutputLine {
  const trigger = reason === "manual" ? "manual" : "auto";
  const sizes = { pre_tokens: tokensBefore, post_tokens: tokensAfter };
  const compact_metadata = { trigger, ...sizes, reason, method };
  return { type: "system", subtype: "compact_boundary", compact_metadata };
}

interface AnswerFacts {
  readonly id: string;
  readonly model: string;
  readonly content: readonly object[];
  readonly stop_reason: string | null;
  readonly usage: object;
}

function assistantLine({ id, ...facts }: AnswerFacts, parent_tool_use_id: string | null): OutputLine {
  const message = { id, type: "message", role: "assistant", stop_sequence: null, ...facts };
  return { type: "assistant", message, parent_tool_use_id };
}

function resultLine(entry: ToolResultEntry): OutputLine {
  return {
    type: "user",
    message: { role: "user", content: lineBlocks([entry.result]) },
    parent_tool_use_id: entry.parentCallId ?? null,
  };
}
