import type { RunRecord } from "./run-record.ts";
import { median, type ShareEstimate, solvedShare } from "./statistics.ts";

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

/** The models of runs, in the order of their first. */
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

/** Which runs of each task solved it. */
function solvedByTask(records: readonly RunRecord[]): ReadonlyMap<string, readonly boolean[]> {
  const byTask = new Map<string, boolean[]>();
  for (const { task, solved } of records) byTask.set(task, [...(byTask.get(task) ?? []), solved]);
  return byTask;
}
