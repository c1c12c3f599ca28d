import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { sep } from "node:path";
import type { FileVersion, Omission, OmissionReason } from "../../core/agent/entries.ts";

/**
 * A path below a root as text that any journal can hold: parts separated by `/`; a path that is not valid
 * UTF-8 is a NUL character followed by its bytes, each as the character with that code. The root itself is
 * the empty text.
 */
export type PathKey = string;

const RAW = "\0";

export function keyOfBytes(bytes: Buffer): PathKey {
  return isUtf8(bytes) ? bytes.toString("utf8") : RAW + bytes.toString("latin1");
}

export function bytesOfKey(key: PathKey): Buffer {
  return key.startsWith(RAW) ? Buffer.from(key.slice(1), "latin1") : Buffer.from(key, "utf8");
}

export function nativePath(root: string, key: PathKey): string | Buffer {
  if (key === "") return root;
  const folder = root === "/" ? "" : root;
  return key.startsWith(RAW)
    ? Buffer.concat([Buffer.from(`${folder}/`), bytesOfKey(key)])
    : `${folder}/${key}`;
}

export function childKey(folder: PathKey, name: PathKey): PathKey {
  if (folder === "") return name;
  if (!folder.startsWith(RAW) && !name.startsWith(RAW)) return `${folder}/${name}`;
  return keyOfBytes(Buffer.concat([bytesOfKey(folder), Buffer.from("/"), bytesOfKey(name)]));
}

export function parentKey(key: PathKey): PathKey | undefined {
  if (key === "") return undefined;
  const cut = key.lastIndexOf("/");
  if (cut === -1) return "";
  const parent = key.slice(0, cut);
  return parent.startsWith(RAW) ? keyOfBytes(Buffer.from(parent.slice(1), "latin1")) : parent;
}

export function foldersAbove(key: PathKey): PathKey[] {
  const above: PathKey[] = [];
  for (let folder = parentKey(key); folder !== undefined && folder !== ""; folder = parentKey(folder))
    above.unshift(folder);
  return above;
}

export function partsOf(key: PathKey): PathKey[] {
  if (!key.startsWith(RAW)) return key === "" ? [] : key.split("/");
  return key
    .slice(1)
    .split("/")
    .map((part) => keyOfBytes(Buffer.from(part, "latin1")));
}

export function isWithin(key: PathKey, folder: PathKey): boolean {
  if (folder === "" || key === folder) return true;
  if (key.startsWith(RAW) === folder.startsWith(RAW)) return key.startsWith(`${folder}/`);
  return !folder.startsWith(RAW) && foldersAbove(key).includes(folder);
}

/** True for a key that may be restored: plain parts below the root, not in `.git`. */
export function isSafeKey(key: unknown): key is PathKey {
  if (typeof key !== "string" || key === "") return false;
  return partsOf(key).every(
    (part) => part !== "" && part !== "." && part !== ".." && part !== GIT && !part.slice(1).includes(RAW),
  );
}

/** The key of an absolute path below a root that may be restored; undefined for any other. */
export function keyWithin(root: string, path: string): PathKey | undefined {
  const start = root.endsWith(sep) ? root : root + sep;
  if (!path.startsWith(start)) return undefined;
  const key = path.slice(start.length).replaceAll(sep, "/");
  return isSafeKey(key) ? key : undefined;
}

export const GIT = ".git";

export function displayPath(key: PathKey): string {
  return key.startsWith(RAW) ? bytesOfKey(key).toString("utf8") : key;
}

type FileFacts = Pick<Stats, "mode" | "size" | "mtimeMs" | "ctimeMs" | "ino">;

/** The last known state of a path: its file system facts, and the version they represent. */
export interface FileState extends FileFacts {
  /** When the content was checked, in milliseconds since the epoch. */
  readonly checkedAt: number;
  /** `null`: checked, and nothing was there. */
  readonly version: FileVersion | null;
}

export interface FileIndex {
  readonly states: Map<PathKey, FileState>;
  /** True if the whole workspace was scanned, so that a path missing in `states` did not exist. */
  isComplete: boolean;
  omitted: readonly Omission[];
  sessionId: string;
}

export const ABSENT_STATE: FileState = {
  mode: 0,
  size: 0,
  mtimeMs: 0,
  ctimeMs: 0,
  ino: 0,
  checkedAt: 0,
  version: null,
};

export function fileState(stats: Stats, version: FileVersion, checkedAt: number): FileState {
  const { mode, size, mtimeMs, ctimeMs, ino } = stats;
  return { mode, size, mtimeMs, ctimeMs, ino, checkedAt, version };
}

/**
 * Milliseconds within which a checked file may have changed again without a difference in its times: more
 * than a file system's rounding, which is at most a clock tick if a time is not a multiple of
 * `COARSE_UNIT_MS`, and up to two seconds if all are (FAT, HFS+).
 */
const RACY_MS = 100;
const COARSE_RACY_MS = 2000;
const COARSE_UNIT_MS = 10;

/**
 * True if the recorded state is still valid: same facts, checked long enough after the last change. Only the
 * system sets the change time (`ctime`), and it differs after every write, so that equal sizes and restored
 * times hide nothing.
 */
export function isUnchanged(state: FileState, stats: FileFacts): boolean {
  const { checkedAt, ctimeMs } = state;
  const racyMs = ctimeMs % COARSE_UNIT_MS === 0 ? COARSE_RACY_MS : RACY_MS;
  return hasSameStats(state, stats) && checkedAt - ctimeMs > racyMs;
}

export function hasSameStats(state: FileFacts, stats: FileFacts): boolean {
  return (
    state.mtimeMs === stats.mtimeMs &&
    state.ctimeMs === stats.ctimeMs &&
    state.size === stats.size &&
    state.ino === stats.ino &&
    state.mode === stats.mode
  );
}

export function permissionBits(mode: number): number {
  return mode & 0o7777;
}

export function unstoredVersion(stats: Stats, reason: OmissionReason): FileVersion {
  return { type: "unkept", reason, mark: markOf(stats) };
}

export function isUnread(state: FileState | undefined): boolean {
  return state?.version?.type === "unkept" && state.version.reason === "no_time";
}

export function markOf({ mode, size, mtimeMs, ino }: FileFacts): string {
  return `${mode.toString(8)}:${size}:${mtimeMs}:${ino}`;
}

/** True if two versions are the same for a reader of the files. */
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

/** True if nothing changed between two checks: by content or, if none is stored, by facts. */
export function isSameState(before: FileState, after: FileState): boolean {
  if (before.version?.type !== "unkept" && after.version?.type !== "unkept")
    return isSameVersion(before.version, after.version);
  return hasSameStats(before, after);
}
