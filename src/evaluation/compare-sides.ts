import type { RunRecord } from "./run-record.ts";
import { chanceOf, mean, shareOf } from "./statistics.ts";
import { counts, modelsOf } from "./summarize.ts";

/** A side of a comparison: the runs of one model. */
export interface ComparisonSide {
  readonly label: string;
  readonly records: readonly RunRecord[];
}

/** A task on both sides of a comparison: the shares of its runs that solved it. */
export interface TaskChange {
  readonly task: string;
  readonly a: number;
  readonly b: number;
}

/** Two sides, task by task. */
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
