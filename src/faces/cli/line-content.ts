import type { ContentBlock } from "../../core/message/block.ts";
import type { Usage } from "../../core/message/usage.ts";
import type { FinishReason } from "../../core/model/model.ts";
import type { LineBlock, LineUsage } from "./event-line.ts";

/** Content blocks for a line: standard fields only, what providers keep for themselves left out. */
export function lineBlocks(blocks: readonly ContentBlock[]): readonly LineBlock[] {
  return blocks.map(lineBlock);
}

function lineBlock(block: ContentBlock): LineBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      if (block.redacted !== undefined) return { type: "redacted_thinking", data: block.redacted };
      return {
        type: "thinking",
        thinking: block.thinking,
        ...(block.signature === undefined ? {} : { signature: block.signature }),
      };
    case "image":
      return { type: "image", source: block.source };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: block.input };
    case "tool_result":
      return {
        type: "tool_result",
        tool_use_id: block.tool_use_id,
        content: typeof block.content === "string" ? block.content : lineBlocks(block.content),
        ...(block.is_error === true ? { is_error: true } : {}),
      };
  }
}

/** Tokens in the words of lines; cached input is taken out of `input_tokens`. */
export function lineUsage(usage: Usage): LineUsage {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    output_tokens: outputTokens,
    cache_read_input_tokens: cacheReadTokens,
    cache_creation_input_tokens: cacheWriteTokens,
  };
}

/** The Anthropic word for a finish reason, whatever wire it came from; `null` for an answer that was cut. */
export function stopReasonOf({ unified }: FinishReason): string | null {
  switch (unified) {
    case "stop":
      return "end_turn";
    case "tool_use":
      return "tool_use";
    case "length":
      return "max_tokens";
    case "refusal":
      return "refusal";
    case "pause":
      return "pause_turn";
    default:
      return null;
  }
}
