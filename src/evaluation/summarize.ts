import { counted } from "../core/base/text.ts";
import { describeDuration } from "../tools/shell/report.ts";
import type { RunRecord } from "./run-record.ts";
import { chanceOf, mean, median, type ShareEstimate, shareOf, solvedShare } from "./statistics.ts";

/** How a model did. Runs that count for nothing are left out of all figures but `errors`. */
export interface ModelSummary {
  readonly model: string;
  readonly tasks: number;
  readonly runs: number;
  readonly solvedRuns: number;
  /** Runs that say nothing about the model. */
  readonly errors: number;
  /** Calls that were refused, over all runs. */
  readonly refused: number;
  /** Undefined without a run that counts. */
  readonly solved: ShareEstimate | undefined;
  readonly turns: number | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedTokens: number | undefined;
  /** US dollars of a run; undefined when a price is unknown. */
  readonly costUsd: number | undefined;
  readonly ms: number | undefined;
  /** US dollars of all runs, those that count for nothing included; undefined when a price is unknown. */
  readonly totalUsd: number | undefined;
}

/** The summaries of all models, in the order of their first runs. Figures of a run are medians. */
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
  const runs = all.filter(counts);
  const byTask = solvedByTask(runs);
  const middle = (value: (record: RunRecord) => number): number | undefined => median(runs.map(value));
  return {
    model,
    tasks: byTask.size,
    runs: runs.length,
    solvedRuns: runs.filter(({ solved }) => solved).length,
    errors: all.length - runs.length,
    refused: all.reduce((sum, { refused }) => sum + refused, 0),
    solved: solvedShare([...byTask.values()]),
    turns: middle(({ turns }) => turns),
    inputTokens: middle(({ inputTokens }) => inputTokens),
    outputTokens: middle(({ outputTokens }) => outputTokens),
    cachedTokens: middle(({ cachedTokens }) => cachedTokens),
    costUsd: known(middle(({ costUsd }) => costUsd ?? Number.NaN)),
    ms: middle(({ ms }) => ms),
    totalUsd: known(all.reduce((sum, { costUsd }) => sum + (costUsd ?? Number.NaN), 0)),
  };
}

/** True for a run that says something about its model. */
export function counts({ error }: RunRecord): boolean {
  return error === undefined;
}

function known(value: number | undefined): number | undefined {
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

/** A task on both sides of a comparison: the shares of its runs that solved it. */
interface TaskChange {
  readonly task: string;
  readonly a: number;
  readonly b: number;
}

export interface Comparison {
  readonly a: string;
  readonly b: string;
  /** Tasks that both sides have in the same form. */
  readonly tasks: number;
  /** Tasks that only one side has. */
  readonly missing: readonly string[];
  /** Tasks that were changed between the two. */
  readonly changed: readonly string[];
  /** Mean shares of solved tasks. */
  readonly shareA: number;
  readonly shareB: number;
  /** How likely a difference as large is by chance alone. */
  readonly chance: number;
  readonly isMoreThanChance: boolean;
  readonly better: readonly TaskChange[];
  readonly worse: readonly TaskChange[];
  /** The mean of `b` as a multiple of that of `a`, over tasks; undefined where it is unknown or 0. */
  readonly ratios: {
    readonly costUsd: number | undefined;
    readonly ms: number | undefined;
    readonly tokens: number | undefined;
    readonly turns: number | undefined;
  };
}

/** A difference that is likelier than this may well be chance. */
const LEVEL = 0.05;

/** Compares two sides over the tasks that both have in the same form. Undefined when there are none. */
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
    isMoreThanChance: chance < LEVEL,
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
  for (const record of records.filter(counts)) {
    const runs = tasks.get(record.task) ?? [];
    // Of a task that was changed in between only its newest form counts.
    tasks.set(record.task, [...runs.filter(({ hash }) => hash === record.hash), record]);
  }
  return tasks;
}

/** Compares every two models of one evaluation, the earlier one as `a`. */
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

/** The results of an evaluation as its page shows them. */
export interface EvaluationContent {
  readonly title: string;
  readonly records: readonly RunRecord[];
  readonly summaries: readonly ModelSummary[];
  readonly comparisons: readonly Comparison[];
  /** Titles of tasks by their names. */
  readonly titles: ReadonlyMap<string, string>;
  /** Runs that are still to be made. */
  readonly open: number;
}
