import type { BigIntStats, Stats } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { systemCode } from "../../system/system-error.ts";
import { copyAttributes } from "./copy-attributes.ts";
import { FileRefusal } from "./file-error.ts";
import { makePinnedFolder, type PinnedFolder, pinFolder } from "./pinned-folder.ts";
import { temporaryName } from "./temporary-file.ts";
import { syncFolder, writeInPlace } from "./write-in-place.ts";

/** How {@link writeAtomically} replaces a file. */
export interface WriteAtomicallyOptions {
  /**
   * The file that is replaced: its mode, its attributes, and where permitted its owner, are kept. Absent for
   * a new file.
   */
  readonly replaced?: Stats | undefined;
  /** Last look before the file takes its place, at a path that leads there: throws when it must not. */
  readonly beforeRename: (place: string) => Promise<void>;
  /** The path for messages. Default: `path`. */
  readonly shown?: string;
}

/**
 * Writes a whole file so that at every moment, also after a crash, either the old or the new content is
 * there: into a temporary file of the same folder, synced, renamed, the folder synced. On any failure the old
 * content stays and the temporary file is removed. A file that has other names (hard links), or that a mount
 * keeps in its place, is overwritten instead, with a copy of the old content beside it until that is synced.
 * Returns the facts of the new file. `path` must be canonical; folders of a new file that are not there are
 * made. All of it happens in the folder that was at the path when it was opened: throws a {@link FileRefusal}
 * when a link took the place of one on the way.
 */
export async function writeAtomically(
  path: string,
  data: Uint8Array,
  options: WriteAtomicallyOptions,
): Promise<BigIntStats> {
  const { replaced, shown = path } = options;
  if (Buffer.byteLength(basename(path)) > MAX_NAME_BYTES)
    throw new FileRefusal(`${path}: the name is too long.`);
  const folder =
    replaced === undefined ? makePinnedFolder(dirname(path), shown) : pinFolder(dirname(path), shown);
  try {
    return await writeIn(folder, basename(path), { data, options });
  } finally {
    folder.close();
  }
}

async function writeIn(
  folder: PinnedFolder,
  name: string,
  { data, options }: { readonly data: Uint8Array; readonly options: WriteAtomicallyOptions },
): Promise<BigIntStats> {
  const { replaced, beforeRename } = options;
  const place = folder.at(name);
  const beforeWrite = () => beforeRename(place);
  if (replaced !== undefined && replaced.nlink > 1) return writeInPlace({ folder, name, beforeWrite }, data);
  const temporaryFile = temporaryName();
  const temporary = folder.at(temporaryFile);
  const file = await open(temporary, "wx", replaced === undefined ? 0o666 : 0o600);
  try {
    let stats: BigIntStats;
    try {
      if (replaced === undefined) await file.writeFile(data);
      else {
        await Promise.all([file.writeFile(data), copyAttributes(folder, name, temporaryFile)]);
        await keepOwnerAndMode(file, replaced);
      }
      await file.sync();
      stats = await file.stat({ bigint: true });
    } finally {
      await file.close();
    }
    await beforeWrite();
    await rename(temporary, place);
    await syncFolder(folder);
    return stats;
  } catch (error) {
    await removeQuietly(temporary);
    if (replaced !== undefined && IS_MOUNTED.has(systemCode(error) ?? ""))
      return writeInPlace({ folder, name, beforeWrite }, data);
    throw error;
  }
}

/** A file that is a mount point cannot be renamed to, nor one on another device than its folder. */
const IS_MOUNTED: ReadonlySet<string> = new Set(["EBUSY", "EXDEV"]);
const MAX_NAME_BYTES = 255;

async function keepOwnerAndMode(file: FileHandle, replaced: Stats): Promise<void> {
  const own = await file.stat();
  let isOwnerKept = true;
  if (own.uid !== replaced.uid || own.gid !== replaced.gid) {
    isOwnerKept = await succeeds(file.chown(replaced.uid, replaced.gid));
  }
  // Set-user-id and set-group-id mean something else under another owner.
  await file.chmod(replaced.mode & (isOwnerKept ? 0o7777 : 0o1777));
}

/** After a rename there is nothing to remove, and a failure to remove must not hide the first error. */
async function removeQuietly(path: string): Promise<void> {
  await succeeds(unlink(path));
}

async function succeeds(action: Promise<void>): Promise<boolean> {
  return action.then(
    () => true,
    () => false,
  );
}
