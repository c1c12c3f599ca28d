/**
 * Tokens of one or more model requests. `inputTokens` counts everything the model read, cache reads and writes included;
 * `outputTokens` everything it wrote, reasoning included. A figure the provider did not report is absent, never guessed.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens` that came from the provider's prompt cache. */
  readonly cacheReadTokens?: number;
  /** Part of `inputTokens` that was written to the provider's prompt cache. */
  readonly cacheWriteTokens?: number;
  /** Part of `cacheWriteTokens` with a life of one hour, where the provider tells them apart. */
  readonly cacheWrite1hTokens?: number;
  /** Part of `outputTokens` spent on reasoning. */
  readonly reasoningTokens?: number;
  /** The provider's own usage object, unchanged. Absent on sums. */
  readonly raw?: unknown;
}

/** No tokens at all. */
export const NO_USAGE: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

const PARTS = ["cacheReadTokens", "cacheWriteTokens", "cacheWrite1hTokens", "reasoningTokens"] as const;

/** The sum of two usages; a part is present when either has it. */
export function addUsage(left: Usage, right: Usage): Usage {
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
  for (const part of PARTS) {
    const a = left[part];
    const b = right[part];
    if (a !== undefined || b !== undefined) sum[part] = (a ?? 0) + (b ?? 0);
  }
  return sum;
}

/** A token count a provider reported: negative, fractional, missing or absurd values become a whole number ≥ 0. */
export function tokenCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
