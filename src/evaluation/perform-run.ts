import type { CodingSession, CodingSessionOptions } from "../coding/session/coding-session.ts";
import { type PreparedSession, prepareCodingSession } from "../coding/session/prepare-coding-session.ts";
import type { ConfigFile } from "../coding/settings/config-schema.ts";
import { parseDuration } from "../coding/settings/setting.ts";
import { type ErrorCode, invalidArgument } from "../core/base/errors.ts";
import { newUuid } from "../core/base/ids.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { SharedBudget } from "../core/model/budget.ts";
import type { Environment } from "../system/env.ts";
import type { Outcome } from "../view/outcome.ts";
import { type ProgramContext, runCheck, runSetup, type Verdict, withTemporaryFolder } from "./judge.ts";
import type { RunKey, RunRecord } from "./results-folder.ts";
import type { Task } from "./task.ts";
import { type ScratchFolders, TaskScratch } from "./task-scratch.ts";

export interface PlannedRun extends RunKey {
  readonly source: Task;
}

export interface RunContext extends ProgramContext {
  /** Options of the coding sessions, besides those specific to a run. */
  readonly session: Pick<CodingSessionOptions, "addDirs" | "mcp" | "onNotice" | "adoptErrors" | "keepIn"> & {
    readonly environment: Environment;
  };
  readonly config: ConfigFile;
  readonly shared: SharedBudget | undefined;
  readonly scratch: ScratchFolders;
  /** Keeps the scratch folder of each run. */
  readonly keepsScratch: boolean;
  /** Called with each scratch folder that remains, even if only because this user may not remove it. */
  readonly onScratch: (scratch: Pick<TaskScratch, "root" | "folder">) => void;
  /** Absolute paths hidden from the agent: references, and the work of other and earlier agents. */
  readonly closed: readonly string[];
  /** Sessions and scratch folders in use, to be killed right before the process exits. */
  readonly live: Set<Pick<PreparedSession, "killNow">>;
}

/** A completed run with the output of its check, or why it is still to be made. */
export type TaskRunResult = "interrupted" | "out_of_money" | JudgedRun;

export interface JudgedRun {
  readonly record: RunRecord;
  readonly output: string | undefined;
}

/**
 * Makes one run: a scratch copy, `setup`, the agent, `check`. A run that was interrupted, or that ran out of
 * the evaluation's money, has no result. Throws for errors that every run would have (settings, credentials,
 * a model that does not exist, a session that cannot be kept) and for a task that was changed.
 */
export async function performRun(run: PlannedRun, place: RunContext): Promise<TaskRunResult> {
  const { source: task } = run;
  const sessionId = newUuid();
  const scratch = await TaskScratch.make(task, place.scratch);
  const left = { killNow: () => scratch.removeNow() };
  if (!place.keepsScratch) place.live.add(left);
  try {
    const problem = await runSetup(task, scratch, place);
    if (place.signal.aborted) return "interrupted";
    if (problem !== undefined)
      return { record: recordOf(run, { sessionId, failure: problem }), output: undefined };
    const outcome = await runAgent(run, scratch, sessionId, place);
    if (place.signal.aborted) return "interrupted";
    if (isOutOfMoney(outcome, place, task)) return "out_of_money";
    const failure = failureOf(outcome, task);
    if (failure !== undefined)
      return { record: recordOf(run, { sessionId, outcome, failure }), output: undefined };
    const verdict = await runCheck(task, scratch, outcome.text, place);
    if (place.signal.aborted) return "interrupted";
    return { record: recordOf(run, { sessionId, outcome, verdict }), output: verdict.output };
  } finally {
    if (place.keepsScratch || !(await scratch.remove())) place.onScratch(scratch);
    place.live.delete(left);
  }
}

