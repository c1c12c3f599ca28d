import type { FileChange, FileVersion, NewEntry, Omission, RollbackEntry } from "../../core/agent/entries.ts";
import type { LocalJournal } from "../../core/agent/journal.ts";
import { invalidArgument } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import {
  type CheckpointHistory,
  checkpointHistory,
  type HistoryStep,
  stepsFrom,
  type TurnPlace,
} from "./checkpoint-history.ts";
import { applyChanges, checkpointsOf, type FailedPath } from "./file-changes.ts";
import { displayPath, isSafeKey, isSameVersion, isWithin, keyWithin, type PathKey } from "./path-state.ts";
import type { Workspace } from "./workspace.ts";

/** The resources of a rollback. */
export interface RollbackPlace {
  /** The journal of the session, open for writing; no run uses it. */
  readonly journal: LocalJournal;
  /** The working folder of the session, links resolved. */
  readonly cwd: string;
  /** Opens the stored data of a folder. */
  readonly openWorkspace: (root: string) => Workspace;
  /** Closes opened workspaces, for `using`. */
  readonly [Symbol.dispose]: () => void;
}

/** Options of a rollback. */
export interface RollbackOptions {
  /** Absolute paths to restore, folders with everything below them. Default: all. */
  readonly paths?: readonly string[];
  /** Also reverts later changes by others, and removes files that are not stored. */
  readonly force?: boolean;
  /** Changes nothing and reports what would be done. */
  readonly dryRun?: boolean;
}

export interface SkippedPath {
  readonly path: PathKey;
  readonly reason: Obstacle;
}

/** Outcome of a rollback. */
export interface RollbackReport {
  /**
   * `refused`: nothing was done, see `left`. `nothing`: there was nothing to do. `finished`: an interrupted
   * rollback was completed, and nothing else done.
   */
  readonly status: "done" | "refused" | "nothing" | "finished";
  readonly direction: "undo" | "redo";
  /** The restored point. */
  readonly to?: TurnPlace;
  readonly root: string;
  /** The changes that were made, or would be: `before` is the current state. */
  readonly changes: readonly FileChange[];
  readonly left: readonly SkippedPath[];
  readonly failed: readonly FailedPath[];
  /** Paths that were not scanned, so that nothing was restored there. */
  readonly omitted: readonly Omission[];
}

/**
 * Restores files to their state before a turn; default: before the newest run with changes in effect.
 * Everything is written to the journal first, so that it can be reverted, and the model is told. Nothing is
 * done (`refused`) if changes by others would be lost, unless `force`. Throws `invalid_argument` for a turn
 * that does not exist, `checkpoint` and `journal` for errors of the system.
 */
export async function undo(
  place: RollbackPlace,
  options: RollbackOptions & { readonly to?: TurnPlace } = {},
): Promise<RollbackReport> {
  const { to: wanted, paths = [] } = options;
  const history = await completeHistory(place, options.dryRun === true);
  const interrupted = interruptedRollback(history);
  if (interrupted !== undefined) return finishInterrupted(place, interrupted);
  const run = history.inEffect.at(-1);
  const to = wanted ?? (run === undefined ? undefined : { run, turn: 0 });
  const omittedNow = (): readonly Omission[] => place.openWorkspace(place.cwd).omitted;
  if (to === undefined) return nothingToDo(place, "undo", omittedNow());
  assertTurn(history, to);
  const steps = stepsFrom(history, to);
  const groups = Array.from(
    Map.groupBy(steps, ({ entry }) => entry.root),
    ([root, own]) => ({ root, histories: pathHistories(own, requestedPaths(root, paths)) }),
  );
  const isWhole = paths.length === 0;
  const entry = { direction: "undo", to, ...(isWhole ? {} : { partial: true }) } as const;
  const omitted = omissionsIn(steps);
  return rollBack(place, groups, options, entry, omitted.length > 0 ? omitted : omittedNow());
}

