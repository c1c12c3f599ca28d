import {
  type AgentEvent,
  type AssistantEntry,
  type CompactionEntry,
  type ModelUsageEntry,
  type RunEndEntry,
  type SubagentEvent,
} from "../core/agent/entries.ts";
import { pluralize, truncateEnd } from "../core/base/text.ts";
import { textOf, toolCallsOf, type Usage } from "../core/message/message.ts";
import { OpenSubagents } from "../journal/scopes.ts";
import { SpendingTally } from "../journal/session-usage.ts";

/** The part of the program that a log line is about. */
export type LogService = "run" | "model" | "tool" | "permission" | "context";

/** Receives a log line, without its time. */
export type LogSink = (service: LogService, text: string) => void;

/** Options of {@link runLog}. */
export interface RunLogOptions {
  /** Removes secrets before text is truncated, so that no sink sees half of one. Default: none removed. */
  readonly redact?: (text: string) => string;
}

const MAX_CHARS = 300;
/** Characters given to `redact`: text beyond the visible part can show that a secret begins within it. */
const MAX_REDACTED = 100_000;

/**
 * An observer for `onEvent` that logs a run as lines: requests and answers with time, tokens and cost, tool
 * calls with arguments and result, decisions, retries, warnings. Text is put on one line and clipped to 300
 * characters.
 */
export function runLog(sink: LogSink, { redact }: RunLogOptions = {}): (event: AgentEvent) => void {
  const short = (text: string): string => oneLine(redact?.(text.slice(0, MAX_REDACTED)) ?? text);
  const context = { short, subagents: new OpenSubagents<SubagentUse>() };
  return (event) => {
    const line = lineOf(event, context);
    if (line !== undefined) sink(...line);
  };
}

interface LineContext {
  readonly short: (text: string) => string;
  readonly subagents: OpenSubagents<SubagentUse>;
}

/** Used by a subagent so far, including its own subagents. */
interface SubagentUse {
  toolCalls: number;
  readonly spending: SpendingTally;
}

function lineOf(event: AgentEvent, context: LineContext): Parameters<LogSink> | undefined {
  const { short } = context;
  switch (event.type) {
    case "run_resume":
      return ["run", `resumed with ${event.model}`];
    case "run_start":
      return ["run", `session ${event.sessionId}, ${event.model}, tools ${event.tools.join(" ") || "none"}`];
    case "phase":
      return ["run", `phase ${event.phase}${event.step === undefined ? "" : `, step ${event.step}`}`];
    case "turn_start":
      return ["model", `request ${event.iteration}`];
    case "retry":
      return [
        "model",
        `attempt ${event.attempt} in ${event.delayMs} ms: ${event.error.code}: ${short(event.error.message)}`,
      ];
    case "assistant_message":
      return ["model", answerText(event)];
    case "model_usage":
      return ["model", usageText(event)];
    case "compaction":
      return ["context", compactionText(event)];
    case "compaction_undone":
      return ["context", "compaction undone"];
    case "subagent":
      return subagentLine(event, context);
    case "warning":
      return ["run", `warning: ${short(event.message)}`];
    case "done":
      return [
        "run",
        `${endText(event.result, context)}: ${spendingText(event.result.usage, event.result.cost)}`,
      ];
    default:
      return callLine(event, context);
  }
}

function callLine(event: AgentEvent, { short }: LineContext): Parameters<LogSink> | undefined {
  switch (event.type) {
    case "permission_decision": {
      const rule = event.rule === undefined ? "" : ` [${event.rule}]`;
      return [
        "permission",
        `${event.action} ${event.name} (${event.callId}) by ${event.by}${rule}: ${short(event.reason)}`,
      ];
    }
    case "tool_intent":
      return ["tool", `${event.name} (${event.callId}) starts: ${short(JSON.stringify(event.input))}`];
    case "tool_result":
      return [
        "tool",
        `${event.name} (${event.callId}) ${event.status} in ${event.durationMs} ms: ${short(textOf(event.result.content))}`,
      ];
    case "approval_request":
      return ["permission", `${event.name} (${event.callId}) waits for an answer: ${short(event.reason)}`];
    default:
      return undefined;
  }
}

/** The line of the inner event, prefixed with the agent's name and the call that started it. */
function subagentLine(wrapped: SubagentEvent, context: LineContext): Parameters<LogSink> | undefined {
  const { agent, callId, event } = wrapped;
  const { subagents } = context;
  const used = subagents.of(wrapped, () => ({ toolCalls: 0, spending: new SpendingTally() }));
  if (event.type === "tool_intent" && used !== undefined) used.toolCalls++;
  used?.spending.add(event);
  if (event.type === "run_end") {
    subagents.close(wrapped);
    const facts =
      used === undefined
        ? ""
        : `: ${pluralize(used.toolCalls, "tool call")}, ${spendingText(used.spending.total.usage, used.spending.total.costUsd)}`;
    return ["run", `${agent} (${callId}) > ${endText(event, context)}${facts}`];
  }
  const line = lineOf(event, context);
  return line === undefined ? undefined : [line[0], `${agent} (${callId}) > ${line[1]}`];
}

function endText(
  {
    stopReason,
    iterations,
    error,
    detail,
  }: Pick<RunEndEntry, "stopReason" | "iterations" | "error" | "detail">,
  { short }: LineContext,
): string {
  const reasonText =
    error === undefined
      ? detail === undefined
        ? ""
        : ` (${short(detail)})`
      : `, ${error.code}: ${short(error.message)}`;
  return `ended ${stopReason} after ${pluralize(iterations, "request")}${reasonText}`;
}

function compactionText({ reason, method, tokensBefore, tokensAfter }: CompactionEntry): string {
  return `compaction (${reason}) by ${method}: about ${tokensBefore} tokens before, ${tokensAfter} after`;
}

function usageText({ purpose, model, usage, costUsd, durationMs }: ModelUsageEntry): string {
  const estimated = usage.estimated === true ? ", estimated" : "";
  return `${model} used for ${purpose}, ${durationMs} ms: ${spendingText(usage, costUsd)}${estimated}`;
}

function spendingText(
  { inputTokens, outputTokens, cacheReadTokens }: Usage,
  costUsd: number | undefined,
): string {
  const cached = cacheReadTokens === undefined ? "" : ` (${cacheReadTokens} cached)`;
  const cost = costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(5)}`;
  return `${inputTokens} tokens in${cached}, ${outputTokens} out, ${cost}`;
}

function answerText({ message, model, usage, costUsd, durationMs, finishReason }: AssistantEntry): string {
  const calls = toolCallsOf(message).map(({ name }) => name);
  const callsText = calls.length === 0 ? "" : `, calls ${calls.join(" ")}`;
  return `${model} answered ${finishReason.raw} in ${durationMs} ms: ${spendingText(usage, costUsd)}${callsText}`;
}

function oneLine(text: string): string {
  return truncateEnd(text.replace(/\s+/g, " ").trim(), MAX_CHARS);
}
