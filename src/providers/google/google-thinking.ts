import type { Effort } from "../../core/model/model.ts";
import type { GoogleModelTraits, ThinkingLevel } from "./model-traits.ts";

/** `generationConfig.thinkingConfig` as this wire sends it: a budget in tokens or a level, never both. */
export type GoogleThinkingConfig =
  | { readonly includeThoughts: boolean; readonly thinkingBudget: number }
  | { readonly includeThoughts: boolean; readonly thinkingLevel: ThinkingLevel };

/**
 * The thinking configuration for an effort. `undefined` (the model's own default) without an effort and for models that do not
 * think. Where thinking cannot be switched off, `none` is the least there is. Thought summaries are asked for unless `none`.
 */
export function thinkingConfig(
  effort: Effort | undefined,
  traits: GoogleModelTraits,
): GoogleThinkingConfig | undefined {
  if (effort === undefined || traits.thinking === "none") return undefined;
  const includeThoughts = effort !== "none";
  if (traits.thinking === "budget") {
    const thinkingBudget = Math.min(traits.maxBudget, Math.max(traits.minBudget, BUDGETS[effort]));
    return { includeThoughts, thinkingBudget };
  }
  return { includeThoughts, thinkingLevel: nearestLevel(LEVELS[effort], traits.levels) };
}

const BUDGETS: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
};

const LEVELS: { readonly [E in Effort]: ThinkingLevel } = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
};

const ORDER: readonly ThinkingLevel[] = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];

/** The level itself, else the next higher one the model knows. */
function nearestLevel(level: ThinkingLevel, known: readonly ThinkingLevel[]): ThinkingLevel {
  return known.find((candidate) => ORDER.indexOf(candidate) >= ORDER.indexOf(level)) ?? "HIGH";
}
