import type { Stats } from "node:fs";
import type { FileVersion, Omission, OmissionReason } from "../../core/agent/entries.ts";
import type { PathKey } from "./path-key.ts";

/** The facts the file system tells of a path without reading it. */
export type FileFacts = Pick<Stats, "mode" | "size" | "mtimeMs" | "ctimeMs" | "ino">;

/** The last known state of a path: the facts of the file system, and what they stand for. */
export interface FileState extends FileFacts {
  /** When the content was looked at, in milliseconds since the epoch. */
  readonly checkedAt: number;
  /** `null`: looked at, and nothing was there. */
  readonly version: FileVersion | null;
}

/** Facts known of a workspace: the newest state of every path that was looked at. */
export interface FileIndex {
  readonly states: Map<PathKey, FileState>;
  /** True when all of the workspace was looked at, so that what is not in `states` was not there. */
  isComplete: boolean;
  /** Places that were not looked into. */
  omitted: readonly Omission[];
  sessionId: string;
}

/** The state of a path where nothing stands. */
export const NOTHING: FileState = {
  mode: 0,
  size: 0,
  mtimeMs: 0,
  ctimeMs: 0,
  ino: 0,
  checkedAt: 0,
  version: null,
};

/** The state of a path with these facts. */
export function fileState(stats: Stats, version: FileVersion, checkedAt: number): FileState {
  const { mode, size, mtimeMs, ctimeMs, ino } = stats;
  return { mode, size, mtimeMs, ctimeMs, ino, checkedAt, version };
}

/**
 * A file changed within this time of being looked at may have been changed again without its times telling,
 * in milliseconds: more than a file system rounds its times to, which is a tick of the clock at most where a
 * time is no multiple of `COARSE_UNIT_MS`, and up to two seconds where all are (FAT, HFS+).
 */
const RACY_MS = 100;
const COARSE_RACY_MS = 2000;
const COARSE_UNIT_MS = 10;

/**
 * True when what was seen still stands: same facts, and looked at long enough after the last change. The time
 * of change (`ctime`) is set by the system alone and differs after every write, so that equal sizes and
 * restored times hide nothing.
 */
export function isUnchanged(state: FileState, stats: FileFacts): boolean {
  const { checkedAt, ctimeMs } = state;
  const racyMs = ctimeMs % COARSE_UNIT_MS === 0 ? COARSE_RACY_MS : RACY_MS;
  return hasFacts(state, stats) && checkedAt - ctimeMs > racyMs;
}

/** True when the facts are those that were seen. */
export function hasFacts(state: FileFacts, stats: FileFacts): boolean {
  return (
    state.mtimeMs === stats.mtimeMs &&
    state.ctimeMs === stats.ctimeMs &&
    state.size === stats.size &&
    state.ino === stats.ino &&
    state.mode === stats.mode
  );
}

/** The permission bits of a mode. */
export function permissionBits(mode: number): number {
  return mode & 0o7777;
}

/** The version of something that is not kept. */
export function unkept(stats: Stats, reason: OmissionReason): FileVersion {
  return { type: "unkept", reason, mark: markOf(stats) };
}

/** True when a file was seen and its content never read, for want of time. */
export function isUnread(state: FileState | undefined): boolean {
  return state?.version?.type === "unkept" && state.version.reason === "no_time";
}

/** Tells one version of something that is not kept from another. */
export function markOf({ mode, size, mtimeMs, ino }: FileFacts): string {
  return `${mode.toString(8)}:${size}:${mtimeMs}:${ino}`;
}

/** True when two versions are the same to whoever looks at the files. */
export function isSameVersion(left: FileVersion | null, right: FileVersion | null): boolean {
  if (left === null || right === null) return left === right;
  switch (left.type) {
    case "file":
      return right.type === "file" && left.hash === right.hash && left.mode === right.mode;
    case "link":
      return right.type === "link" && left.target === right.target;
    case "folder":
      return right.type === "folder" && left.mode === right.mode;
    case "unkept":
      return right.type === "unkept" && left.mark === right.mark;
  }
}

/** True when nothing changed between two looks: by content or, where none is kept, by its facts. */
export function isSameState(before: FileState, after: FileState): boolean {
  if (before.version?.type !== "unkept" && after.version?.type !== "unkept")
    return isSameVersion(before.version, after.version);
  return hasFacts(before, after);
}
