import type { Effort } from "../../core/model/model.ts";

/** The request shapes a Google model takes, by its id. */
export interface GoogleModelTraits {
  /** By a token budget (2.5), by a level (3 and later), not at all (before, and Gemma). */
  readonly thinking: "budget" | "level" | "none";
  /** Smallest and largest `thinkingBudget`; a minimum above 0 cannot be switched off. */
  readonly minBudget: number;
  readonly maxBudget: number;
  /** Levels the model knows, in rising order. */
  readonly levels: readonly ThinkingLevel[];
  /** True when images may be parts of a function response. */
  readonly functionResponseParts: boolean;
  /** True when a step whose first call has no thought signature is refused. */
  readonly needsSignature: boolean;
  readonly systemInstruction: boolean;
}

/** Values of `thinkingConfig.thinkingLevel`. */
export type ThinkingLevel = "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";

/**
 * Traits by model id. Unknown Gemini ids and the `-latest` aliases count as the newest generation, ids that
 * are no Gemini (Gemma, tuned models) as the oldest. Sources: https://ai.google.dev/gemini-api/docs/thinking,
 * /thought-signatures and /function-calling.
 */
export function googleModelTraits(modelId: string): GoogleModelTraits {
  const id = modelId.toLowerCase();
  const version = /(?:^|[/.])gemini-(\d+)(?:\.(\d+))?/.exec(id);
  const isGemini = /(?:^|[/.])gemini-/.test(id);
  const isOld =
    !isGemini ||
    (version !== null && Number(version[1]) < 3) ||
    /gemini-(?:pro(?:-vision)?$|robotics-er-1)/.test(id);
  const isBudget = /gemini-2\.5/.test(id) && !/-(?:image|tts|native-audio|computer-use)/.test(id);
  const noThinking = isOld || /-(?:image|tts)/.test(id);
  return {
    thinking: isBudget ? "budget" : noThinking ? "none" : "level",
    minBudget: id.includes("2.5-pro") ? 128 : 0,
    maxBudget: id.includes("2.5-pro") ? 32_768 : 24_576,
    levels: levels(id),
    functionResponseParts: !isOld,
    needsSignature: !isOld,
    systemInstruction: !/gemma-3/.test(id),
  };
}

function levels(id: string): readonly ThinkingLevel[] {
  if (/gemini-3-pro/.test(id)) return ["LOW", "HIGH"];
  const isPro = /gemini-(?:\d+(?:\.\d+)?-)?pro/.test(id);
  const flash = /gemini-(\d+)\.(\d+)-flash(?!-lite)/.exec(id);
  const isNewFlash = flash !== null && Number(flash[1]) * 100 + Number(flash[2]) >= 307;
  const isNewer = /gemini-[4-9]/.test(id) || /gemini-flash-latest/.test(id);
  return isPro || isNewFlash || isNewer ? ["LOW", "MEDIUM", "HIGH"] : ["MINIMAL", "LOW", "MEDIUM", "HIGH"];
}

/** `generationConfig.thinkingConfig` as this wire sends it: a budget in tokens or a level, never both. */
export type GoogleThinkingConfig =
  | { readonly includeThoughts: boolean; readonly thinkingBudget: number }
  | { readonly includeThoughts: boolean; readonly thinkingLevel: ThinkingLevel };

/**
 * The thinking configuration for an effort. `undefined` (the model's own default) without an effort and for
 * models that do not think. Where thinking cannot be switched off, `none` is the least there is. Thought
 * summaries are asked for unless `none`.
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
