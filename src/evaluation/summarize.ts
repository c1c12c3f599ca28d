import { pluralize } from "../core/base/text.ts";
import { describeDuration } from "../tools/shell/describe-result.ts";
import type { RunRecord } from "./results-folder.ts";

/** Results of a model. Runs that do not count are excluded from all figures but `errors`. */
export interface ModelSummary {
  readonly model: string;
  readonly tasks: number;
  readonly runs: number;
  readonly solvedRuns: number;
  /** Runs that do not count for or against the model. */
  readonly errors: number;
  readonly refused: number;
  /** Undefined if no run counts. */
  readonly solved: ShareEstimate | undefined;
  readonly turns: number | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedTokens: number | undefined;
  /** US dollars per run; undefined if a price is unknown. */
  readonly costUsd: number | undefined;
  readonly ms: number | undefined;
  /** US dollars of all runs, including those that do not count; undefined if a price is unknown. */
  readonly totalUsd: number | undefined;
}

/** The summaries of all models, in the order of their first runs. Figures per run are medians. */
export function summarize(records: readonly RunRecord[]): readonly ModelSummary[] {
  return modelsOf(records).map((model) =>
    summaryOf(
      model,
      records.filter((each) => each.model === model),
    ),
  );
}

export function modelsOf(records: readonly RunRecord[]): readonly string[] {
  return [...new Set(records.map(({ model }) => model))];
}

function summaryOf(model: string, all: readonly RunRecord[]): ModelSummary {
  const runs = all.filter(isCounted);
  const byTask = solvedByTask(runs);
  const medianOf = (value: (record: RunRecord) => number): number | undefined => median(runs.map(value));
  return {
    model,
    tasks: byTask.size,
    runs: runs.length,
    solvedRuns: runs.filter(({ solved }) => solved).length,
    errors: all.length - runs.length,
    refused: all.reduce((sum, { refused }) => sum + refused, 0),
    solved: solvedShare([...byTask.values()]),
    turns: medianOf(({ turns }) => turns),
    inputTokens: medianOf(({ inputTokens }) => inputTokens),
    outputTokens: medianOf(({ outputTokens }) => outputTokens),
    cachedTokens: medianOf(({ cachedTokens }) => cachedTokens),
    costUsd: knownNumber(medianOf(({ costUsd }) => costUsd ?? Number.NaN)),
    ms: medianOf(({ ms }) => ms),
    totalUsd: knownNumber(all.reduce((sum, { costUsd }) => sum + (costUsd ?? Number.NaN), 0)),
  };
}

export function isCounted({ error }: RunRecord): boolean {
  return error === undefined;
}

function knownNumber(value: number | undefined): number | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : value;
}

function solvedByTask(records: readonly RunRecord[]): ReadonlyMap<string, readonly boolean[]> {
  const byTask = new Map<string, boolean[]>();
  for (const { task, solved } of records) byTask.set(task, [...(byTask.get(task) ?? []), solved]);
  return byTask;
}

interface ComparisonSide {
  readonly label: string;
  readonly records: readonly RunRecord[];
}

/** A task in a comparison, with the share of runs that solved it on each side. */
interface TaskChange {
  readonly task: string;
  readonly a: number;
  readonly b: number;
}

export interface Comparison {
  readonly a: string;
  readonly b: string;
  /** Tasks that are identical on both sides. */
  readonly tasks: number;
  readonly missing: readonly string[];
  readonly changed: readonly string[];
  readonly shareA: number;
  readonly shareB: number;
  /** Probability of a difference this large by chance alone. */
  readonly chance: number;
  readonly isMoreThanChance: boolean;
  readonly better: readonly TaskChange[];
  readonly worse: readonly TaskChange[];
  /** The mean of `b` as a multiple of that of `a`, over tasks; undefined if it is unknown or 0. */
  readonly ratios: {
    readonly costUsd: number | undefined;
    readonly ms: number | undefined;
    readonly tokens: number | undefined;
    readonly turns: number | undefined;
  };
}

const SIGNIFICANCE = 0.05;

