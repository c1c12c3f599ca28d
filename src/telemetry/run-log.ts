import type { AssistantEntry } from "../core/agent/entry.ts";
import type { AgentEvent } from "../core/agent/event.ts";
import { textOf, toolCallsOf } from "../core/message/message.ts";

/** The part of the program a line of the log is about. */
export type LogService = "run" | "model" | "tool" | "permission" | "context";

/** Takes a line of the log, without its time. */
export type LogSink = (service: LogService, text: string) => void;

const MAX_CHARS = 300;

/**
 * An observer for `onEvent` that says in lines what happens: requests and answers with time, tokens and cost, tool calls with arguments
 * and result, decisions, retries, warnings. Texts are cut to 300 characters and made one line; taking secrets out is for the sink.
 */
export function runLog(sink: LogSink): (event: AgentEvent) => void {
  return (event) => {
    const line = lineOf(event);
    if (line !== undefined) sink(...line);
  };
}

function lineOf(event: AgentEvent): Parameters<LogSink> | undefined {
  switch (event.type) {
    case "run_start":
      return ["run", `session ${event.sessionId}, ${event.model}, tools ${event.tools.join(" ")}`];
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
    case "warning":
      return ["run", `warning: ${short(event.message)}`];
    case "done": {
      const { stopReason, iterations, error } = event.result;
      const why = error === undefined ? "" : `: ${error.code}: ${short(error.message)}`;
      return [
        "run",
        `ended ${stopReason} after ${iterations} ${iterations === 1 ? "request" : "requests"}${why}`,
      ];
    }
    default:
      return undefined;
  }
}

function answerText({ message, model, usage, costUsd, durationMs, finishReason }: AssistantEntry): string {
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  const cached = cacheReadTokens === undefined ? "" : ` (${cacheReadTokens} cached)`;
  const cost = costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(5)}`;
  const calls = toolCallsOf(message).map(({ name }) => name);
  const said = calls.length === 0 ? "" : `, calls ${calls.join(" ")}`;
  return `${model} answered ${finishReason.raw} in ${durationMs} ms: ${inputTokens} tokens in${cached}, ${outputTokens} out, ${cost}${said}`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS).toWellFormed()}…`;
}
