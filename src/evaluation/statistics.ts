/** A share with the bounds of its 95 % interval, each from 0 to 1. */
export interface ShareEstimate {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The 97.5 % point of the normal distribution. */
const Z = 1.959963984540054;

/** The interval of Wilson (1927) around a share of `count` independent observations; `count` above 0. */
export function wilsonInterval(share: number, count: number): ShareEstimate {
  const spread = Z ** 2 / count;
  const middle = (share + spread / 2) / (1 + spread);
  const half = (Z / (1 + spread)) * Math.sqrt((share * (1 - share)) / count + spread / (4 * count));
  // At the ends a bound is the end itself, whatever rounding makes of it.
  const low = share === 0 ? 0 : Math.max(0, middle - half);
  return { share, low, high: share === 1 ? 1 : Math.min(1, middle + half) };
}

/**
 * The share of tasks that are solved, each task with the share of its own runs. Runs of one task are alike,
 * so the task is the unit: the scatter between tasks says how many independent observations there are, no
 * fewer than tasks and no more than runs, and Wilson's interval is taken for that number. With one run a task
 * it is Wilson's interval itself. Undefined without tasks.
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
  // All alike: nothing says that the runs of a task are independent of each other.
  if (spread === 0 || tasks < 2) return tasks;
  const variance = squares / (tasks * (tasks - 1));
  return variance === 0 ? runs : Math.min(runs, Math.max(tasks, spread / variance));
}

export function shareOf(runs: readonly boolean[]): number {
  return runs.filter(Boolean).length / runs.length;
}

/** The mean; `NaN` of nothing. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The middle value, or the mean of the two in the middle; undefined of nothing, `NaN` with one that is. */
export function median(values: readonly number[]): number | undefined {
  // It cannot be sorted among others.
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
}

/** Runs of one task on the two sides of a comparison; none of them is empty. */
export interface TaskPair {
  readonly a: readonly boolean[];
  readonly b: readonly boolean[];
}

/** Steps a difference is counted in, times the number of tasks: the work is its square at most. */
const MAX_STEPS = 50_000;

/**
 * How likely differences as large as these are by chance alone, in either direction: the exact permutation
 * test over tasks, which swaps the two sides of each. With one run a task it is the exact test of McNemar.
 * Where numbers of runs differ so much that counting would take too long, differences are rounded and the
 * result is no smaller than the exact one.
 */
export function chanceOf(pairs: readonly TaskPair[]): number {
  const denominator = pairs.flatMap(({ a, b }) => [a.length, b.length]).reduce(leastCommonMultiple, 1);
  const steps = Math.max(1, Math.min(denominator, Math.floor(MAX_STEPS / Math.max(1, pairs.length))));
  const exact = pairs.map(({ a, b }) => (shareOf(b) - shareOf(a)) * steps);
  const rounded = exact.map((each) => Math.round(each));
  // Rounding moves each difference by half a step at most, in what was seen and in each of its swaps.
  const slack = steps === denominator ? 0 : pairs.length;
  const seen = Math.abs(rounded.reduce((sum, each) => sum + each, 0)) - slack;
  return chanceOfSum(
    rounded.map(Math.abs).filter((each) => each > 0),
    seen,
  );
}

/** The probability that the sum of these with random signs is at least `seen` away from 0. */
function chanceOfSum(sizes: readonly number[], seen: number): number {
  if (seen <= 0) return 1;
  const reach = sizes.reduce((sum, size) => sum + size, 0);
  let chances = new Float64Array(2 * reach + 1);
  chances[reach] = 1;
  for (const size of sizes) {
    const next = new Float64Array(chances.length);
    for (let at = 0; at < next.length; at++)
      next[at] = ((chances[at - size] ?? 0) + (chances[at + size] ?? 0)) / 2;
    chances = next;
  }
  const beyond = chances.filter((_chance, at) => Math.abs(at - reach) >= seen);
  return Math.min(
    1,
    beyond.reduce((sum, each) => sum + each, 0),
  );
}

function leastCommonMultiple(left: number, right: number): number {
  let [a, b] = [left, right];
  while (b !== 0) [a, b] = [b, a % b];
  // Beyond what can be counted with anyway, one number is as good as another.
  return Math.min((left / a) * right, Number.MAX_SAFE_INTEGER);
}
