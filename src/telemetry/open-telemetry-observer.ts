import {
  type AgentEvent,
  type AssistantEntry,
  type ModelUsageEntry,
  type RunResumeEntry,
  type RunStartEntry,
  type SubagentEvent,
  type ToolIntentEntry,
  type ToolResultEntry,
} from "../core/agent/entries.ts";
import { addSpending, NO_SPENDING } from "../core/agent/state.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import { textOf, toolCallsOf, type Usage } from "../core/message/message.ts";
import { OpenSubagents } from "../journal/scopes.ts";
import type {
  OpenTelemetryApi,
  OtelAttributes,
  OtelContext,
  OtelHistogram,
  OtelMeter,
  OtelSpan,
  OtelTracer,
} from "./open-telemetry-api.ts";
/** Options of {@link openTelemetryObserver}. */
export interface OpenTelemetryOptions {
  /** `gen_ai.agent.name`. Default: none. */
  readonly agentName?: string;
  /** Parent of a run's span. Default: the context active when the run starts. */
  readonly parent?: OtelContext;
  /** True records messages, arguments and results, whatever people wrote or tools read. Default false. */
  readonly captureContent?: boolean;
}

/** `SpanKind.INTERNAL`, `SpanKind.CLIENT` and `SpanStatusCode.ERROR` of `@opentelemetry/api` 1.x. */
const INTERNAL = 0;
const CLIENT = 2;
const ERROR = 2;
/** Usage purposes of requests that never got an answer. */
const UNANSWERED_PURPOSES: ReadonlySet<string> = new Set(["retry", "aborted", "failed"]);

/**
 * An observer for `onEvent` that creates spans and metrics for runs, following the GenAI semantic conventions
 * 1.41: `invoke_agent` for a run, `chat` for each model request, `execute_tool` for each tool call, and below
 * it `invoke_agent` for each subagent; `gen_ai.client.operation.duration` and `gen_ai.client.token.usage`.
 * `api` is the module `@opentelemetry/api`; without a registered provider all of this does nothing. One
 * observer handles one run at a time. Source: https://github.com/open-telemetry/semantic-conventions-genai
 */
export function openTelemetryObserver(
  api: OpenTelemetryApi,
  options: OpenTelemetryOptions = {},
): (event: AgentEvent) => void {
  const tracer = api.trace.getTracer("nano-agent");
  const meters = instruments(api.metrics.getMeter("nano-agent"));
  const observer = new RunObserver({ api, tracer, instruments: meters, options });
  return (event) => observer.observe(event);
}

interface Telemetry {
  readonly api: OpenTelemetryApi;
  readonly tracer: OtelTracer;
  readonly instruments: Instruments;
  readonly options: OpenTelemetryOptions;
}

interface RunEnding {
  readonly stopReason: StopReason;
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage: Usage;
  readonly cost: number | undefined;
  readonly text: string;
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
  /** When the current request's first delta arrived, in milliseconds since the epoch. */
  #firstChunkAt: number | undefined;
  readonly #tools = new Map<string, OpenSpan>();
  readonly #subagents = new OpenSubagents<RunObserver>();
  /** A subagent's spending and last answer, which its end event does not include. */
  #spending = NO_SPENDING;
  #lastText = "";

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  observe(event: AgentEvent): void {
    switch (event.type) {
      case "run_start":
      case "run_resume":
        return this.#startRun(event);
      case "turn_start":
        return this.#startChat();
      case "text_delta":
      case "thinking_delta":
      case "tool_call_start":
        this.#firstChunkAt ??= Date.now();
        return;
      case "assistant_message":
        return this.#endChat(event);
      case "tool_intent":
        return this.#startTool(event);
      case "tool_result":
        return this.#endTool(event);
      case "done":
        return this.#endRun(event.result);
      default:
        return this.#observeOther(event);
    }
  }

