import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { CheckpointEntry, FileChange, FileVersion, Omission } from "../../core/agent/entries.ts";
import type { CheckpointedCall } from "../../core/agent/ports.ts";
import { newUuid } from "../../core/base/ids.ts";
import { descriptorPath, isOpenAt } from "../../system/open-descriptor.ts";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { systemCode } from "../../system/system-error.ts";
import { systemReason } from "../session-error.ts";
import {
  bytesOfKey,
  isWithin,
  keyWithin,
  nativePath,
  type PathKey,
  parentKey,
  partsOf,
} from "./path-state.ts";
import type { Observation } from "./workspace.ts";

export type Reach = "anywhere" | readonly string[];

const MAX_CHANGES = 1000;
const MAX_OMITTED = 200;

/** The paths that a call may change; undefined if it changes no files. */
export function reachOf({ tool, access }: CheckpointedCall): Reach | undefined {
  if (tool.readOnly === true || tool.changesFiles === false || access === "read_all") return undefined;
  if (typeof access === "string") return "anywhere";
  const { read, write } = access;
  if (write !== undefined && write.length > 0)
    return write.filter((path) => isAbsolute(path)).flatMap(withLinkTarget);
  return read === undefined ? "anywhere" : undefined;
}

/** True if a call may have changed a path: one it named, or a folder around one. */
export function isWithinReach(reach: Reach, root: string, path: PathKey): boolean {
  if (reach === "anywhere") return true;
  return reach.some((each) => {
    const key = keyWithin(root, each);
    return key !== undefined && isWithin(key, path);
  });
}

/** A path and the target of its links: a tool may name one and write the other. */
function withLinkTarget(path: string): readonly string[] {
  for (let folder = path, rest = ""; ; rest = join(basename(folder), rest), folder = dirname(folder)) {
    try {
      const target = join(realpathSync.native(folder), rest);
      return target === path ? [path] : [path, target];
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      if (dirname(folder) === folder) return [path];
    }
  }
}

type Checkpoint = Omit<CheckpointEntry, "id" | "parent" | "time">;

/** The checkpoints of a call for what was found in `root`. */
export function checkpointsOf(
  { callId, name }: { readonly callId: string; readonly name: string },
  root: string,
  { changes, omitted }: Observation,
): Checkpoint[] {
  // Without it, changes in a folder skipped for lack of time would be attributed to a later call.
  const hasSkipped = omitted.some(({ changed, reason }) => changed === true || reason === "no_time");
  if (changes.length === 0 && !hasSkipped) return [];
  const entries: Checkpoint[] = [];
  for (let at = 0; at === 0 || at < changes.length; at += MAX_CHANGES) {
    const part: readonly FileChange[] = changes.slice(at, at + MAX_CHANGES);
    entries.push({ type: "checkpoint", callId, name, root, changes: part });
  }
  const [first] = entries;
  if (first !== undefined && omitted.length > 0) entries[0] = { ...first, omitted: cappedOmissions(omitted) };
  return entries;
}

function cappedOmissions(omitted: readonly Omission[]): readonly Omission[] {
  if (omitted.length <= MAX_OMITTED) return omitted;
  return [...omitted.slice(0, MAX_OMITTED), { path: "", reason: "too_many_files" }];
}

/** Identifies the state of a path by its stats; empty if it does not exist. */
export function pathFingerprint(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}

interface ApplyOptions {
  readonly root: string;
  readonly bytesOf: (hash: string) => Buffer | undefined;
  /** True if a path is still as the plan assumed; called just before it is touched. */
  readonly isAsPlanned: (path: PathKey) => boolean;
}

export interface FailedPath {
  readonly path: PathKey;
  readonly reason: string;
  /** True for a folder that stays because it holds something that no call made. */
  readonly isKeptFolder?: boolean;
}

/** Up to this number, files are synced one by one; beyond it, that is left to the system. */
const MAX_SYNCED = 200;

/**
 * Applies each path's change: removals first, innermost first; then folders, files and links, outermost
 * first; folder modes last. Follows no link and leaves a folder that is not empty. Returns failed paths;
 * never throws.
 */
export function applyChanges(changes: readonly FileChange[], options: ApplyOptions): FailedPath[] {
  const writer = new ChangeWriter(options, changes.length <= MAX_SYNCED);
  const deepestFirst = [...changes].sort((left, right) => depth(right.path) - depth(left.path));
  for (const change of deepestFirst) if (isRemoval(change)) writer.remove(change);
  const shallowFirst = deepestFirst.reverse();
  for (const change of shallowFirst) if (change.after?.type === "folder") writer.makeFolder(change);
  for (const change of shallowFirst)
    if (change.after?.type === "file" || change.after?.type === "link") writer.put(change);
  for (const change of shallowFirst.reverse()) if (change.after?.type === "folder") writer.setMode(change);
  return writer.failed;
}

