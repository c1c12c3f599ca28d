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
import { googleError } from "./vendor-error.ts";

/**
 * Renders an answer as `streamGenerateContent?alt=sse` streams it
 * (https://ai.google.dev/api/generate-content). A call has an id only when one is scripted, as older models
 * send none. The signature of reasoning comes, as it does there, with the part that follows. Malformed
 * arguments cannot be sent in this format: the answer then ends with `MALFORMED_FUNCTION_CALL`.
 */
export function* speakGoogle(pieces: readonly ScriptPiece[], context: SpeechContext): Generator<Utterance> {
  const { reason, usage } = spokenEnding(pieces, REASONS);
  const chunk = (parts: readonly Fields[], finishReason?: string): string =>
    data({
      candidates: [
        {
          content: { parts, role: "model" },
          finishReason,
          index: 0,
        },
      ],
      usageMetadata: usageOf(usage, finishReason !== undefined),
      modelVersion: context.model,
      responseId: `response-${context.number}`,
    });
  let signature: Fields = {};
  for (const piece of pieces) {
    if (piece.type === "waits") yield piece;
    else if (piece.type === "fails") {
      yield data(googleError(spokenError(piece)));
      return;
    } else if (piece.type === "thinks") {
      for (const text of deltas(piece.text, context)) yield chunk([{ text, thought: true }]);
      if (piece.signature !== undefined) signature = { thoughtSignature: piece.signature };
    } else if (piece.type === "says") {
      for (const text of deltas(piece.text, context)) yield chunk([{ text, ...take() }]);
    } else if (piece.type === "calls") {
      const { name, args } = spokenCall(piece, context);
      if (args === undefined) {
        yield chunk([], "MALFORMED_FUNCTION_CALL");
        return;
      }
      yield chunk([{ functionCall: { id: piece.id, name, args }, ...take() }]);
    }
  }
  yield chunk([{ text: "", ...take() }], reason);

  function take(): Fields {
    const taken = signature;
    signature = {};
    return taken;
  }
}

const REASONS = {
  stop: "STOP",
  tool_use: "STOP",
  length: "MAX_TOKENS",
  refusal: "SAFETY",
  pause: "STOP",
  other: "OTHER",
};

function data(value: Fields): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

function usageOf(usage: Usage, final: boolean): Fields {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens = 0 } = usage;
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: final ? outputTokens - reasoningTokens : undefined,
    totalTokenCount: inputTokens + (final ? outputTokens : 0),
    cachedContentTokenCount: cacheReadTokens,
    thoughtsTokenCount: final && reasoningTokens > 0 ? reasoningTokens : undefined,
  };
}
