import { utf8Length } from "../../core/base/text.ts";
import type { Message } from "../../core/message/message.ts";
import { PART_TOKENS, type PromptText, promptText, toolPromptText } from "../../core/model/estimate.ts";
import type { ToolSpec } from "../../core/model/model.ts";
import type { ContextView } from "./compactor.ts";

/** For any image size: the documented maximum of the Anthropic API, and among the highest of all vendors. */
export const IMAGE_TOKENS = 1_600;

export interface ContextSize {
  readonly tokens: number;
  /** Tokens of system prompt and tools, which no compaction makes smaller. */
  readonly fixed: number;
  readonly of: (messages: readonly Message[]) => number;
  readonly ofText: (text: string) => number;
}

/**
 * Counts the tokens of conversations. The provider's report of the last request is taken as the truth up to
 * there; anything after it is estimated, corrected by the error of the estimate for the reported part. While
 * there is plenty of room nothing is estimated: an upper bound from lengths alone, kept from turn to turn,
 * suffices.
 */
export class ContextMeter {
  readonly #estimates = new WeakMap<Message | ToolSpec, number>();
  readonly #bounds = new WeakMap<object, RunningBound>();
  readonly #ratios = new WeakMap<object, number>();
  #estimator: TextEstimator | undefined;

  /** Upper bound on the tokens of the next request. Takes time only for messages new since the last call. */
  upperBound(view: ContextView): number {
    const { measured, request, tools } = view;
    const bound = this.#boundOf(view, measured?.messages ?? 0);
    if (measured !== undefined) return measured.tokens + bound;
    const toolBound = tools.reduce((sum, tool) => sum + upperBoundOf(toolPromptText(tool)), 0);
    return bound + toolBound + upperBoundTokens(request.system?.length ?? 0);
  }

  async measure(view: ContextView): Promise<ContextSize> {
    this.#estimator ??= await loadTextEstimator();
    const text = this.#estimator;
    const { measured, messages, request, tools, conversation } = view;
    const plainFixed =
      text(request.system ?? "") +
      tools.reduce((sum, tool) => sum + this.#estimate(tool, () => toolPromptText(tool)), 0);
    const plain = (list: readonly Message[]): number =>
      list.reduce((sum, message) => sum + this.#estimate(message, () => promptText(message)), 0);
    if (measured !== undefined) {
      const estimated = plainFixed + plain(messages.slice(0, measured.messages));
      this.#ratios.set(conversation, clampRatio(measured.tokens / Math.max(1, estimated)));
    }
    const ratio = this.#ratios.get(conversation) ?? 1;
    const of = (list: readonly Message[]): number => Math.ceil(plain(list) * ratio);
    const fixed = Math.ceil(plainFixed * ratio);
    const counted = measured?.messages ?? 0;
    const known = Math.max(measured?.tokens ?? 0, fixed + of(messages.slice(0, counted)));
    return {
      tokens: (measured === undefined ? fixed : known) + of(messages.slice(counted)),
      fixed,
      of,
      ofText: (each) => Math.ceil(text(each) * ratio),
    };
  }

  #estimate(key: Message | ToolSpec, textOf: () => PromptText): number {
    const known = this.#estimates.get(key);
    if (known !== undefined) return known;
    const { texts, images, parts } = textOf();
    const text = this.#estimator ?? (() => 0);
    const tokens =
      texts.reduce((sum, each) => sum + text(each), 0) + images * IMAGE_TOKENS + parts * PART_TOKENS;
    this.#estimates.set(key, tokens);
    return tokens;
  }

  /** The bound of the messages from `from` on, which are only appended to until the next compaction. */
  #boundOf({ conversation, messages, revision }: ContextView, from: number): number {
    const known = this.#bounds.get(conversation);
    const isContinuation = known?.from === from && known.revision === revision;
    let tokens = isContinuation ? known.tokens : 0;
    for (let at = isContinuation ? known.end : from; at < messages.length; at += 1) {
      const message = messages[at];
      if (message !== undefined) tokens += upperBoundOf(promptText(message));
    }
    this.#bounds.set(conversation, { from, revision, end: messages.length, tokens });
    return tokens;
  }
}

interface RunningBound {
  readonly from: number;
  readonly end: number;
  readonly revision: number;
  readonly tokens: number;
}

function upperBoundOf({ texts, images, parts }: PromptText): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return upperBoundTokens(length) + images * IMAGE_TOKENS + parts * PART_TOKENS;
}

/** Bounds the effect of a wrong report (from a server that omits its cache) on the count of long text. */
function clampRatio(ratio: number): number {
  return Math.min(3, Math.max(0.5, ratio));
}

type TextEstimator = (text: string) => number;

/**
 * Loads the estimator, which knows how words, digits, punctuation and Asian scripts are split into tokens.
 * Two cases it was not made for are corrected: long runs without blanks (base64, hashes, minified code) and
 * of mixed punctuation, which cost far more than words. A floor of one token per 16 bytes ensures that
 * nothing long ever counts as nothing.
 */
export async function loadTextEstimator(): Promise<TextEstimator> {
  const { estimateTokenCount } = await import("tokenx");
  return (text) => {
    if (text === "") return 0;
    let tokens = 0;
    for (let at = 0; at < text.length; at += PIECE) {
      const piece = text.slice(at, at + PIECE).toWellFormed();
      tokens += estimateTokenCount(piece);
      for (const [run] of piece.matchAll(DENSE_RUN)) tokens += run.length * DENSE_EXTRA;
      for (const [run] of piece.matchAll(PUNCTUATION_RUN))
        tokens += Math.max(0, changesIn(run) * PUNCTUATION_TOKENS - run.length / PUNCTUATION_PER_TOKEN);
    }
    return Math.ceil(Math.max(tokens, utf8Length(text) / MAX_BYTES_PER_TOKEN));
  };
}

/** Text never has more tokens than UTF-8 bytes, whatever the tokenizer; known from its length alone. */
export function upperBoundTokens(length: number): number {
  return length * 3;
}

/** The estimator keeps all segments of a text in memory, and its pattern overflows on a run of millions. */
const PIECE = 64 * 1024;

const DENSE_RUN: RegExp = /[A-Za-z0-9+/_-]{40,}/g;

/** Such a run has about one token per 2.2 characters; the estimator counts one per 7. */
const DENSE_EXTRA: number = 1 / 2.2 - 1 / 7;

const MAX_BYTES_PER_TOKEN = 16;

/** Only punctuation and symbols. Shorter runs are common in code, and often single tokens. */
const PUNCTUATION_RUN: RegExp = /[^\p{L}\p{N}\s]{8,}/gu;

/** The estimator counts one token for six of them, which is right for a line of one repeated character. */
const PUNCTUATION_PER_TOKEN = 6;

/** Tokens for each character that differs from the one before. */
const PUNCTUATION_TOKENS = 0.7;

function changesIn(run: string): number {
  let changes = 0;
  for (let at = 1; at < run.length; at++) if (run.charCodeAt(at) !== run.charCodeAt(at - 1)) changes++;
  return changes;
}
