import type { Fields } from "../core/base/json.ts";
import type { Usage } from "../core/message/message.ts";
import type { ScriptPiece } from "./script.ts";
import {
  deltas,
  namedEvent,
  type SpeechContext,
  spokenCall,
  spokenEnding,
  spokenError,
  type Utterance,
} from "./speech.ts";
import { anthropicError } from "./vendor-error.ts";

/** Renders an answer as docs.anthropic.com/en/docs/build-with-claude/streaming describes it. */
export function* speakAnthropic(
  pieces: readonly ScriptPiece[],
  context: SpeechContext,
): Generator<Utterance> {
  const { reason, usage } = spokenEnding(pieces, REASONS);
  yield event("message_start", { message: messageStart(usage, context) });
  yield event("ping", {});
  let index = 0;
  for (const piece of pieces) {
    if (piece.type === "waits") yield piece;
    else if (piece.type === "fails") {
      yield namedEvent("error", anthropicError(spokenError(piece)));
      return;
    } else if (piece.type !== "finishes") {
      yield* contentBlock(piece, index, context);
      index += 1;
    }
  }
  yield event("message_delta", {
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: usage.outputTokens },
  });
  yield event("message_stop", {});
}

const REASONS = {
  stop: "end_turn",
  tool_use: "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  pause: "pause_turn",
};

function event(type: string, data: Fields): string {
  return namedEvent(type, { type, ...data });
}

function messageStart(usage: Usage, context: SpeechContext): Fields {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  return {
    id: `msg_${context.number}`,
    type: "message",
    role: "assistant",
    model: context.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.inputTokens - cacheReadTokens - cacheWriteTokens,
      cache_creation_input_tokens: cacheWriteTokens,
      cache_read_input_tokens: cacheReadTokens,
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWriteTokens - cacheWrite1hTokens,
        ephemeral_1h_input_tokens: cacheWrite1hTokens,
      },
      output_tokens: 1,
      service_tier: "standard",
    },
  };
}

function* contentBlock(
  piece: Extract<ScriptPiece, { type: "says" | "thinks" | "calls" }>,
  index: number,
  context: SpeechContext,
): Generator<string> {
  const delta = (data: Fields): string => event("content_block_delta", { index, delta: data });
  if (piece.type === "says") {
    yield event("content_block_start", { index, content_block: { type: "text", text: "" } });
    for (const text of deltas(piece.text, context)) yield delta({ type: "text_delta", text });
  } else if (piece.type === "thinks") {
    yield event("content_block_start", {
      index,
      content_block: { type: "thinking", thinking: "", signature: "" },
    });
    for (const thinking of deltas(piece.text, context)) yield delta({ type: "thinking_delta", thinking });
    if (piece.signature !== undefined) yield delta({ type: "signature_delta", signature: piece.signature });
  } else {
    const { id, name, json } = spokenCall(piece, context);
    yield event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } });
    yield delta({ type: "input_json_delta", partial_json: "" });
    for (const partial_json of deltas(json, context)) yield delta({ type: "input_json_delta", partial_json });
  }
  yield event("content_block_stop", { index });
}