  /** Events other than those of the main requests and tool calls. */
  #observeOther(event: AgentEvent): void {
    switch (event.type) {
      case "retry":
        this.#firstChunkAt = undefined;
        this.#chat?.span.addEvent("retry", {
          "error.type": event.error.code,
          "retry.attempt": event.attempt,
        });
        return;
      case "warning":
        this.#run?.span.addEvent("warning", { "warning.message": clip(event.message) });
        return;
      case "model_usage":
        return this.#count(event);
      case "subagent":
        return this.#subagent(event);
      default:
        return;
    }
  }

  /** Events of a subagent, nested under the call that started it. */
  #subagent(wrapped: SubagentEvent): void {
    const { callId, agent, event } = wrapped;
    const parentSpan = this.#tools.get(callId)?.context ?? this.#run?.context;
    const make = (): RunObserver =>
      new RunObserver({
        ...this.#telemetry,
        options: {
          ...this.#telemetry.options,
          agentName: agent,
          ...omitUndefined({ parent: parentSpan }),
        },
      });
    const observer = this.#subagents.of(wrapped, make);
    if (observer === undefined) return;
    if (event.type !== "run_end") return observer.observe(event);
    this.#subagents.close(wrapped);
    observer.#close(event);
  }

  #close({ stopReason, error }: Pick<RunEnding, "stopReason" | "error">): void {
    this.#endRun({
      stopReason,
      ...omitUndefined({ error }),
      usage: this.#spending.usage,
      cost: this.#spending.costUsd,
      text: this.#lastText,
    });
  }

  /** Requests outside the conversation get a span here; an attempt that failed already has one. */
  #count(entry: ModelUsageEntry): void {
    const { purpose, model, usage, costUsd, durationMs, responseId, time } = entry;
    this.#spending = addSpending(this.#spending, entry);
    const attributes = {
      "gen_ai.operation.name": "chat",
      ...providerAttributes(model),
      "gen_ai.response.model": modelId(model),
    };
    const { duration } = this.#telemetry.instruments;
    const context = this.#run?.context;
    if (UNANSWERED_PURPOSES.has(purpose)) {
      this.#countTokens(usage, { ...attributes, "error.type": purpose }, context);
      return;
    }
    const chat = this.#open(`chat ${modelId(model)}`, context, {
      kind: CLIENT,
      startedAt: time - durationMs,
      attributes: {
        ...attributes,
        ...usageAttributes(usage),
        ...omitUndefined({ "gen_ai.response.id": responseId, "nano_agent.cost.usd": costUsd }),
        "nano_agent.purpose": purpose,
      },
    });
    this.#countTokens(usage, attributes, chat.context);
    duration.record(durationMs / 1000, attributes, chat.context);
    chat.span.end(time);
  }

  #countTokens(
    { inputTokens, outputTokens }: Usage,
    attributes: OtelAttributes,
    context?: OtelContext,
  ): void {
    const { tokens } = this.#telemetry.instruments;
    tokens.record(inputTokens, { ...attributes, "gen_ai.token.type": "input" }, context);
    tokens.record(outputTokens, { ...attributes, "gen_ai.token.type": "output" }, context);
  }

  #startRun({ model, sessionId, time }: RunStartEntry | RunResumeEntry): void {
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
          ...providerAttributes(this.#model),
          "gen_ai.conversation.id": sessionId,
          ...omitUndefined({ "gen_ai.agent.name": name }),
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
      attributes: { "gen_ai.operation.name": "chat", ...providerAttributes(this.#model) },
    });
  }

  #endChat(entry: AssistantEntry): void {
    const chat = this.#chat;
    this.#chat = undefined;
    const { usage, message } = entry;
    this.#spending = addSpending(this.#spending, entry);
    this.#lastText = textOf(message.content);
    if (chat === undefined) return;
    const attributes = {
      "gen_ai.operation.name": "chat",
      ...providerAttributes(this.#model),
      "gen_ai.response.model": modelId(entry.model),
    };
    const firstChunk =
      this.#firstChunkAt === undefined ? undefined : (this.#firstChunkAt - chat.startedAt) / 1000;
    chat.span.setAttributes({
      "gen_ai.response.model": modelId(entry.model),
      "gen_ai.response.finish_reasons": [entry.finishReason.raw],
      ...usageAttributes(usage),
      ...omitUndefined({
        "gen_ai.response.id": entry.responseId,
        "gen_ai.response.time_to_first_chunk": firstChunk,
        "nano_agent.cost.usd": entry.costUsd,
      }),
      ...this.#content("gen_ai.output.messages", () => JSON.stringify([outputMessage(entry)])),
    });
    if (entry.interrupted === true) setError(chat.span, "aborted");
    else this.#countTokens(usage, attributes, chat.context);
    const error = entry.interrupted === true ? { "error.type": "aborted" } : {};
    this.#telemetry.instruments.duration.record(
      entry.durationMs / 1000,
      { ...attributes, ...error },
      chat.context,
    );
    chat.span.setAttributes({ "nano_agent.tool_calls": toolCallsOf(message).length });
    chat.span.end(chat.startedAt + entry.durationMs);
  }

  /** Ends the span of a request that got no answer. */
  #closeChat(errorType: string): void {
    const chat = this.#chat;
    this.#chat = undefined;
    if (chat === undefined) return;
    const endedAt = Date.now();
    setError(chat.span, errorType);
    this.#telemetry.instruments.duration.record(
      (endedAt - chat.startedAt) / 1000,
      { "gen_ai.operation.name": "chat", ...providerAttributes(this.#model), "error.type": errorType },
      chat.context,
    );
    chat.span.end(endedAt);
  }

  #startTool({ callId, name, input, parentCallId, time }: ToolIntentEntry): void {
    const parentSpan = parentCallId === undefined ? undefined : this.#tools.get(parentCallId);
    const opened = this.#open(`execute_tool ${name}`, parentSpan?.context ?? this.#run?.context, {
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
    if (status !== "ok") setError(opened.span, status === "error" ? "tool_error" : status);
    opened.span.end(time);
  }

  #endRun({ error, stopReason, usage, cost, text }: RunEnding): void {
    for (const subagent of this.#subagents.closeAll()) subagent.#close({ stopReason: "aborted" });
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
      ...omitUndefined({ "nano_agent.cost.usd": cost }),
      ...this.#content("gen_ai.output.messages", () => text),
    });
    if (error !== undefined) setError(run.span, error.code, clip(error.message));
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
    const parentSpan = context ?? api.context.active();
    const span = tracer.startSpan(name, { kind, attributes, startTime: startedAt }, parentSpan);
    return { span, context: api.trace.setSpan(parentSpan, span), startedAt };
  }

  #content(name: string, value: () => string): OtelAttributes {
    return this.#telemetry.options.captureContent === true ? { [name]: clip(value()) } : {};
  }
}