/** Reverses the newest undo after which no call changed files. Otherwise like {@link undo}. */
export async function redo(
  place: RollbackPlace,
  options: Omit<RollbackOptions, "paths"> = {},
): Promise<RollbackReport> {
  const history = await completeHistory(place, options.dryRun === true);
  const interrupted = interruptedRollback(history);
  if (interrupted !== undefined) return finishInterrupted(place, interrupted);
  const { redoable } = history;
  if (redoable === undefined) return nothingToDo(place, "redo", []);
  const step = history.steps.find(({ entry }) => entry === redoable);
  const done = redoable.changes.filter(({ path }) => step?.failed.has(path) !== true);
  const histories = done.map(
    ({ path, before, after }): PathHistory => ({
      path,
      target: before,
      expected: [after],
      hasForeignChange: false,
    }),
  );
  const entry = { direction: "redo", redoes: redoable.id } as const;
  return rollBack(place, [{ root: redoable.root, histories }], options, entry, []);
}

interface RootHistories {
  readonly root: string;
  readonly histories: readonly PathHistory[];
}

interface RootPlan {
  readonly workspace: Workspace;
  readonly doable: readonly FileChange[];
  readonly left: readonly SkippedPath[];
}

type RollbackFacts = Pick<RollbackEntry, "direction" | "to" | "redoes" | "partial">;

async function rollBack(
  place: RollbackPlace,
  groups: readonly RootHistories[],
  options: RollbackOptions,
  entry: RollbackFacts,
  omitted: readonly Omission[],
): Promise<RollbackReport> {
  const plans = groups.map(({ root, histories }) =>
    plan(place.openWorkspace(root), histories, options.force === true),
  );
  const changes = plans.flatMap(({ doable }) => doable);
  const left = plans.flatMap((each) => each.left);
  const { direction, to } = entry;
  const report = {
    direction,
    ...omitUndefined({ to }),
    root: groups[0]?.root ?? place.cwd,
    changes,
    left,
    omitted,
  };
  const isRefused = left.some(({ reason }) => reason === "changed" || reason === "changed_between");
  if (isRefused) return { ...report, status: "refused", failed: [] };
  if (changes.length === 0) return { ...report, status: "nothing", failed: [] };
  if (options.dryRun === true) return { ...report, status: "done", failed: [] };
  const failed: FailedPath[] = [];
  for (const { workspace, doable } of plans) {
    if (doable.length === 0) continue;
    const facts = { type: "rollback", root: workspace.root, changes: doable, ...entry } as const;
    const { id } = await place.journal.append(facts);
    failed.push(...(await apply(place.journal, workspace, id, doable)));
  }
  const done = changes.filter(({ path }) => !failed.some((other) => other.path === path));
  if (done.length > 0) await place.journal.append(systemMessage(rollbackNote(direction, done)));
  return { ...report, status: "done", changes: done, failed };
}

function plan(workspace: Workspace, histories: readonly PathHistory[], force: boolean): RootPlan {
  workspace.checkPaths(histories.map(({ path }) => path));
  const planned = histories.flatMap((history): PlannedPath[] => {
    const { path } = history;
    const step = planPath(history, workspace, workspace.versionOf(path) ?? null);
    return step === undefined ? [] : [step];
  });
  const isDone = ({ obstacle }: PlannedPath): boolean =>
    obstacle === undefined || (force && obstacle !== "lost");
  return {
    workspace,
    doable: planned.filter(isDone).map(({ change }) => change),
    left: planned.flatMap((each) =>
      each.obstacle === undefined || isDone(each) ? [] : [{ path: each.change.path, reason: each.obstacle }],
    ),
  };
}

async function apply(
  journal: LocalJournal,
  workspace: Workspace,
  id: string,
  changes: readonly FileChange[],
): Promise<FailedPath[]> {
  const planned = new Map(changes.map(({ path, before }) => [path, before]));
  const failed = applyChanges(changes, {
    root: workspace.root,
    bytesOf: (hash) => workspace.store.get(hash),
    isAsPlanned: (path) =>
      workspace.matchesDisk(path) || hasVersion(workspace, path, planned.get(path) ?? null),
  });
  await journal.append({ type: "rollback_end", rollback: id, failed: failed.map(({ path }) => path) });
  workspace.checkPaths(changes.map(({ path }) => path));
  workspace.save();
  return failed;
}

