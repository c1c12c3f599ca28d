import type {
  AgentEvent,
  CompactionEntry,
  SubagentEvent,
  ToolIntentEntry,
  ToolResultEntry,
} from "../../core/agent/entries.ts";
import { newUuid } from "../../core/base/ids.ts";
import { type ContentBlock, NO_USAGE, toolCallsOf, type Usage } from "../../core/message/message.ts";
import type { FinishReason } from "../../core/model/model.ts";
import { CallOrder } from "../../journal/call-order.ts";
import type { RepairReport } from "../../session/repair-report.ts";
import type { LeftOut } from "../../view/notice.ts";
import type { Outcome } from "../../view/outcome.ts";
import type { Output } from "./command-context.ts";

/**
 * Turns a run's events into the lines of `stream-json`, except the first and the last. Tool results come in
 * the order of the calls, each as soon as those before it are available. Stateful: use one instance per run.
 */
export class EventLines {
  readonly #partial: PartialEvents | undefined;
  readonly #order = new CallOrder<ToolResultEntry>();
  #model = "";
  /** One per call that started a subagent. */
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

  /** Whole messages only: interleaved pieces of several subagents could not be told apart. */
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

function assistantLine(facts: object, parent_tool_use_id: string | null): OutputLine {
  const message = { id: "", type: "message", role: "assistant", stop_sequence: null, ...facts };
  return { type: "assistant", message, parent_tool_use_id };
}

function resultLine(entry: ToolResultEntry): OutputLine {
  return {
    type: "user",
    message: { role: "user", content: lineBlocks([entry.result]) },
    parent_tool_use_id: entry.parentCallId ?? null,
  };
}

/** A line without its `session_id` and `uuid`; `schema/events.json` describes each one. */
interface OutputLine {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Content blocks with only the fields of the Anthropic Messages API, without provider data. */
function lineBlocks(blocks: readonly ContentBlock[]): readonly object[] {
  return blocks.map((block) => {
    switch (block.type) {
      case "text":
        return { type: "text", text: block.text };
      case "thinking": {
        const { thinking, signature, redacted } = block;
        return redacted === undefined
          ? { type: "thinking", thinking, signature }
          : { type: "redacted_thinking", data: redacted };
      }
      case "image":
        return { type: "image", source: block.source };
      case "tool_use":
        return { type: "tool_use", id: block.id, name: block.name, input: block.input };
      case "tool_result": {
        const { tool_use_id, content, is_error } = block;
        const inner = typeof content === "string" ? content : lineBlocks(content);
        return {
          type: "tool_result",
          tool_use_id,
          content: inner,
          ...(is_error === true ? { is_error } : {}),
        };
      }
    }
  });
}

/** Tokens as the Anthropic Messages API counts them: `input_tokens` excludes the prompt cache. */
function lineUsage(usage: Usage) {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    output_tokens: outputTokens,
    cache_read_input_tokens: cacheReadTokens,
    cache_creation_input_tokens: cacheWriteTokens,
  };
}

/** Finish reasons by their Anthropic names, for any wire; others mean a truncated answer. */
const STOP_REASONS: { readonly [reason in FinishReason["unified"]]?: string } = {
  stop: "end_turn",
  tool_use: "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  pause: "pause_turn",
};

function stopReasonOf({ unified }: FinishReason): string | null {
  return STOP_REASONS[unified] ?? null;
}

/**
 * Reports the deltas of an answer as events of the Anthropic streaming format, whatever wire they came over:
 * `message_start`, for each block `content_block_start`, `content_block_delta`s and `content_block_stop`,
 * then `message_delta`, `message_stop`. After a retry a new `message_start` voids what came before.
 */
class PartialEvents {
  #begun = false;
  /** The open block: its index in the answer, and its index among the blocks reported so far. */
  #block: { readonly index: number; readonly reportedIndex: number } | undefined;
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
      this.#block = { index, reportedIndex: this.#blocks++ };
      events.push({ type: "content_block_start", index: this.#block.reportedIndex, content_block: start });
    }
    if (delta !== undefined) events.push(this.#delta(delta));
    return events;
  }

  #delta(delta: object): OutputLine {
    return { type: "content_block_delta", index: this.#block?.reportedIndex ?? 0, delta };
  }

  #closeBlock(): readonly OutputLine[] {
    const open = this.#block;
    this.#block = undefined;
    return open === undefined ? [] : [{ type: "content_block_stop", index: open.reportedIndex }];
  }

