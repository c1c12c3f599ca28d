import { tmpdir } from "node:os";
import { invalidArgument, isNanoAgentError, NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { SharedBudget } from "../core/model/budget.ts";
import { NO_SESSION_HINT } from "../session/session-error.ts";
import { isLocked, takeLock } from "../session/session-lock.ts";
import { createProcessWatcher } from "../system/process-watcher.ts";
import { isWithin, realPath } from "../system/real-path.ts";
import { type PlannedRun, performRun, type RunContext } from "./perform-run.ts";
import { gitFoldersAround, type SuiteTasks } from "./read-suites.ts";
import {
  keyOf,
  latestOfEach,
  type ResultsFolder,
  type RunRecord,
  SCRATCH_PREFIX,
  spentByInterrupted,
} from "./results-folder.ts";
import { isCounted } from "./summarize.ts";
import {
  forceRemove,
  isDiskFull,
  makeWorkFolder,
  removeFolder,
  removeIfEmpty,
  workFoldersOf,
} from "./task-scratch.ts";

export interface EvaluationOptions extends Pick<SuiteTasks, "suites" | "tasks"> {
  readonly models: readonly string[];
  readonly repeats: number;
  readonly jobs: number;
  readonly folder: ResultsFolder;
  /** US dollars that all runs together may cost, including earlier ones. */
  readonly maxUsd: number | undefined;
  readonly place: Pick<RunContext, "session" | "config" | "env" | "keepsScratch" | "onScratch">;
  /** The options and settings that affect runs: they must be the same for all runs of a folder. */
  readonly conditions: { readonly [name: string]: unknown };
  readonly signal: AbortSignal;
  readonly onEvent: (event: EvaluationEvent) => void;
  /** Receives a function that kills everything immediately, for use right before the process exits. */
  readonly onLive: (killNow: () => void) => void;
}

export type EvaluationEvent =
  | {
      readonly type: "begin";
      readonly open: number;
      readonly done: number;
      /** Numbers of unreadable lines in the earlier results. */
      readonly damaged: readonly number[];
      /** Tasks that have changed since: their earlier results no longer count. */
      readonly changed: readonly string[];
    }
  | { readonly type: "run"; readonly record: RunRecord; readonly done: number; readonly total: number };

export interface EvaluationResult {
  /** The newest record of each run of the tasks, including runs of earlier commands. */
  readonly records: readonly RunRecord[];
  readonly open: number;
  readonly isShort: boolean;
  readonly spentUsd: number | undefined;
}

/**
 * Makes every run that has no result yet, and writes each result down as soon as it is known. Resolves when
 * all are made, the signal is aborted, or the money is used up. Throws for errors that every run would have,
 * once the running ones have ended.
 */
export async function evaluate(options: EvaluationOptions): Promise<EvaluationResult> {
  const { folder, tasks, onEvent } = options;
  folder.ensure();
  const lock = await takeLock(folder.lock).catch((error: unknown) => {
    if (!isLocked(folder.lock)) throw error;
    throw invalidArgument(
      `Another evaluation writes to ${folder.path}. Wait until it has ended, or name another folder with -o.`,
      { cause: error },
    );
  });
  try {
    // Leftovers of a killed evaluation.
    await Promise.all([folder.judges, ...workFoldersOf(folder.scratchPrefix)].map(removeFolder));
    folder.assertOptions(options.conditions);
    const { records, damaged } = folder.read();
    const hashes = new Map(tasks.map(({ name, hash }) => [name, hash]));
    const current = records.filter(({ task, hash }) => hashes.get(task) === hash);
    const stale = records.filter(({ task, hash }) => hashes.has(task) && hashes.get(task) !== hash);
    const counted = new Set(latestOfEach(current).filter(isCounted).map(keyOf));
    const planned = plannedRuns(options);
    const open = planned.filter((run) => !counted.has(keyOf(run)));
    const changed = [...new Set(stale.map(({ task }) => task))];
    onEvent({ type: "begin", open: open.length, done: planned.length - open.length, damaged, changed });
    const shared = sharedBudget(options, records);
    const left = await new Evaluation(options, shared, planned.length).perform(open);
    return {
      records: inOrder(
        latestOfEach(folder.read().records.filter(({ task, hash }) => hashes.get(task) === hash)),
        options.models,
      ),
      ...left,
      spentUsd: shared?.spentUsd,
    };
  } finally {
    lock.release();
  }
}

/** Models in the requested order, then those of earlier commands; then tasks, then repeats. */
function inOrder(records: readonly RunRecord[], models: readonly string[]): readonly RunRecord[] {
  const names = [...models, ...records.map(({ model }) => model).sort()];
  return records.toSorted(
    (left, right) =>
      names.indexOf(left.model) - names.indexOf(right.model) ||
      (left.task < right.task ? -1 : left.task > right.task ? 1 : left.repeat - right.repeat),
  );
}

/** All requested runs, ordered so that early results cover all tasks and models. */
function plannedRuns({ tasks, models, repeats }: EvaluationOptions): readonly PlannedRun[] {
  return Array.from({ length: repeats }, (_none, at) =>
    tasks.flatMap((source) =>
      models.map((model): PlannedRun => ({ source, task: source.name, model, repeat: at + 1 })),
    ),
  ).flat();
}

function sharedBudget(
  { maxUsd, folder }: EvaluationOptions,
  records: readonly RunRecord[],
): SharedBudget | undefined {
  if (maxUsd === undefined) return undefined;
  const known = new Set(records.map(({ session }) => session));
  const costs = [...records.map(({ costUsd }) => costUsd ?? undefined), spentByInterrupted(folder, known)];
  const spentUsd = costs.reduce<number>((sum, cost) => sum + (cost ?? Number.NaN), 0);
  if (Number.isNaN(spentUsd))
    throw invalidArgument(
      `What the runs in ${folder.path} have cost is not known, because the price of a model was unknown. Name another folder with -o, or leave --max-budget-usd out.`,
    );
  return new SharedBudget(maxUsd, { spentUsd });
}

/** Adds how to continue. Omits the session's advice to run without storing it. */
function withResumeAdvice(error: unknown, { path }: ResultsFolder): unknown {
  if (!isNanoAgentError(error, "journal")) return error;
  const reason = error.message.replace(NO_SESSION_HINT, "").replace(/ Put that right\.$/, "");
  return new NanoAgentError(
    "journal",
    `${reason} ${isDiskFull(error) ? "Make room, and" : "When that is put right,"} give the same command with -o ${path}: what is known by now is kept.`,
    { cause: error },
  );
}

/** Prefix of folders that a person wants to look at. */
const KEPT_PREFIX = "nano-agent-kept-";

/**
 * The paths that reveal how tasks are solved, links resolved: the tasks, Git's copies of them, results, and
 * the existing scratch folders of other evaluations.
 */
function hiddenFrom({ suites, tasks, folder }: EvaluationOptions): string[] {
  const given = [...suites, ...tasks.map((task) => task.folder)];
  const results = folder.foldersToHide(realPath(tmpdir()));
  const scratch = [KEPT_PREFIX, SCRATCH_PREFIX].flatMap(workFoldersOf);
  const paths = [...new Set([...given, ...given.flatMap(gitFoldersAround), ...results, ...scratch])];
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(path, other)));
}