/** Compares two sides over the tasks that are identical on both. Undefined if there are none. */
export function compareSides(a: ComparisonSide, b: ComparisonSide): Comparison | undefined {
  const [left, right] = [byTask(a), byTask(b)];
  const names = [...new Set([...left.keys(), ...right.keys()])];
  const missing = names.filter((name) => !left.has(name) || !right.has(name));
  const both = names.filter((name) => !missing.includes(name));
  const isSame = (name: string): boolean => left.get(name)?.[0]?.hash === right.get(name)?.[0]?.hash;
  const tasks = both.filter(isSame).map((task) => {
    const [before, after] = [left.get(task) ?? [], right.get(task) ?? []];
    const pair = { a: before.map(({ solved }) => solved), b: after.map(({ solved }) => solved) };
    return { task, before, after, pair };
  });
  if (tasks.length === 0) return undefined;
  const chance = chanceOf(tasks.map(({ pair }) => pair));
  const changes = tasks.map(({ task, pair }) => ({ task, a: shareOf(pair.a), b: shareOf(pair.b) }));
  const ratio = (value: (record: RunRecord) => number): number | undefined => {
    const [before, after] = [
      mean(tasks.map((each) => mean(each.before.map(value)))),
      mean(tasks.map((each) => mean(each.after.map(value)))),
    ];
    return before > 0 && Number.isFinite(after) ? after / before : undefined;
  };
  return {
    a: a.label,
    b: b.label,
    tasks: tasks.length,
    missing,
    changed: both.filter((name) => !isSame(name)),
    shareA: mean(changes.map((change) => change.a)),
    shareB: mean(changes.map((change) => change.b)),
    chance,
    isMoreThanChance: chance < SIGNIFICANCE,
    better: changes.filter((change) => change.b > change.a),
    worse: changes.filter((change) => change.b < change.a),
    ratios: {
      costUsd: ratio(({ costUsd }) => costUsd ?? Number.NaN),
      ms: ratio(({ ms }) => ms),
      tokens: ratio(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
      turns: ratio(({ turns }) => turns),
    },
  };
}

function byTask({ records }: ComparisonSide): ReadonlyMap<string, readonly RunRecord[]> {
  const tasks = new Map<string, RunRecord[]>();
  for (const record of records.filter(isCounted)) {
    const runs = tasks.get(record.task) ?? [];
    // If a task changed in between, only its newest form counts.
    tasks.set(record.task, [...runs.filter(({ hash }) => hash === record.hash), record]);
  }
  return tasks;
}

export function compareModels(records: readonly RunRecord[]): readonly Comparison[] {
  const models = modelsOf(records);
  const side = (label: string): ComparisonSide => ({
    label,
    records: records.filter(({ model }) => model === label),
  });
  return models.flatMap((a, at) => models.slice(at + 1).flatMap((b) => compareSides(side(a), side(b)) ?? []));
}

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

/** A share in whole per cent. Shows 100 or 0 only if it is exactly all or nothing. */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (rounded === 100 && share < 1) return "99 %";
  return rounded === 0 && share > 0 ? "1 %" : `${rounded} %`;
}

export function dollars(usd: number | undefined): string {
  return usd === undefined ? "unknown" : `$${usd.toFixed(4)}`;
}

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
  const advice =
    better.length + worse.length < MIN_CHANGES
      ? ` Fewer than ${MIN_CHANGES} tasks differ, which never tells: take more tasks.`
      : " More tasks, or more runs of each, would tell.";
  return `That may well be chance: without any difference, one as large comes about with a probability of ${percent(chance)} (${p}).${advice}`;
}

/** With fewer differing tasks, the result of the test is never below one in twenty. */
const MIN_CHANGES = 6;

/** Costs and times of the second side as multiples of the first; empty if nothing is known. */
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

export function shareText({ shareA, shareB, tasks }: Comparison): string {
  const points = Math.round((shareB - shareA) * 100);
  return `solved ${percent(shareA)} → ${percent(shareB)} (${points > 0 ? "+" : ""}${points} points) over ${pluralize(tasks, "task")}`;
}

export function changeText(changes: Comparison["better"]): string {
  return changes.map(({ task, a, b }) => `${task} (${percent(a)} → ${percent(b)})`).join(", ");
}

export interface EvaluationContent {
  readonly title: string;
  readonly records: readonly RunRecord[];
  readonly summaries: readonly ModelSummary[];
  readonly comparisons: readonly Comparison[];
  readonly titles: ReadonlyMap<string, string>;
  /** Runs that are still to be made. */
  readonly open: number;
}

