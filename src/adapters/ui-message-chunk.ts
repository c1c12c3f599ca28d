import type { RunResult } from "../core/agent/result.ts";
import type { ToolInput } from "../core/message/message.ts";

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