class Evaluation {
  readonly #options: EvaluationOptions;
  readonly #place: Omit<RunContext, "scratch" | "closed">;
  readonly #closed: string[];
  readonly #failed = new AbortController();
  readonly #total: number;
  #done: number;
  #isBudgetSpent = false;

  constructor(options: EvaluationOptions, shared: SharedBudget | undefined, total: number) {
    this.#options = options;
    this.#total = total;
    this.#done = total;
    const signal = AbortSignal.any([options.signal, this.#failed.signal]);
    const watcher = createProcessWatcher();
    const live: RunContext["live"] = new Set();
    this.#closed = hiddenFrom(options);
    const onScratch: RunContext["onScratch"] = (scratch) => {
      // Later agents must not find earlier work there.
      this.#closed.push(scratch.root);
      options.place.onScratch(scratch);
    };
    this.#place = { ...options.place, shared, signal, watcher, live, onScratch };
    options.onLive(() => {
      for (const session of live) session.killNow();
    });
  }

  /** Resolves to the number of remaining runs, and whether the budget is spent. */
  async perform(open: readonly PlannedRun[]): Promise<Pick<EvaluationResult, "open" | "isShort">> {
    const waiting = [...open];
    this.#done = this.#total - open.length;
    const { folder, jobs, place } = this.#options;
    folder.makeJudges();
    const count = Math.min(jobs, open.length);
    // A folder a person asked for must not be removed with the leftovers of a killed command.
    const prefix = place.keepsScratch ? KEPT_PREFIX : folder.scratchPrefix;
    // All before the first run, so that each agent can be denied the others' folders.
    const workplaces = await Promise.all(Array.from({ length: count }, () => makeWorkFolder(prefix)));
    const removal = { killNow: () => workplaces.forEach(forceRemove) };
    if (!place.keepsScratch) this.#place.live.add(removal);
    try {
      await Promise.allSettled(workplaces.map((workplace) => this.#work(waiting, workplace, workplaces)));
    } finally {
      const removed = workplaces.map(place.keepsScratch ? removeIfEmpty : removeFolder);
      await Promise.all([...removed, removeFolder(folder.judges)]);
      this.#place.live.delete(removal);
    }
    // The first error: later ones may only be its consequence.
    if (this.#failed.signal.aborted) throw toNanoAgentError(this.#failed.signal.reason);
    return { open: this.#total - this.#done, isShort: this.#isBudgetSpent };
  }

  async #work(waiting: PlannedRun[], workplace: string, all: readonly string[]): Promise<void> {
    const scratch = { workplace, judges: this.#options.folder.judges };
    const others = all.filter((each) => each !== workplace);
    for (let run = this.#next(waiting); run !== undefined; run = this.#next(waiting))
      await this.#make(run, { ...this.#place, scratch, closed: [...this.#closed, ...others] });
  }

  #next(waiting: PlannedRun[]): PlannedRun | undefined {
    const { signal, shared } = this.#place;
    if (signal.aborted || waiting.length === 0) return undefined;
    this.#isBudgetSpent ||= shared !== undefined && shared.spentUsd >= shared.usd;
    return this.#isBudgetSpent ? undefined : waiting.shift();
  }

  async #make(run: PlannedRun, place: RunContext): Promise<void> {
    try {
      const end = await performRun(run, place);
      if (end === "out_of_money") this.#isBudgetSpent = true;
      if (end === "out_of_money" || end === "interrupted") return;
      const { folder, onEvent } = this.#options;
      if (end.output !== undefined) folder.saveOutput(end.record, end.output);
      folder.append(end.record);
      this.#done++;
      onEvent({ type: "run", record: end.record, done: this.#done, total: this.#total });
    } catch (error) {
      // An aborted run may end with an error; it is repeated later.
      if (!this.#options.signal.aborted) this.#failed.abort(withResumeAdvice(error, this.#options.folder));
      throw error;
    }
  }
}
