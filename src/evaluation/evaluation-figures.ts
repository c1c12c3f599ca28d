import { counted } from "../core/base/text.ts";
import { describeDuration } from "../tools/shell/report.ts";
import type { Comparison } from "./compare-sides.ts";
import type { ModelSummary } from "./summarize.ts";

/** The names of the columns of {@link summaryCells}. */
export const SUMMARY_COLUMNS: readonly string[] = [
  "model",
  "solved",
  "95 % interval",
  "runs",
  "turns",
  "tokens in (cached)",
  "tokens out",
  "cost",
  "time",
];

/** The figures of a model for people; those of a run are medians. */
export function summaryCells(summary: ModelSummary): readonly string[] {
  const { model, solved, runs, solvedRuns, errors, turns, inputTokens, outputTokens, cachedTokens } = summary;
  const count = (value: number | undefined): string =>
    value === undefined ? "-" : String(Math.round(value));
  return [
    model,
    solved === undefined ? "-" : percent(solved.share),
    solved === undefined ? "-" : `${percent(solved.low)} to ${percent(solved.high)}`,
    `${solvedRuns} of ${runs}${errors === 0 ? "" : `, ${errors} failed`}`,
    count(turns),
    inputTokens === undefined ? "-" : `${count(inputTokens)} (${count(cachedTokens)})`,
    count(outputTokens),
    runs === 0 ? "-" : dollars(summary.costUsd),
    summary.ms === undefined ? "-" : describeDuration(summary.ms),
  ];
}

/** A share in whole per cent. A share that is not all, or not nothing, does not look as if it were. */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (rounded === 100 && share < 1) return "99 %";
  return rounded === 0 && share > 0 ? "1 %" : `${rounded} %`;
}

/** US dollars to a hundredth of a cent. */
export function dollars(usd: number | undefined): string {
  return usd === undefined ? "unknown" : `$${usd.toFixed(4)}`;
}

/** The result of a comparison in plain words, one sentence or two. */
export function comparisonVerdict({
  chance,
  isMoreThanChance,
  better,
  worse,
  shareA,
  shareB,
}: Comparison): string {
  if (better.length + worse.length === 0) return "Both solve the same tasks, equally often.";
  const p = `p = ${chance < 0.001 ? "below 0.001" : chance.toFixed(3)}`;
  if (isMoreThanChance)
    return `${shareB > shareA ? "The second is better" : "The second is worse"}, and that is more than chance (${p}).`;
  const few =
    better.length + worse.length < LEAST_CHANGES
      ? ` Fewer than ${LEAST_CHANGES} tasks differ, which never tells: take more tasks.`
      : " More tasks, or more runs of each, would tell.";
  return `That may well be chance: without any difference, one as large comes about with a probability of ${percent(chance)} (${p}).${few}`;
}

/** With fewer tasks that differ no result of the test is below one in twenty. */
const LEAST_CHANGES = 6;

/** The costs and times of the second side as multiples of the first; empty where nothing is known. */
export function ratioText({ ratios }: Comparison): string {
  const parts = [
    ["cost", ratios.costUsd],
    ["time", ratios.ms],
    ["tokens", ratios.tokens],
    ["turns", ratios.turns],
  ] as const;
  return parts
    .flatMap(([name, ratio]) => (ratio === undefined ? [] : [`${name} × ${ratio.toFixed(2)}`]))
    .join(", ");
}

/** The shares of both sides, and how far they are apart. */
export function shareText({ shareA, shareB, tasks }: Comparison): string {
  const points = Math.round((shareB - shareA) * 100);
  return `solved ${percent(shareA)} → ${percent(shareB)} (${points > 0 ? "+" : ""}${points} points) over ${counted(tasks, "task")}`;
}

/** Names with the shares before and after: `rename (100 % → 0 %)`. */
export function changeText(changes: Comparison["better"]): string {
  return changes.map(({ task, a, b }) => `${task} (${percent(a)} → ${percent(b)})`).join(", ");
}
