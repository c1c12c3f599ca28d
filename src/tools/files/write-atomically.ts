import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { type BigIntStats, constants, existsSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, opendir, rename, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { errorMessage } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import { isPidInUse } from "../../system/process-identity.ts";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { systemCode } from "../../system/system-error.ts";
import { FileRefusal } from "./file-error.ts";
import { makePinnedFolder, type PinnedFolder, pinFolder } from "./open-file.ts";

/**
 * Overwrites a file. Until the new content is synced, the old content is in a copy beside it, `NAME.saved-…`,
 * which is synced before the first byte changes and so survives a kill. If writing fails, the old content is
 * restored. If that fails too, throws a {@link FileRefusal} that names the copy.
 */
async function writeInPlace(
  folder: PinnedFolder,
  name: string,
  data: Uint8Array,
  beforeWrite: () => Promise<void>,
): Promise<BigIntStats> {
  const file = await open(folder.at(name), constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
  try {
    const before = await file.readFile();
    const copyName = `${name.slice(0, MAX_COPIED_NAME)}.saved-${newUuid().slice(0, 8)}`;
    const copy = folder.at(copyName);
    try {
      await writeSynced(copy, before, (await file.stat()).mode & 0o700);
      await syncFolder(folder);
      await beforeWrite();
    } catch (error) {
      await unlinkIfThere(copy);
      throw error;
    }
    try {
      await overwrite(file, data);
    } catch (error) {
      await overwrite(file, before).catch((second: unknown) => {
        throw new FileRefusal(
          `${name} could be written only in part (${errorMessage(error)}), and not be put back (${errorMessage(second)}). Its old content is in ${copyName}, in the same folder.`,
        );
      });
      await unlinkIfThere(copy);
      throw error;
    }
    await unlinkIfThere(copy);
    return await file.stat({ bigint: true });
  } finally {
    await file.close();
  }
}

/** Leaves room for the suffix in a name of at most 255 bytes. */
const MAX_COPIED_NAME = 50;

/** Truncates the file last, so that a full disk never loses the end of the new content. */
async function overwrite(file: FileHandle, data: Uint8Array): Promise<void> {
  for (let at = 0; at < data.length; ) {
    const { bytesWritten } = await file.write(data, at, data.length - at, at);
    at += bytesWritten;
  }
  await file.truncate(data.length);
  await file.sync();
}

async function writeSynced(path: string, data: Uint8Array, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Some systems cannot sync a folder, but its change has happened anyway. */
async function syncFolder(folder: PinnedFolder): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder.at("."), "r");
    await handle.sync();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  } finally {
    await handle?.close();
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (systemCode(error) === undefined) throw error;
  });
}

