import { NanoAgentError } from "../base/errors.ts";
import { messageText, toolCallsOf } from "../message/message.ts";
import type { CollectedAnswer } from "../model/collect.ts";
import type { FinishReason, Model } from "../model/model.ts";

/** Share of the window from which on an answer that was cut was cut by the window. */
const NEARLY_FULL = 0.8;

/** The vendors' words for an answer that ended because the window was full, whatever the output limit. */
const FULL_WORDS =
  /context_window_exceeded|context_length_exceeded|^model_length$|^context_(?:length|window)$/i;

/**
 * True for an answer that the window cut: the provider says so, or nothing was written because prompt and
 * reasoning already fill it.
 */
export function isWindowFull(model: Model, { message, finish }: CollectedAnswer): boolean {
  const { unified, raw } = finish.finishReason;
  if (FULL_WORDS.test(raw)) return true;
  if (unified !== "length" || messageText(message).trim() !== "" || toolCallsOf(message).length > 0)
    return false;
  const { inputTokens, outputTokens } = finish.usage;
  return fillsWindow(model, inputTokens + outputTokens);
}

/** True when so many tokens leave the model no room worth speaking of. */
export function fillsWindow({ info }: Model, tokens: number): boolean {
  const window = info?.contextWindow;
  return window !== undefined && tokens >= NEARLY_FULL * window;
}

/** The failure of a request whose answer the window had no room for. */
export function windowFullError({ provider, id }: Model, { raw }: FinishReason): NanoAgentError {
  return new NanoAgentError(
    "context_overflow",
    `${provider} ended the answer of ${id} with ${JSON.stringify(raw)}: the conversation fills the context window. Shorten or compact it, or use a model with a larger window.`,
    { details: { provider, model: id, finishReason: raw } },
  );
}
