import type { Fields } from "../core/base/json.ts";
import type { Usage } from "../core/message/message.ts";
import type { ScriptPiece } from "./script.ts";
import {
  deltas,
  type SpeechContext,
  spokenCall,
  spokenEnding,
  spokenError,
  type Utterance,
} from "./speech.ts";
import { openAiError } from "./vendor-error.ts";

/**
 * Renders an answer as Chat Completions streams it
 * (https://platform.openai.com/docs/api-reference/chat-streaming). Reasoning goes into `reasoning_content`,
 * as compatible servers send it; signatures have no place in this format.
 */
export function* speakOpenAiChat(
  pieces: readonly ScriptPiece[],
  context: SpeechContext,
): Generator<Utterance> {
  const { reason, usage } = spokenEnding(pieces, REASONS);
  const chunk = (delta: Fields, finish: string | null = null): string =>
    data({
      ...head(context),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(context.wantsUsage ? { usage: null } : {}),
    });
  const callsTool = pieces.some((piece) => piece.type === "calls");
  yield chunk({ role: "assistant", content: callsTool ? null : "", refusal: null });
  let callIndex = 0;
  for (const piece of pieces) {
    if (piece.type === "waits") yield piece;
    else if (piece.type === "fails") {
      yield data(openAiError(spokenError(piece)));
      return;
    } else if (piece.type === "says")
      for (const content of deltas(piece.text, context)) yield chunk({ content });
    else if (piece.type === "thinks") {
      for (const reasoning of deltas(piece.text, context)) yield chunk({ reasoning_content: reasoning });
    } else if (piece.type === "calls") {
      const { id, name, json } = spokenCall(piece, context);
      const index = callIndex++;
      yield chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
      for (const part of deltas(json, context))
        yield chunk({ tool_calls: [{ index, function: { arguments: part } }] });
    }
  }
  yield chunk({}, reason);
  if (context.wantsUsage) yield data({ ...head(context), choices: [], usage: usageOf(usage) });
  yield "data: [DONE]\n\n";
}

const REASONS = {
  stop: "stop",
  tool_use: "tool_calls",
  length: "length",
  refusal: "content_filter",
  pause: "stop",
};

function data(value: Fields): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function head(context: SpeechContext): Fields {
  return {
    id: `chatcmpl-${context.number}`,
    object: "chat.completion.chunk",
    created: 1_767_225_600,
    model: context.model,
    service_tier: "default",
    system_fingerprint: "fp_scripted",
  };
}

function usageOf(usage: Usage): Fields {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0, audio_tokens: 0 },
  };
}