/** Restoring one name of a file changes the times of its other names, so that the content is compared. */
function hasVersion(workspace: Workspace, path: PathKey, before: FileVersion | null): boolean {
  workspace.checkPaths([path]);
  return isSameVersion(workspace.versionOf(path) ?? null, before);
}

/** Completes an interrupted rollback, except for paths that changed meanwhile. */
async function finishInterrupted(place: RollbackPlace, entry: RollbackEntry): Promise<RollbackReport> {
  const workspace = place.openWorkspace(entry.root);
  const histories = entry.changes.map(
    ({ path, before, after }): PathHistory => ({
      path,
      target: after,
      expected: [before],
      hasForeignChange: false,
    }),
  );
  const { doable, left } = plan(workspace, histories, false);
  const failed = await apply(place.journal, workspace, entry.id, doable);
  await place.journal.append(systemMessage(rollbackNote(entry.direction, entry.changes)));
  const { direction, to, root } = entry;
  return {
    status: "finished",
    direction,
    ...omitUndefined({ to }),
    root,
    changes: doable,
    left,
    failed,
    omitted: [],
  };
}

async function completeHistory(
  { journal, cwd, openWorkspace }: RollbackPlace,
  dryRun: boolean,
): Promise<CheckpointHistory> {
  const history = checkpointHistory(journal.entries());
  const { interrupted } = history;
  if (interrupted === undefined || dryRun || READ_ONLY_TOOLS.has(interrupted.name)) return history;
  const workspace = openWorkspace(cwd);
  if (workspace.isNew || workspace.lastSeenBy !== journal.sessionId) return history;
  for (const entry of checkpointsOf(interrupted, cwd, await workspace.scan()))
    await journal.append({ ...entry, interrupted: true });
  workspace.save();
  return checkpointHistory(journal.entries());
}

const READ_ONLY_TOOLS: ReadonlySet<string> = new Set(["read", "glob", "grep", "job", "batch"]);

function interruptedRollback({ steps }: CheckpointHistory): RollbackEntry | undefined {
  const last = steps.at(-1);
  return last?.entry.type === "rollback" && !last.isEnded ? last.entry : undefined;
}

function assertTurn({ steps, messages }: CheckpointHistory, { run, turn }: TurnPlace): void {
  const last = Math.max(0, ...[...messages, ...steps].map((each) => each.run));
  if (run >= 1 && run <= last && turn >= 0) return;
  // Calls outside any run.
  if (run === 0 && steps.some((step) => step.run === 0)) return;
  const known =
    last === 0
      ? "The session has none."
      : `The session has ${last === 1 ? "turn 1 alone" : `the turns 1 to ${last}`}.`;
  throw invalidArgument(`There is no turn ${run}. ${known}`);
}

/** The requested paths in a root; undefined for all of it. */
function requestedPaths(root: string, paths: readonly string[]): readonly PathKey[] | undefined {
  if (paths.length === 0 || paths.some((path) => path === root || keyWithin(path, root) !== undefined))
    return undefined;
  return paths.flatMap((path) => keyWithin(root, path) ?? []);
}

function nothingToDo(
  { cwd }: RollbackPlace,
  direction: "undo" | "redo",
  omitted: readonly Omission[],
): RollbackReport {
  return { status: "nothing", direction, root: cwd, changes: [], left: [], failed: [], omitted };
}

function systemMessage(text: string): NewEntry {
  return {
    type: "user_message",
    message: { role: "user", content: [{ type: "text", text }] },
    source: "system",
  };
}

const MAX_NAMED = 30;

function rollbackNote(direction: "undo" | "redo", changes: readonly FileChange[]): string {
  const files = changes.filter(({ before, after }) => after?.type !== "folder" && before?.type !== "folder");
  const lines = files.slice(0, MAX_NAMED).map((change) => `- ${describeChange(change)}`);
  if (files.length > MAX_NAMED) lines.push(`- and ${files.length - MAX_NAMED} more`);
  const what =
    direction === "undo"
      ? "[The user took back changes to files with undo. On disk now:"
      : "[The user brought changes to files back with redo. On disk now:";
  return `${what}\n${lines.join("\n")}\nRead a file again before you change it, and do not repeat what was undone unless you are asked to.]`;
}