function setError(span: OtelSpan, type: string, message?: string): void {
  span.setAttributes({ "error.type": type });
  span.setStatus({ code: ERROR, ...omitUndefined({ message }) });
}

interface Instruments {
  readonly duration: OtelHistogram;
  readonly tokens: OtelHistogram;
}

function instruments(meter: OtelMeter): Instruments {
  return {
    duration: meter.createHistogram("gen_ai.client.operation.duration", {
      unit: "s",
      description: "Duration of a model request.",
      advice: {
        explicitBucketBoundaries: [
          0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
        ],
      },
    }),
    tokens: meter.createHistogram("gen_ai.client.token.usage", {
      unit: "{token}",
      description: "Input and output tokens of a model request.",
      advice: {
        explicitBucketBoundaries: [
          1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
          67_108_864,
        ],
      },
    }),
  };
}

const MAX_CHARS = 20_000;

/** Provider and model that were asked, from `provider/id`. */
function providerAttributes(model: string): OtelAttributes {
  const provider = model.slice(0, model.indexOf("/"));
  return {
    "gen_ai.provider.name": PROVIDERS.get(provider) ?? provider,
    "gen_ai.request.model": modelId(model),
  };
}

/** Names the conventions give to providers, if they differ from ours. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["google", "gcp.gemini"],
  ["openai-chat", "openai"],
  ["openai-responses", "openai"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
  ["moonshot", "moonshot_ai"],
]);

function usageAttributes(usage: Usage): OtelAttributes {
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    ...omitUndefined({
      "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
      "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
    }),
  };
}

/** An answer in the conventions' message format. */
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

function modelId(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

function clip(text: string): string {
  return text.length <= MAX_CHARS ? text : text.slice(0, MAX_CHARS).toWellFormed();
}