async function runAgent(
  { source: task, model }: PlannedRun,
  { folder: cwd, temporary }: TaskScratch,
  sessionId: string,
  place: RunContext,
): Promise<Outcome> {
  const { session: options, shared, signal, live } = place;
  const prepared = await prepareCodingSession({
    ...options,
    cwd,
    environment: withTemporaryFolder(options.environment, temporary),
    model,
    sessionId,
    settings: settingsOf(task, place),
    // Lessons from one run must not help another.
    remembers: false,
    budget: omitUndefined({ tokens: task.limits.tokens, shared }),
  });
  live.add(prepared);
  let session: CodingSession | undefined;
  try {
    session = await prepared.open();
    return await session.send(task.prompt, { signal });
  } finally {
    await session?.close();
    live.delete(prepared);
  }
}

/** The settings of a run: the smaller of two limits, and no access to anything that judges it. */
function settingsOf({ limits }: Task, { config, closed }: RunContext): ConfigFile {
  const { maxTurns, maxWallTime, maxBudgetUsd, disallowedTools = [] } = config;
  const wallTimeMs = maxWallTime === undefined ? undefined : parseDuration(maxWallTime);
  const rules = closed.flatMap((path) => ["read", "edit", "write"].map((tool) => `${tool}(${path}/**)`));
  return {
    ...config,
    disallowedTools: [...disallowedTools, ...rules],
    sandbox: { ...config.sandbox, denyRead: closed },
    maxWallTime: `${minOf(wallTimeMs, limits.timeMs) ?? limits.timeMs}ms`,
    ...omitUndefined({
      maxTurns: minOf(maxTurns, limits.turns),
      maxBudgetUsd: minOf(maxBudgetUsd, limits.usd),
    }),
  };
}

function minOf(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}

/** True if a run ended because the evaluation's money ran out, not by the limit of its task. */
function isOutOfMoney(
  { stopReason, limit, cost = 0 }: Outcome,
  { shared }: RunContext,
  { limits: { usd = Number.POSITIVE_INFINITY } }: Task,
): boolean {
  if (shared === undefined || stopReason !== "budget" || limit !== "usd") return false;
  return shared.usd - shared.spentUsd < usd - cost;
}

/** Errors of the connection to a model, and of this machine: they do not count against the model. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set([
  "rate_limit",
  "provider_error",
  "network",
  "timeout",
  "invalid_response",
  "checkpoint",
  "internal",
]);
/** Errors that every run would have: a session that cannot be kept means a full disk. */
const FATAL: ReadonlySet<ErrorCode> = new Set([
  "invalid_config",
  "unknown_provider",
  "unknown_model",
  "missing_credentials",
  "authentication",
  "journal",
]);

function failureOf({ stopReason, error }: Outcome, { name }: Task): string | undefined {
  if (stopReason !== "error" || error === undefined) return undefined;
  if (error.code === "invalid_argument")
    throw invalidArgument(`The task ${JSON.stringify(name)}: ${error.message}`, { cause: error });
  if (FATAL.has(error.code)) throw error;
  return TRANSIENT.has(error.code) ? error.message : undefined;
}

interface RunFacts {
  readonly sessionId: string;
  readonly outcome?: Outcome;
  readonly verdict?: Verdict;
  readonly failure?: string;
}

const NOT_STARTED: Pick<Outcome, "turns" | "usage" | "cost" | "durationMs" | "denials"> & {
  readonly stopReason: RunRecord["stop"];
} = {
  stopReason: "not_started",
  turns: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  cost: 0,
  durationMs: 0,
  denials: [],
};

function recordOf(run: PlannedRun, { sessionId, outcome, verdict, failure }: RunFacts): RunRecord {
  const { source, task, model, repeat } = run;
  const { stopReason, turns, usage, cost, durationMs, denials } = outcome ?? NOT_STARTED;
  const error = failure ?? verdict?.error;
  return {
    v: 1,
    task,
    hash: source.hash,
    model,
    repeat,
    session: sessionId,
    time: new Date().toISOString(),
    solved: verdict?.solved === true && error === undefined,
    reason: error ?? verdict?.reason ?? "",
    ...omitUndefined({ error }),
    stop: stopReason,
    turns,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedTokens: usage.cacheReadTokens ?? 0,
    costUsd: cost ?? null,
    ms: Math.round(durationMs),
    checkMs: Math.round(verdict?.durationMs ?? 0),
    refused: denials.length,
  };
}
