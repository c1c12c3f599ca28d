import type { Message } from "../../core/message/message.ts";
import { estimateTokens, InputEstimates } from "../../core/model/estimate.ts";
import type { ContextView } from "./compactor.ts";

/** For any image size: the documented maximum of the Anthropic API, and among the highest of all vendors. */
export const IMAGE_TOKENS = 1_600;

/** Tokens of common text per estimated token, as the estimate is on the high side. */
const TYPICAL_RATIO = 0.75;

export interface ContextSize {
  readonly tokens: number;
  /** Tokens of system prompt and tools, which no compaction makes smaller. */
  readonly fixed: number;
  readonly of: (messages: readonly Message[]) => number;
  readonly ofText: (text: string) => number;
}

/**
 * Counts the tokens of conversations. The provider's report of the last request is taken as the truth up to
 * there; anything after it is estimated, corrected by the error of the estimate for the reported part.
 */
export class ContextMeter {
  readonly #estimates = new InputEstimates(IMAGE_TOKENS / TYPICAL_RATIO);
  readonly #ratios = new WeakMap<object, number>();

  measure({ measured, messages, request, tools, conversation }: ContextView): ContextSize {
    const plain = (list: readonly Message[]): number => this.#estimates.ofRequest({ messages: list });
    const plainFixed = this.#estimates.ofRequest({ ...request, tools, messages: [] });
    if (measured !== undefined) {
      const estimated = plainFixed + plain(messages.slice(0, measured.messages));
      this.#ratios.set(conversation, clampRatio(measured.tokens / Math.max(1, estimated)));
    }
    const ratio = this.#ratios.get(conversation) ?? TYPICAL_RATIO;
    const of = (list: readonly Message[]): number => Math.ceil(plain(list) * ratio);
    const fixed = Math.ceil(plainFixed * ratio);
    const reported = measured?.messages ?? 0;
    const known = Math.max(measured?.tokens ?? 0, fixed + of(messages.slice(0, reported)));
    return {
      tokens: known + of(messages.slice(reported)),
      fixed,
      of,
      ofText: (text) => Math.ceil(estimateTokens(text) * ratio),
    };
  }
}

/** Bounds the effect of a wrong report (from a server that omits its cache) on the count of long text. */
function clampRatio(ratio: number): number {
  return Math.min(3, Math.max(0.5, ratio));
}
