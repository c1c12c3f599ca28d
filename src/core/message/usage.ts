/**
 * Tokens of one or more model requests. `inputTokens` counts everything the model read, cache reads and
 * writes included; `outputTokens` everything it wrote, reasoning included. A figure the provider did not
 * report is absent; the two totals are estimated then where a limit or a bill depends on them, and
 * `estimated` says so.
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
  /** True when figures are estimated: the provider reported none, or the answer was cut. */
  readonly estimated?: true;
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
  if (left.estimated === true || right.estimated === true) sum.estimated = true;
  return sum;
}

/** A usage of whole numbers from 0; other figures that a provider sends count as not reported. */
export function cleanUsage(usage: Usage): Usage {
  const clean: { -readonly [K in keyof Usage]: Usage[K] } = {
    ...usage,
    inputTokens: tokenCount(usage.inputTokens),
    outputTokens: tokenCount(usage.outputTokens),
  };
  for (const part of PARTS) if (usage[part] !== undefined) clean[part] = tokenCount(usage[part]);
  return clean;
}

/** A reported token count; negative, fractional, missing or absurd values become a whole number ≥ 0. */
export function tokenCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

/** The parts of a usage that a provider reported as numbers. */
export function usageParts(reported: { readonly [K in (typeof PARTS)[number]]?: unknown }): Partial<Usage> {
  const parts: { -readonly [K in keyof Usage]?: Usage[K] } = {};
  for (const part of PARTS) if (typeof reported[part] === "number") parts[part] = tokenCount(reported[part]);
  return parts;
}
