import type { AssistantEntry, RunStartEntry, ToolIntentEntry, ToolResultEntry } from "../core/agent/entry.ts";
import type { AgentEvent } from "../core/agent/event.ts";
import type { RunResult } from "../core/agent/result.ts";
import { textOf, toolCallsOf } from "../core/message/message.ts";
import { type Instruments, instruments } from "./instruments.ts";
import type {
  OpenTelemetryApi,
  OtelAttributes,
  OtelContext,
  OtelSpan,
  OtelTracer,
} from "./open-telemetry-api.ts";

/** What {@link openTelemetryObserver} tells. */
export interface OpenTelemetryOptions {
  /** `gen_ai.agent.name`. Default: none. */
  readonly agentName?: string;
  /** What the span of a run is a child of. Default: the context that is active when the run begins. */
  readonly parent?: OtelContext;
  /** True adds texts, arguments and results, which may be anything people wrote or tools read. Default false. */
  readonly captureContent?: boolean;
}

/** `SpanKind.INTERNAL`, `SpanKind.CLIENT` and `SpanStatusCode.ERROR` of `@opentelemetry/api` 1.x. */
const INTERNAL = 0;
const CLIENT = 2;
const ERROR = 2;
/** Longest text of one attribute. */
const MAX_CHARS = 20_000;

/**
 * An observer for `onEvent` that makes spans and metrics of runs, by the GenAI semantic conventions 1.41: `invoke_agent` around a run,
 * `chat` for each model request, `execute_tool` for each tool call; `gen_ai.client.operation.duration` and `gen_ai.client.token.usage`.
 * `api` is the module `@opentelemetry/api`; without a registered provider all of it does nothing. One observer per run at a time.
 * Source: https://github.com/open-telemetry/semantic-conventions-genai
 */
export function openTelemetryObserver(
  api: OpenTelemetryApi,
  options: OpenTelemetryOptions = {},
): (event: AgentEvent) => void {
  const tracer = api.trace.getTracer("nano-agent");
  const observer = new RunObserver({
    api,
    tracer,
    instruments: instruments(api.metrics.getMeter("nano-agent")),
    options,
  });
  return (event) => observer.see(event);
}

interface Telemetry {
  readonly api: OpenTelemetryApi;
  readonly tracer: OtelTracer;
  readonly instruments: Instruments;
  readonly options: OpenTelemetryOptions;
}

interface OpenSpan {
  readonly span: OtelSpan;
  readonly context: OtelContext;
  readonly startedAt: number;
}