export function describeChange({ path, before, after }: FileChange): string {
  const shown = displayPath(path);
  const kind = (after ?? before)?.type === "folder" ? `${shown}/` : shown;
  if (after === null) return `${kind}: removed`;
  if (before === null) return `${kind}: back again`;
  if (before.type === "file" && after.type === "file" && before.hash === after.hash)
    return `${kind}: mode ${after.mode.toString(8)} again`;
  return `${kind}: put back`;
}

interface PathHistory {
  readonly path: PathKey;
  readonly target: FileVersion | null;
  /** The states it may have now if only calls changed it; several after an interrupted rollback. */
  readonly expected: readonly (FileVersion | null)[];
  /** True if others changed it between two calls, or may have. */
  readonly hasForeignChange: boolean;
}

/** The reason a path cannot be restored safely. */
export type Obstacle =
  /** Others changed it since. */
  | "changed"
  /** Others changed it between two calls; that version would be lost too. */
  | "changed_between"
  /** It would be removed, and its content is not stored. */
  | "not_kept"
  /** Its state at that point is not stored. */
  | "lost";

interface PlannedPath {
  readonly change: FileChange;
  readonly obstacle?: Obstacle;
}

/** The history of all paths, or those `within` some, in steps of one root: each once, by first change. */
function pathHistories(steps: readonly HistoryStep[], within?: readonly PathKey[]): PathHistory[] {
  const histories = new Map<PathKey, PathHistory>();
  for (const { entry, failed, isEnded } of steps) {
    const isInterrupted = entry.type === "rollback" && !isEnded;
    const isUnsure = entry.type === "checkpoint" && entry.interrupted === true;
    for (const { path, before, after } of entry.changes) {
      if (failed.has(path) || !isSafeKey(path)) continue;
      if (within !== undefined && !isWanted(path, before, within)) continue;
      const history = histories.get(path);
      histories.set(path, {
        path,
        target: history === undefined ? before : history.target,
        expected: isInterrupted ? [before, after] : [after],
        hasForeignChange:
          isUnsure ||
          (history !== undefined && (history.hasForeignChange || !includesVersion(before, history.expected))),
      });
    }
  }
  return [...histories.values()];
}

function planPath(
  history: PathHistory,
  workspace: Workspace,
  current: FileVersion | null,
): PlannedPath | undefined {
  const { path, target, expected, hasForeignChange } = history;
  if (isSameVersion(current, target)) return undefined;
  const change: FileChange = { path, before: current, after: target };
  if (target?.type === "unkept" || (target?.type === "file" && !workspace.store.has(target.hash)))
    return { change, obstacle: "lost" };
  const mark = workspace.markOf(path);
  const isExpected =
    includesVersion(current, expected) || expected.some((other) => isEquivalent(other, current, mark));
  if (!isExpected) return { change, obstacle: "changed" };
  if (hasForeignChange) return { change, obstacle: "changed_between" };
  if (current?.type === "unkept") return { change, obstacle: "not_kept" };
  return { change };
}

function omissionsIn(steps: readonly HistoryStep[]): Omission[] {
  const found = new Map<string, Omission>();
  for (const { entry } of steps) {
    if (entry.type !== "checkpoint") continue;
    for (const omission of entry.omitted ?? []) {
      const known = found.get(omission.path);
      if (known?.changed !== true) found.set(omission.path, omission);
    }
  }
  return [...found.values()];
}

function isWanted(path: PathKey, before: FileVersion | null, within: readonly PathKey[]): boolean {
  return within.some(
    (wanted) => isWithin(path, wanted) || (before?.type === "folder" && isWithin(wanted, path)),
  );
}

function includesVersion(version: FileVersion | null, versions: readonly (FileVersion | null)[]): boolean {
  return versions.some((other) => isSameVersion(version, other));
}

/** A folder's mode is no work that could be lost; a version not stored then may be stored now. */
function isEquivalent(
  expected: FileVersion | null,
  current: FileVersion | null,
  mark: string | undefined,
): boolean {
  if (expected?.type === "folder") return current?.type === "folder";
  return expected?.type === "unkept" && expected.mark === mark;
}
