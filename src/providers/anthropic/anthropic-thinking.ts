import type { Effort } from "../../core/model/model.ts";

/**
 * How a model takes an effort. `budget`: thinking with a number of tokens (Claude 3.7 to 4.5) · `adaptive`:
 * the model decides, guided by an effort word (from Claude 4.6) · `none`: it does not think.
 */
export type ThinkingMode = "none" | "budget" | "adaptive";

/** Traits of a model. Source: the "Thinking" and "Effort" pages and migration guides of Anthropic. */
export interface ThinkingTraits {
  readonly mode: ThinkingMode;
  /** `off`: only when asked · `on`: unless told not to · `always`: refuses forced tool calls, too. */
  readonly standard: "off" | "on" | "always";
  readonly highest: "high" | "max" | "xhigh";
  /** False where `temperature`, `top_p` and `top_k` are refused. */
  readonly sampling: boolean;
}

const BUDGET: ThinkingTraits = { mode: "budget", standard: "off", highest: "high", sampling: true };
const NO_THINKING: ThinkingTraits = { ...BUDGET, mode: "none" };
const MODERN: ThinkingTraits = { mode: "adaptive", standard: "on", highest: "xhigh", sampling: false };

/**
 * The traits of a model, by its id: `claude-opus-4-5-20251101`, `claude-3-7-sonnet-latest` and the spellings
 * of gateways (`anthropic.claude-sonnet-4-6-v1`, `claude-opus-4.7`). Models of others are taken to know the
 * token budget, which is what compatible servers have copied.
 */
export function thinkingTraits(modelId: string): ThinkingTraits {
  const id = modelId.toLowerCase().replaceAll(".", "-");
  const legacy = /claude-(\d)(?:-(\d))?(?!\d)/.exec(id);
  if (legacy !== null) return versionOf(legacy[1], legacy[2]) >= 307 ? BUDGET : NO_THINKING;
  const named = /claude-([a-z]+)-(?:(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?)?/.exec(id);
  if (named === null) return BUDGET;
  const [, family = "", major, minor] = named;
  if (family === "fable" || family === "mythos") return { ...MODERN, standard: "always" };
  if (major === undefined) return MODERN;
  return traitsOf(family, versionOf(major, minor));
}

/** Tokens to think with, for models that take a budget. The API asks for at least 1,024. */
export const THINKING_BUDGETS: { readonly [E in Exclude<Effort, "none">]: number } = {
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 20_480,
  xhigh: 32_768,
};

function traitsOf(family: string, version: number): ThinkingTraits {
  if (version < 406) return BUDGET;
  if (version < 407) return { mode: "adaptive", standard: "off", highest: "max", sampling: true };
  if (version < 500) return { ...MODERN, standard: "off" };
  return family === "opus" && version >= 505 ? { ...MODERN, standard: "always" } : MODERN;
}

function versionOf(major: string | undefined, minor: string | undefined): number {
  return Number(major ?? 0) * 100 + Number(minor ?? 0);
}