class ChangeWriter {
  readonly failed: FailedPath[] = [];
  readonly #options: ApplyOptions;
  readonly #isSynced: boolean;
  readonly #failedPaths = new Set<PathKey>();

  constructor(options: ApplyOptions, isSynced: boolean) {
    this.#options = options;
    this.#isSynced = isSynced;
  }

  remove({ path, before }: FileChange): void {
    this.#attempt(path, (folder, name) => {
      this.#assertAsPlanned(path);
      if (before?.type === "folder") rmdirSync(folder.entry(name));
      else unlinkSync(folder.entry(name));
    });
  }

  makeFolder({ path, before }: FileChange): void {
    if (before?.type === "folder") return;
    this.#attempt(path, (folder, name) => mkdirSync(folder.entry(name), 0o700));
  }

  put({ path, before, after }: FileChange): void {
    this.#attempt(path, (folder, name) => {
      // Already removed if a folder or something else needed the space.
      if (!isRemoval({ path, before, after })) this.#assertAsPlanned(path);
      else if (lstatSync(folder.entry(name), { throwIfNoEntry: false }) !== undefined)
        throw new Error("something took its place in the meantime");
      const draft = folder.entry(draftName());
      try {
        this.#write(draft, after);
        renameSync(draft, folder.entry(name));
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
    });
  }

  setMode({ path, after }: FileChange): void {
    if (after?.type !== "folder") return;
    this.#attempt(path, (folder, name) => {
      const descriptor = openSync(
        folder.entry(name),
        constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0),
      );
      try {
        fchmodSync(descriptor, after.mode);
      } finally {
        closeSync(descriptor);
      }
    });
  }

  #write(draft: string | Buffer, version: FileVersion | null): void {
    if (version?.type === "link") {
      symlinkSync(bytesOfKey(version.target), draft);
      return;
    }
    if (version?.type !== "file") return;
    const bytes = this.#options.bytesOf(version.hash);
    if (bytes === undefined) throw new Error("its content is not kept any more, or is damaged");
    const descriptor = openSync(draft, "wx", 0o600);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
      fchmodSync(descriptor, version.mode);
      if (this.#isSynced) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  #assertAsPlanned(path: PathKey): void {
    if (!this.#options.isAsPlanned(path)) throw new Error("it was changed while files were put back");
  }

  #attempt(path: PathKey, action: (folder: OpenDirectory, name: PathKey) => void): void {
    if (this.#failedPaths.has(path)) return;
    try {
      const folder = openDirectory(this.#options.root, parentKey(path) ?? "");
      try {
        action(folder, partsOf(path).at(-1) ?? "");
      } finally {
        folder.close();
      }
    } catch (error) {
      this.#failedPaths.add(path);
      const isKeptFolder = systemCode(error) === "ENOTEMPTY";
      this.failed.push({
        path,
        reason: reasonOf(error),
        ...(isKeptFolder ? { isKeptFolder } : {}),
      });
    }
  }
}

/** Every run recognises this name as a half-written file, and removes one that is a day old. */
function draftName(): string {
  return `${TEMPORARY_PREFIX}000000-${process.pid}-${Date.now().toString(36)}-${newUuid().slice(0, 8)}`;
}

/** True if the old entry must be removed first, or is not replaced. */
function isRemoval({ before, after }: FileChange): boolean {
  if (before === null) return false;
  return after === null || (before.type === "folder") !== (after.type === "folder");
}

function depth(path: PathKey): number {
  return partsOf(path).length;
}

function reasonOf(error: unknown): string {
  return systemCode(error) === "ENOTEMPTY"
    ? "it still holds files that were not made by a call"
    : systemReason(error);
}

/** A folder that cannot be replaced by a link while it is in use. */
interface OpenDirectory {
  readonly entry: (name: PathKey) => Buffer;
  readonly close: () => void;
}

/**
 * Opens a folder below a root that itself contains no links. If the system has paths for open descriptors,
 * entries are reached through one, wherever the folder's own path leads meanwhile. Throws for a link on the
 * way, and errors of the file system.
 */
export function openDirectory(root: string, key: PathKey): OpenDirectory {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
  const path = nativePath(root, key);
  const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!isOpenAt(descriptor, path)) {
    closeSync(descriptor);
    throw new Error("a link took the place of one of its folders");
  }
  const base = Buffer.from(descriptorPath(descriptor) ?? path);
  return {
    entry: (name) => Buffer.concat([base, Buffer.from("/"), bytesOfKey(name)]),
    close: () => closeSync(descriptor),
  };
}
