import type { FileChange, FileVersion, Omission } from "../../core/agent/entries.ts";
import type { HistoryStep } from "./checkpoint-history.ts";
import { isSafeKey, isWithin, type PathKey } from "./path-key.ts";
import { isSameVersion } from "./path-state.ts";

/** The journal's story of a path from some point on. */
export interface PathStory {
  readonly path: PathKey;
  /** The state it had at that point. */
  readonly target: FileVersion | null;
  /** The state it must have now, if nobody else changed it; several where a rollback was cut. */
  readonly expected: readonly (FileVersion | null)[];
  /** True when somebody else changed it between two calls, or it cannot be told whether they did. */
  readonly isDisturbed: boolean;
}

/** Why a path cannot simply be put back. */
export type Obstacle =
  /** Somebody else changed it since. */
  | "changed"
  /** Somebody else changed it between two calls; that version would go too. */
  | "changed_between"
  /** It would be removed, and is not kept so that it could come back. */
  | "not_kept"
  /** Its state at that point is not kept. */
  | "lost";

/** Plan for one path. */
export interface PlannedPath {
  readonly change: FileChange;
  readonly obstacle?: Obstacle;
}

/** The state of a path now. */
export interface SeenPath {
  readonly version: FileVersion | null;
  /** Tells it from other versions, where it is not kept. */
  readonly mark: string | undefined;
}

/** Stories of all paths, or those `within` some, in steps of one root: each once, in order of first touch. */
export function pathStories(steps: readonly HistoryStep[], within?: readonly PathKey[]): PathStory[] {
  const stories = new Map<PathKey, PathStory>();
  for (const { entry, failed, isEnded } of steps) {
    const isCut = entry.type === "rollback" && !isEnded;
    const isUnsure = entry.type === "checkpoint" && entry.interrupted === true;
    for (const { path, before, after } of entry.changes) {
      if (failed.has(path) || !isSafeKey(path)) continue;
      if (within !== undefined && !isWanted(path, before, within)) continue;
      const story = stories.get(path);
      stories.set(path, {
        path,
        target: story === undefined ? before : story.target,
        expected: isCut ? [before, after] : [after],
        isDisturbed:
          isUnsure || (story !== undefined && (story.isDisturbed || !isAmong(before, story.expected))),
      });
    }
  }
  return [...stories.values()];
}

/**
 * The steps to put a path back, given its state now; undefined when nothing is to be done. `isKept` tells
 * whether the bytes of a hash are there.
 */
export function planPath(
  story: PathStory,
  { version: current, mark }: SeenPath,
  isKept: (hash: string) => boolean,
): PlannedPath | undefined {
  const { path, target, expected, isDisturbed } = story;
  if (isSameVersion(current, target)) return undefined;
  const change: FileChange = { path, before: current, after: target };
  if (target?.type === "unkept" || (target?.type === "file" && !isKept(target.hash)))
    return { change, obstacle: "lost" };
  const isExpected = isAmong(current, expected) || expected.some((other) => isLike(other, current, mark));
  if (!isExpected) return { change, obstacle: "changed" };
  if (isDisturbed) return { change, obstacle: "changed_between" };
  if (current?.type === "unkept") return { change, obstacle: "not_kept" };
  return { change };
}

/** The places that the steps say were not looked at, each once. */
export function omissionsIn(steps: readonly HistoryStep[]): Omission[] {
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

/** True when a path is among those wanted, or a folder that one of them stood in. */
function isWanted(path: PathKey, before: FileVersion | null, within: readonly PathKey[]): boolean {
  return within.some(
    (wanted) => isWithin(path, wanted) || (before?.type === "folder" && isWithin(wanted, path)),
  );
}

function isAmong(version: FileVersion | null, versions: readonly (FileVersion | null)[]): boolean {
  return versions.some((other) => isSameVersion(version, other));
}

/** The mode of a folder is no work that could be lost; what was not kept then may be kept by now. */
function isLike(
  expected: FileVersion | null,
  current: FileVersion | null,
  mark: string | undefined,
): boolean {
  if (expected?.type === "folder") return current?.type === "folder";
  return expected?.type === "unkept" && expected.mark === mark;
}
