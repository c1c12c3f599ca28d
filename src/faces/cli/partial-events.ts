import type { AgentEvent } from "../../core/agent/entries.ts";
import { NO_USAGE } from "../../core/message/message.ts";
import { lineUsage, type OutputLine, stopReasonOf } from "./line-content.ts";

/**
 * Tells the deltas of an answer in the events of the Anthropic streaming format, whatever wire they came
 * over: `message_start`, for each block `content_block_start`, `content_block_delta`s and
 * `content_block_stop`, then `message_delta`, `message_stop`. After a retry a new `message_start` voids what
 * came before.
 */
export class PartialEvents {
  #begun = false;
  /** The open block: its index in the answer, and its place among the blocks told so far. */
  #block: { readonly index: number; readonly place: number } | undefined;
  #blocks = 0;

  lines(event: AgentEvent, model: string): readonly OutputLine[] {
    return this.#events(event, model).map((wireEvent) => ({
      type: "stream_event",
      event: wireEvent,
      parent_tool_use_id: null,
    }));
  }

  #events(event: AgentEvent, model: string): readonly OutputLine[] {
    switch (event.type) {
      case "text_delta":
        return this.#piece(event.index, model, {
          start: { type: "text", text: "" },
          delta: { type: "text_delta", text: event.text },
        });
      case "thinking_delta":
        return this.#piece(event.index, model, {
          start: { type: "thinking", thinking: "", signature: "" },
          delta: { type: "thinking_delta", thinking: event.text },
        });
      case "tool_call_start":
        return this.#piece(event.index, model, {
          start: { type: "tool_use", id: event.id, name: event.name, input: {} },
        });
      case "tool_call_delta":
        return this.#block?.index === event.index
          ? [this.#delta({ type: "input_json_delta", partial_json: event.json })]
          : [];
      case "retry":
        this.#reset();
        return [];
      case "assistant_message": {
        if (!this.#begun) return [];
        const end = {
          type: "message_delta",
          delta: { stop_reason: stopReasonOf(event.finishReason), stop_sequence: null },
          usage: lineUsage(event.usage),
        };
        const events = [...this.#closeBlock(), end, { type: "message_stop" }];
        this.#reset();
        return events;
      }
      default:
        return [];
    }
  }

  #piece(
    index: number,
    model: string,
    { start, delta }: { readonly start: object; readonly delta?: object },
  ): readonly OutputLine[] {
    const events: OutputLine[] = [];
    if (!this.#begun) {
      this.#begun = true;
      const answer = { type: "message", role: "assistant", model, content: [] };
      const end = { stop_reason: null, stop_sequence: null, usage: lineUsage(NO_USAGE) };
      events.push({ type: "message_start", message: { ...answer, ...end } });
    }
    if (this.#block?.index !== index) {
      events.push(...this.#closeBlock());
      this.#block = { index, place: this.#blocks++ };
      events.push({ type: "content_block_start", index: this.#block.place, content_block: start });
    }
    if (delta !== undefined) events.push(this.#delta(delta));
    return events;
  }

  #delta(delta: object): OutputLine {
    return { type: "content_block_delta", index: this.#block?.place ?? 0, delta };
  }

  #closeBlock(): readonly OutputLine[] {
    const open = this.#block;
    this.#block = undefined;
    return open === undefined ? [] : [{ type: "content_block_stop", index: open.place }];
  }

  #reset(): void {
    this.#begun = false;
    this.#block = undefined;
    this.#blocks = 0;
  }
}
