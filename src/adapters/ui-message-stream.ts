import type { AgentEvent, ToolIntentEntry, ToolResultEntry } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import { defined } from "../core/base/json.ts";
import { type ToolInput, textOf, toolCallsOf } from "../core/message/message.ts";
import { AgUiVoice, type AgUiVoiceEvent } from "./ag-ui-voice.ts";
import { SERVER_SENT_EVENT_HEADERS } from "./frames.ts";

/** How the chunks of a UI message are made. */
export interface UiMessageStreamOptions {
  /** Id of the page's message that the chunks belong to. Default: the page makes one. */
  readonly messageId?: string;
}

/** Headers of a response that `useChat` reads; its body is `toServerSentEvents(chunks, { names: false })`. */
export const UI_MESSAGE_STREAM_HEADERS: { readonly [name: string]: string } = Object.freeze({
  ...SERVER_SENT_EVENT_HEADERS,
  "x-vercel-ai-ui-message-stream": "v1",
});

/**
 * A run as the UI message stream that `useChat` of the AI SDK reads. Text and reasoning are streamed; a tool
 * call is told whole, as a dynamic tool, and a refused or failed one as `tool-output-error`; each model
 * request is a step. Retries, compactions and warnings are transient `data-` parts. A call that waits for
 * approval is a `tool-approval-request` whose id is the call's, as `approvals` of the next run takes it. What
 * subagents and calls inside calls do is left out. Leaving the iteration early leaves the run.
 */
export async function* toUiMessageChunks(
  events: AsyncIterable<AgentEvent>,
  options: UiMessageStreamOptions = {},
): AsyncGenerator<UiMessageChunk, void, undefined> {
  const translation = new Translation(options);
  for await (const event of events) yield* translation.of(event);
}

class Translation {
  readonly #options: UiMessageStreamOptions;
  #parts = 0;
  #isInStep = false;
  readonly #voice = new AgUiVoice(() => `part_${++this.#parts}`);

  constructor(options: UiMessageStreamOptions) {
    this.#options = options;
  }

  of(event: AgentEvent): readonly UiMessageChunk[] {
    switch (event.type) {
      case "run_start":
      case "run_resume": {
        const { messageId } = this.#options;
        return [{ type: "start", ...defined({ messageId }) }];
      }
      case "turn_start": {
        const before = [...this.#say(event), ...this.#endStep()];
        this.#isInStep = true;
        return [...before, { type: "start-step" }];
      }
      case "assistant_message":
        return [
          ...this.#say(event),
          ...toolCallsOf(event.message).map(({ id: callId, ...call }) => callOf({ callId, ...call })),
        ];
      case "permission_decision":
        // From here on it is the reader's to run, with these arguments.
        return event.external === true && event.parentCallId === undefined ? [callOf(event)] : [];
      case "tool_result":
        return event.parentCallId === undefined ? [outputOf(event)] : [];
      case "subagent":
        return [];
      case "done":
        return [...this.#say(event), ...endingOf(event.result), ...this.#endStep(), finishOf(event.result)];
      default:
        return this.#say(event);
    }
  }

  #say(event: AgentEvent): readonly UiMessageChunk[] {
    return this.#voice.of(event).flatMap(spoken);
  }

  #endStep(): readonly UiMessageChunk[] {
    if (!this.#isInStep) return [];
    this.#isInStep = false;
    return [{ type: "finish-step" }];
  }
}

/** Text, reasoning and remarks; tool calls have chunks with more in them. */
function spoken(event: AgUiVoiceEvent): readonly UiMessageChunk[] {
  switch (event.type) {
    case "TEXT_MESSAGE_START":
      return [{ type: "text-start", id: event.messageId }];
    case "TEXT_MESSAGE_CONTENT":
      return [{ type: "text-delta", id: event.messageId, delta: event.delta }];
    case "TEXT_MESSAGE_END":
      return [{ type: "text-end", id: event.messageId }];
    case "REASONING_START":
      return [{ type: "reasoning-start", id: event.messageId }];
    case "REASONING_MESSAGE_CONTENT":
      return [{ type: "reasoning-delta", id: event.messageId, delta: event.delta }];
    case "REASONING_END":
      return [{ type: "reasoning-end", id: event.messageId }];
    case "CUSTOM":
      return [{ type: `data-${event.name}`, data: event.value, transient: true }];
    default:
      return [];
  }
}

function callOf({
  callId: toolCallId,
  name: toolName,
  input,
}: Pick<ToolIntentEntry, "callId" | "name" | "input">): UiMessageChunk {
  return { type: "tool-input-available", toolCallId, toolName, input, dynamic: true };
}

function outputOf({ callId: toolCallId, status, result }: ToolResultEntry): UiMessageChunk {
  const text = textOf(result.content, "\n");
  if (status === "ok") return { type: "tool-output-available", toolCallId, output: text, dynamic: true };
  return { type: "tool-output-error", toolCallId, errorText: text, dynamic: true };
}

function endingOf({ error, stopReason, pending = [] }: RunResult): readonly UiMessageChunk[] {
  if (error !== undefined) return [{ type: "error", errorText: error.message }];
  if (stopReason === "aborted") return [{ type: "abort" }];
  return pending
    .filter(({ waitsFor }) => waitsFor === "approval")
    .map(({ callId }) => ({ type: "tool-approval-request", approvalId: callId, toolCallId: callId }));
}

function finishOf({ sessionId, stopReason, usage }: RunResult): UiMessageChunk {
  const { inputTokens, outputTokens } = usage;
  return { type: "finish", messageMetadata: { sessionId, stopReason, inputTokens, outputTokens } };
}

/** Facts of the run in the finished message, as `message.metadata` of the page. */
export interface UiMessageMetadata {
  readonly sessionId: string;
  readonly stopReason: RunResult["stopReason"];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Chunks of the UI message stream, version 1, which `useChat` of the AI SDK reads, from its version 5 on;
 * `tool-approval-request` from 6 on. Source: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
export type UiMessageChunk =
  | { readonly type: "start"; readonly messageId?: string }
  | { readonly type: "start-step" | "finish-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | {
      readonly type: "tool-input-available";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: ToolInput;
      readonly dynamic: true;
    }
  | {
      readonly type: "tool-output-available";
      readonly toolCallId: string;
      readonly output: string;
      readonly dynamic: true;
    }
  | {
      readonly type: "tool-output-error";
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  | { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string }
  | { readonly type: `data-${string}`; readonly data: unknown; readonly transient: true }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "abort" }
  | { readonly type: "finish"; readonly messageMetadata: UiMessageMetadata };