/** A share with the bounds of its 95 % interval, each from 0 to 1. */
export interface ShareEstimate {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The 97.5 % point of the normal distribution. */
const Z = 1.959963984540054;

/** Wilson's interval (1927) around a share of `count` independent observations; `count` above 0. */
export function wilsonInterval(share: number, count: number): ShareEstimate {
  const spread = Z ** 2 / count;
  const center = (share + spread / 2) / (1 + spread);
  const half = (Z / (1 + spread)) * Math.sqrt((share * (1 - share)) / count + spread / (4 * count));
  // At either end the bound is exact, despite rounding.
  const low = share === 0 ? 0 : Math.max(0, center - half);
  return { share, low, high: share === 1 ? 1 : Math.min(1, center + half) };
}

/**
 * The share of solved tasks, each task counting with the share of its own runs. Runs of one task are alike,
 * so the task is the unit: the scatter between tasks gives the number of independent observations, at least
 * the number of tasks and at most that of runs, for Wilson's interval. With one run per task it is Wilson's
 * interval itself. Undefined without tasks.
 */
export function solvedShare(tasks: readonly (readonly boolean[])[]): ShareEstimate | undefined {
  const shares = tasks.filter((runs) => runs.length > 0).map(shareOf);
  if (shares.length === 0) return undefined;
  const share = mean(shares);
  const runs = tasks.reduce((sum, each) => sum + each.length, 0);
  return wilsonInterval(share, independentCount(shares, share, runs));
}

function independentCount(shares: readonly number[], share: number, runs: number): number {
  const tasks = shares.length;
  const squares = shares.reduce((sum, each) => sum + (each - share) ** 2, 0);
  const spread = share * (1 - share);
  // All alike: there is no evidence that the runs of a task are independent of each other.
  if (spread === 0 || tasks < 2) return tasks;
  const variance = squares / (tasks * (tasks - 1));
  return variance === 0 ? runs : Math.min(runs, Math.max(tasks, spread / variance));
}

export function shareOf(runs: readonly boolean[]): number {
  return runs.filter(Boolean).length / runs.length;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The median, or the mean of the two middle values; undefined if empty, `NaN` if any value is. */
export function median(values: readonly number[]): number | undefined {
  // NaN cannot be sorted.
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
}

/** Runs of one task on the two sides of a comparison; neither is empty. */
export interface TaskPair {
  readonly a: readonly boolean[];
  readonly b: readonly boolean[];
}

/** Resolution of a difference times the number of tasks: the work is at most its square. */
const MAX_STEPS = 50_000;

/**
 * Probability of differences this large by chance alone, in either direction: the exact permutation test over
 * tasks, which swaps the two sides of each. With one run per task it is McNemar's exact test. If the numbers
 * of runs differ so much that counting would take too long, differences are rounded and the result is no
 * smaller than the exact one.
 */
export function chanceOf(pairs: readonly TaskPair[]): number {
  const denominator = pairs.flatMap(({ a, b }) => [a.length, b.length]).reduce(leastCommonMultiple, 1);
  const steps = Math.max(1, Math.min(denominator, Math.floor(MAX_STEPS / Math.max(1, pairs.length))));
  const exact = pairs.map(({ a, b }) => (shareOf(b) - shareOf(a)) * steps);
  const rounded = exact.map((each) => Math.round(each));
  // Rounding moves each difference by at most half a step, both in the observed sum and in each swap.
  const slack = steps === denominator ? 0 : pairs.length;
  const observed = Math.abs(rounded.reduce((sum, each) => sum + each, 0)) - slack;
  return chanceOfSum(
    rounded.map(Math.abs).filter((each) => each > 0),
    observed,
  );
}

/** The probability that the sum of these with random signs is at least `observed` away from 0. */
function chanceOfSum(sizes: readonly number[], observed: number): number {
  if (observed <= 0) return 1;
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let chances = new Float64Array(2 * total + 1);
  chances[total] = 1;
  for (const size of sizes) {
    const next = new Float64Array(chances.length);
    for (let at = 0; at < next.length; at++)
      next[at] = ((chances[at - size] ?? 0) + (chances[at + size] ?? 0)) / 2;
    chances = next;
  }
  const beyond = chances.filter((_chance, at) => Math.abs(at - total) >= observed);
  return Math.min(
    1,
    beyond.reduce((sum, each) => sum + each, 0),
  );
}

function leastCommonMultiple(left: number, right: number): number {
  let [a, b] = [left, right];
  while (b !== 0) [a, b] = [b, a % b];
  // Above the countable range the exact value does not matter.
  return Math.min((left / a) * right, Number.MAX_SAFE_INTEGER);
}
