import type { ContentBlock, Usage } from "../../core/message/message.ts";
import type { FinishReason } from "../../core/model/model.ts";

/** A line for programs without its `session_id` and `uuid`; `schema/events.json` says what each one holds. */
export interface OutputLine {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Content blocks with the fields of the Anthropic Messages API alone: none that providers want back. */
export function lineBlocks(blocks: readonly ContentBlock[]): readonly object[] {
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
        const told = typeof content === "string" ? content : lineBlocks(content);
        return {
          type: "tool_result",
          tool_use_id,
          content: told,
          ...(is_error === true ? { is_error } : {}),
        };
      }
    }
  });
}

/** Tokens in the words of lines. */
export interface LineUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

/** Tokens as the Anthropic Messages API counts them: `input_tokens` are those outside the prompt cache. */
export function lineUsage(usage: Usage): LineUsage {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    output_tokens: outputTokens,
    cache_read_input_tokens: cacheReadTokens,
    cache_creation_input_tokens: cacheWriteTokens,
  };
}

/** The Anthropic words for finish reasons, whatever the wire; others mean an answer that was cut. */
const STOP_REASONS: { readonly [reason in FinishReason["unified"]]?: string } = {
  stop: "end_turn",
  tool_use: "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  pause: "pause_turn",
};

/** Why an answer ended, in the words of lines; `null` for one that was cut. */
export function stopReasonOf({ unified }: FinishReason): string | null {
  return STOP_REASONS[unified] ?? null;
}