  #reset(): void {
    this.#begun = false;
    this.#block = undefined;
    this.#blocks = 0;
  }
}

export class JsonReporter {
  readonly #stdout: Output;
  readonly #sessionId: () => string;
  readonly #isStream: boolean;
  readonly #partial: boolean;
  #events: EventLines;
  #begun = false;

  /**
   * `sessionId` is called for each line, because a session to resume is found later. `isStream`: a line for
   * every event (`stream-json`), else only the result (`json`).
   */
  constructor(stdout: Output, sessionId: () => string, isStream: boolean, partial: boolean) {
    this.#stdout = stdout;
    this.#sessionId = sessionId;
    this.#isStream = isStream;
    this.#partial = partial;
    this.#events = new EventLines({ partial });
  }

  /** Call before the first event; later calls are ignored. */
  begin(facts: object): void {
    if (!this.#begun) this.#writeStreamed({ type: "system", subtype: "init", ...facts });
    this.#begun = true;
  }

  repair({ damaged, droppedResults, interrupted }: RepairReport, file: string): void {
    this.#writeStreamed({
      type: "system",
      subtype: "journal_repair",
      file,
      damaged,
      dropped_results: droppedResults,
      interrupted: interrupted.map(({ callId, name, outcome }) => ({ tool_use_id: callId, name, outcome })),
    });
  }

  untrusted(folder: string, leftOut: readonly LeftOut[]): void {
    const items = leftOut.map(({ kind, path, does }) => ({ kind, path, does }));
    this.#writeStreamed({ type: "system", subtype: "untrusted", folder, left_out: items });
  }

  event(event: AgentEvent): void {
    if (this.#isStream) for (const line of this.#events.lines(event)) this.#write(line);
  }

  /** Reports how an input ended, once for each. */
  end(outcome: Outcome): void {
    this.#write(endLine(outcome));
    this.#events = new EventLines({ partial: this.#partial });
  }

  #writeStreamed(line: OutputLine): void {
    if (this.#isStream) this.#write(line);
  }

  /** Writes one LF line. U+2028 and U+2029 are escaped: some readers split lines at them. */
  #write(line: OutputLine): void {
    const text = JSON.stringify({ ...line, session_id: this.#sessionId(), uuid: newUuid() });
    const safe = text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
    this.#stdout.write(`${safe}\n`);
  }
}

function endLine({ code, error, output, text, turns, cost, ...outcome }: Outcome): OutputLine {
  const models = outcome.models.map(({ model, usage, costUsd }) => {
    const tokens = lineUsage(usage);
    const used = {
      inputTokens: tokens.input_tokens,
      outputTokens: tokens.output_tokens,
      cacheReadInputTokens: tokens.cache_read_input_tokens,
      cacheCreationInputTokens: tokens.cache_creation_input_tokens,
      costUSD: costUsd ?? null,
    };
    return [model, used];
  });
  return {
    type: "result",
    subtype: code,
    is_error: code !== "success",
    result: text,
    duration_ms: Math.round(outcome.durationMs),
    duration_api_ms: outcome.apiDurationMs,
    num_turns: turns,
    total_cost_usd: cost ?? null,
    usage: lineUsage(outcome.usage),
    modelUsage: Object.fromEntries(models),
    permission_denials: outcome.denials.map(({ callId, name, input, reason }) => ({
      tool_name: name,
      tool_use_id: callId,
      tool_input: input,
      reason,
    })),
    evidence: outcome.evidence,
    // An undefined value cannot be represented in JSON.
    structured_output: output,
    error: error && { code: error.code, message: error.message },
  };
}
