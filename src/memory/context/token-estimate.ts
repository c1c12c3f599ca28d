import { utf8Length } from "../../core/base/text.ts";

/** Tokens of a text, estimated. */
export type TextEstimator = (text: string) => number;

/**
 * Loads the estimator, which knows how words, digits, punctuation and the scripts of Asia are cut into
 * tokens. Two things it was not made for are corrected: long runs without a blank (base64, hashes, minified
 * code) and of changing punctuation, which cost far more than words, and a floor of one token for 16 bytes,
 * so that nothing long ever counts as nothing.
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
      for (const [run] of piece.matchAll(MARKS_RUN))
        tokens += Math.max(0, changesIn(run) * MARK_TOKENS - run.length / MARKS_PER_TOKEN);
    }
    return Math.ceil(Math.max(tokens, utf8Length(text) / BYTES_PER_TOKEN_AT_MOST));
  };
}

/** A text never has more tokens than bytes in UTF-8, whatever the tokenizer; known without reading it. */
export function mostTokens(length: number): number {
  return length * 3;
}

/** The estimator keeps all segments of a text in memory, and a pattern has no stack for a run of millions. */
const PIECE = 64 * 1024;

const DENSE_RUN: RegExp = /[A-Za-z0-9+/_-]{40,}/g;

/** Such a run has about one token for 2.2 characters; the estimator counts one for 7. */
const DENSE_EXTRA: number = 1 / 2.2 - 1 / 7;

const BYTES_PER_TOKEN_AT_MOST = 16;

/** Nothing but punctuation and symbols; shorter runs are those of code, which tokenizers have whole. */
const MARKS_RUN: RegExp = /[^\p{L}\p{N}\s]{8,}/gu;

/** The estimator counts one token for six of them, which holds for a ruler of one mark repeated. */
const MARKS_PER_TOKEN = 6;

/** Tokens for each mark that is another one than the mark before. */
const MARK_TOKENS = 0.7;

function changesIn(run: string): number {
  let changes = 0;
  for (let at = 1; at < run.length; at++) if (run.charCodeAt(at) !== run.charCodeAt(at - 1)) changes++;
  return changes;
}