/** Copies extended attributes with GNU's `cp`, as Node cannot see them; does nothing elsewhere. */
async function copyAttributes(folder: PinnedFolder, from: string, to: string): Promise<void> {
  const program = process.platform === "linux" ? COPY_PROGRAMS.find((path) => existsSync(path)) : undefined;
  if (program === undefined) return;
  await new Promise<void>((resolve) => {
    const args = ["--attributes-only", "--preserve=mode,xattr", "--", from, to];
    const child = spawn(program, args, { cwd: folder.selfPath, env: {}, stdio: "ignore" });
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
}

/** By full path: `PATH` may lead to a file of the workspace. */
const COPY_PROGRAMS = ["/usr/bin/cp", "/bin/cp"] as const;

interface WriteAtomicallyOptions {
  /** The file to replace: its mode, attributes and, if permitted, owner are kept. Absent for a new file. */
  readonly replaced?: Stats | undefined;
  /** Last check before the rename, given a path that leads to the target. Throws to prevent it. */
  readonly beforeRename: (targetPath: string) => Promise<void>;
  readonly givenPath?: string;
}

/**
 * Writes a whole file so that at every moment, even after a crash, either the old or the new content is
 * there: into a temporary file in the same folder, synced, renamed, the folder synced. On any failure the old
 * content stays and the temporary file is removed. A file with other names (hard links), or one pinned by a
 * mount, is overwritten instead, with a copy of the old content beside it until that is synced. Returns the
 * facts of the new file. `path` must be canonical; missing folders of a new file are made. Everything happens
 * in the folder that was opened at the path: throws a {@link FileRefusal} if a link replaced one on the way.
 */
export async function writeAtomically(
  path: string,
  data: Uint8Array,
  options: WriteAtomicallyOptions,
): Promise<BigIntStats> {
  const { replaced, givenPath = path } = options;
  if (Buffer.byteLength(basename(path)) > MAX_NAME_BYTES)
    throw new FileRefusal(`${path}: the name is too long.`);
  const folder =
    replaced === undefined ? makePinnedFolder(dirname(path), givenPath) : pinFolder(dirname(path), givenPath);
  try {
    return await writeIn(folder, basename(path), data, options);
  } finally {
    folder.close();
  }
}

async function writeIn(
  folder: PinnedFolder,
  name: string,
  data: Uint8Array,
  { replaced, beforeRename }: WriteAtomicallyOptions,
): Promise<BigIntStats> {
  const targetPath = folder.at(name);
  const beforeWrite = () => beforeRename(targetPath);
  if (replaced !== undefined && replaced.nlink > 1) return writeInPlace(folder, name, data, beforeWrite);
  const temporaryFile = temporaryName();
  const temporary = folder.at(temporaryFile);
  const file = await open(temporary, "wx", replaced === undefined ? 0o666 : 0o600);
  try {
    let stats: BigIntStats;
    try {
      if (replaced === undefined) await file.writeFile(data);
      else {
        await Promise.all([file.writeFile(data), copyAttributes(folder, name, temporaryFile)]);
        await copyOwnerAndMode(file, replaced);
      }
      await file.sync();
      stats = await file.stat({ bigint: true });
    } finally {
      await file.close();
    }
    await beforeWrite();
    await rename(temporary, targetPath);
    await syncFolder(folder);
    return stats;
  } catch (error) {
    // After a rename there is nothing to remove, and a failed removal must not hide the first error.
    await isFulfilled(unlink(temporary));
    if (replaced !== undefined && MOUNT_ERRORS.has(systemCode(error) ?? ""))
      return writeInPlace(folder, name, data, beforeWrite);
    throw error;
  }
}

/** Errors of a rename onto a mount point, or onto another device than that of the folder. */
const MOUNT_ERRORS: ReadonlySet<string> = new Set(["EBUSY", "EXDEV"]);
const MAX_NAME_BYTES = 255;

async function copyOwnerAndMode(file: FileHandle, replaced: Stats): Promise<void> {
  const own = await file.stat();
  let isOwnerCopied = true;
  if (own.uid !== replaced.uid || own.gid !== replaced.gid) {
    isOwnerCopied = await isFulfilled(file.chown(replaced.uid, replaced.gid));
  }
  // Set-user-id and set-group-id mean something else under another owner.
  await file.chmod(replaced.mode & (isOwnerCopied ? 0o7777 : 0o1777));
}

async function isFulfilled(action: Promise<void>): Promise<boolean> {
  return action.then(
    () => true,
    () => false,
  );
}

/** A new name for a temporary file; it records the machine, the process and the time. */
export function temporaryName(): string {
  const random = randomBytes(4).toString("hex");
  return `${TEMPORARY_PREFIX}${machineTag()}-${process.pid}-${Date.now().toString(36)}-${random}`;
}

/** Limits of {@link removeStaleTemporaryFiles}. */
export interface RemoveStaleOptions {
  /** Also look into subfolders, except `.git` and `node_modules`. Default false. */
  readonly recursive?: boolean;
  /** Maximum number of folder entries looked at. Default 100,000. */
  readonly maxEntries?: number;
}

/**
 * Removes the temporary files that dead processes left in `folder`: those of processes of this machine that
 * are gone, those with this process's number from before it began, and any older than a day. Returns the
 * paths it removed. Does not throw for folders and files it may not touch.
 */
export async function removeStaleTemporaryFiles(
  folder: string,
  options: RemoveStaleOptions = {},
): Promise<readonly string[]> {
  const removed: string[] = [];
  const folders = [folder];
  let left = options.maxEntries ?? 100_000;
  for (let current = folders.pop(); current !== undefined && left > 0; current = folders.pop()) {
    const found = await entriesOf(current, left);
    left -= found.count;
    if (options.recursive === true) folders.push(...found.folders);
    for (const path of found.temporary) if (await removeIfStale(path)) removed.push(path);
  }
  return removed;
}

const DAY_MS = 86_400_000;
const TEMPORARY_NAME = /^\.nano-agent-tmp-([0-9a-f]{6})-(\d+)-([0-9a-z]+)-[0-9a-f]{8}$/u;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

function machineTag(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 6);
}

async function entriesOf(folder: string, limit: number) {
  const folders: string[] = [];
  const temporary: string[] = [];
  let count = 0;
  try {
    for await (const entry of await opendir(folder)) {
      if (count++ === limit) break;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) folders.push(path);
      if (entry.isFile() && entry.name.startsWith(TEMPORARY_PREFIX)) temporary.push(path);
    }
  } catch (error) {
    // This process cannot have left anything in a folder it cannot read.
    if (systemCode(error) === undefined) throw error;
  }
  return { count, folders, temporary };
}

async function removeIfStale(path: string): Promise<boolean> {
  const match = TEMPORARY_NAME.exec(path.slice(path.lastIndexOf(TEMPORARY_PREFIX)));
  if (match === null) return false;
  const [, machine, pid, time] = match;
  const writtenAt = Number.parseInt(time ?? "", 36);
  const isOld = Date.now() - writtenAt > DAY_MS;
  if (!isOld && (machine !== machineTag() || isRunning(Number(pid), writtenAt))) return false;
  try {
    if (!(await lstat(path)).isFile()) return false;
    await unlink(path);
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

/** True if the process that wrote it is still running. Numbers are reused, including our own. */
function isRunning(pid: number, writtenAt: number): boolean {
  return pid === process.pid ? writtenAt >= Math.floor(performance.timeOrigin) : isPidInUse(pid);
}
