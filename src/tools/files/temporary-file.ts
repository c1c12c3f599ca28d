import { createHash, randomBytes } from "node:crypto";
import { lstat, opendir, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { isTaken } from "../../system/process-identity.ts";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { systemCode } from "../../system/system-error.ts";

/** A new name for a temporary file; it records the machine, the process and the time. */
export function temporaryName(): string {
  const random = randomBytes(4).toString("hex");
  return `${TEMPORARY_PREFIX}${machineTag()}-${process.pid}-${Date.now().toString(36)}-${random}`;
}

/** Bounds of {@link removeStaleTemporaryFiles}. */
export interface RemoveStaleOptions {
  /** Look into folders below as well, except `.git` and `node_modules`. Default false. */
  readonly recursive?: boolean;
  /** Folder entries looked at, at most. Default 100,000. */
  readonly maxEntries?: number;
}

/**
 * Removes the temporary files that dead processes left in `folder`: those of a process of this machine that
 * is gone, those from before this process began with its own number, and any older than a day. Returns the
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
const NAME = /^\.nano-agent-tmp-([0-9a-f]{6})-(\d+)-([0-9a-z]+)-[0-9a-f]{8}$/u;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

function machineTag(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 6);
}

interface FoundEntries {
  readonly count: number;
  readonly folders: readonly string[];
  readonly temporary: readonly string[];
}

async function entriesOf(folder: string, limit: number): Promise<FoundEntries> {
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
    // A folder that cannot be read holds nothing this process could have left there.
    if (systemCode(error) === undefined) throw error;
  }
  return { count, folders, temporary };
}

async function removeIfStale(path: string): Promise<boolean> {
  const match = NAME.exec(path.slice(path.lastIndexOf(TEMPORARY_PREFIX)));
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

/** True when the process that wrote then still runs. Numbers are used again, also our own. */
function isRunning(pid: number, writtenAt: number): boolean {
  return pid === process.pid ? writtenAt >= Math.floor(performance.timeOrigin) : isTaken(pid);
}