class RunObserver {
  readonly #telemetry: Telemetry;
  #run: OpenSpan | undefined;
  #model = "";
  #chat: OpenSpan | undefined;
  /** Milliseconds since the epoch of the first delta of the request at work. */
  #firstChunkAt: number | undefined;
  readonly #tools = new Map<string, OpenSpan>();

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  see(event: AgentEvent): void {
    switch (event.type) {
      case "run_start":
        return this.#startRun(event);
      case "turn_start":
        return this.#startChat();
      case "text_delta":
      case "thinking_delta":
      case "tool_call_start":
        this.#firstChunkAt ??= Date.now();
        return;
      case "retry":
        this.#firstChunkAt = undefined;
        this.#chat?.span.addEvent("retry", {
          "error.type": event.error.code,
          "retry.attempt": event.attempt,
        });
        return;
      case "assistant_message":
        return this.#endChat(event);
      case "tool_intent":
        return this.#startTool(event);
      case "tool_result":
        return this.#endTool(event);
      case "warning":
        this.#run?.span.addEvent("warning", { "warning.message": clip(event.message) });
        return;
      case "done":
        return this.#endRun(event.result);
      default:
        return;
    }
  }

  #startRun({ model, sessionId, time }: RunStartEntry): void {
    this.#model = model;
    const { api, options } = this.#telemetry;
    const name = options.agentName;
    this.#run = this.#open(
      name === undefined ? "invoke_agent" : `invoke_agent ${name}`,
      options.parent ?? api.context.active(),
      {
        kind: INTERNAL,
        startedAt: time,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          ...this.#provider(),
          "gen_ai.conversation.id": sessionId,
          ...(name === undefined ? {} : { "gen_ai.agent.name": name }),
        },
      },
    );
  }

  #startChat(): void {
    this.#closeChat("other");
    this.#firstChunkAt = undefined;
    this.#chat = this.#open(`chat ${modelId(this.#model)}`, this.#run?.context, {
      kind: CLIENT,
      startedAt: Date.now(),
      attributes: { "gen_ai.operation.name": "chat", ...this.#provider() },
    });
  }

  #endChat(entry: AssistantEntry): void {
    const chat = this.#chat;
    this.#chat = undefined;
    if (chat === undefined) return;
    const { usage, message } = entry;
    const about = {
      "gen_ai.operation.name": "chat",
      ...this.#provider(),
      "gen_ai.response.model": modelId(entry.model),
    };
    const firstChunk =
      this.#firstChunkAt === undefined ? undefined : (this.#firstChunkAt - chat.startedAt) / 1000;
    chat.span.setAttributes({
      "gen_ai.response.model": modelId(entry.model),
      "gen_ai.response.finish_reasons": [entry.finishReason.raw],
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      ...present("gen_ai.usage.cache_read.input_tokens", usage.cacheReadTokens),
      ...present("gen_ai.usage.cache_creation.input_tokens", usage.cacheWriteTokens),
      ...present("gen_ai.usage.reasoning.output_tokens", usage.reasoningTokens),
      ...present("gen_ai.response.id", entry.responseId),
      ...present("gen_ai.response.time_to_first_chunk", firstChunk),
      ...present("nano_agent.cost.usd", entry.costUsd),
      ...this.#content("gen_ai.output.messages", () => JSON.stringify([outputMessage(entry)])),
    });
    if (entry.interrupted === true) fail(chat.span, "aborted");
    else {
      this.#telemetry.instruments.tokens.record(
        usage.inputTokens,
        { ...about, "gen_ai.token.type": "input" },
        chat.context,
      );
      this.#telemetry.instruments.tokens.record(
        usage.outputTokens,
        { ...about, "gen_ai.token.type": "output" },
        chat.context,
      );
    }
    const error = entry.interrupted === true ? { "error.type": "aborted" } : {};
    this.#telemetry.instruments.duration.record(
      entry.durationMs / 1000,
      { ...about, ...error },
      chat.context,
    );
    chat.span.setAttributes({ "nano_agent.tool_calls": toolCallsOf(message).length });
    chat.span.end(chat.startedAt + entry.durationMs);
  }

  /** A request without an answer. */
  #closeChat(errorType: string): void {
    const chat = this.#chat;
    this.#chat = undefined;
    if (chat === undefined) return;
    const endedAt = Date.now();
    fail(chat.span, errorType);
    this.#telemetry.instruments.duration.record(
      (endedAt - chat.startedAt) / 1000,
      { "gen_ai.operation.name": "chat", ...this.#provider(), "error.type": errorType },
      chat.context,
    );
    chat.span.end(endedAt);
  }

  #startTool({ callId, name, input, parentCallId, time }: ToolIntentEntry): void {
    const around = parentCallId === undefined ? undefined : this.#tools.get(parentCallId);
    const opened = this.#open(`execute_tool ${name}`, around?.context ?? this.#run?.context, {
      kind: INTERNAL,
      startedAt: time,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": callId,
        "gen_ai.tool.type": "function",
        ...this.#content("gen_ai.tool.call.arguments", () => JSON.stringify(input)),
      },
    });
    this.#tools.set(callId, opened);
  }

  #endTool({ callId, status, result, time }: ToolResultEntry): void {
    const opened = this.#tools.get(callId);
    this.#tools.delete(callId);
    if (opened === undefined) return;
    opened.span.setAttributes(this.#content("gen_ai.tool.call.result", () => textOf(result.content, "\n")));
    if (status !== "ok") fail(opened.span, status === "error" ? "tool_error" : status);
    opened.span.end(time);
  }

  #endRun({ error, stopReason, usage, cost, text }: RunResult): void {
    this.#closeChat(error?.code ?? stopReason);
    for (const { span } of this.#tools.values()) span.end();
    this.#tools.clear();
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined) return;
    run.span.setAttributes({
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "nano_agent.stop_reason": stopReason,
      ...present("nano_agent.cost.usd", cost),
      ...this.#content("gen_ai.output.messages", () => text),
    });
    if (error !== undefined) fail(run.span, error.code, clip(error.message));
    run.span.end();
  }

  #open(
    name: string,
    context: OtelContext | undefined,
    {
      kind,
      startedAt,
      attributes,
    }: { readonly kind: number; readonly startedAt: number; readonly attributes: OtelAttributes },
  ): OpenSpan {
    const { api, tracer } = this.#telemetry;
    const around = context ?? api.context.active();
    const span = tracer.startSpan(name, { kind, attributes, startTime: startedAt }, around);
    return { span, context: api.trace.setSpan(around, span), startedAt };
  }

  #provider(): OtelAttributes {
    const provider = this.#model.slice(0, this.#model.indexOf("/"));
    return {
      "gen_ai.provider.name": PROVIDERS.get(provider) ?? provider,
      "gen_ai.request.model": modelId(this.#model),
    };
  }

  #content(name: string, value: () => string): OtelAttributes {
    return this.#telemetry.options.captureContent === true ? { [name]: clip(value()) } : {};
  }
}

/** Names the conventions have for providers, where they are not ours. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["google", "gcp.gemini"],
  ["openai-chat", "openai"],
  ["openai-responses", "openai"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
  ["moonshot", "moonshot_ai"],
]);

function outputMessage({ message, finishReason }: AssistantEntry): object {
  const parts = message.content.map((block) => {
    if (block.type === "tool_use")
      return { type: "tool_call", id: block.id, name: block.name, arguments: block.input };
    return block.type === "text"
      ? { type: "text", content: block.text }
      : { type: "reasoning", content: block.thinking };
  });
  return { role: "assistant", parts, finish_reason: finishReason.raw };
}

function fail(span: OtelSpan, type: string, message?: string): void {
  span.setAttributes({ "error.type": type });
  span.setStatus({ code: ERROR, ...(message === undefined ? {} : { message }) });
}

function modelId(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

function present(name: string, value: string | number | undefined): OtelAttributes {
  return value === undefined ? {} : { [name]: value };
}

function clip(text: string): string {
  return text.length <= MAX_CHARS ? text : text.slice(0, MAX_CHARS).toWellFormed();
}
