import type { BigIntStats, Stats } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { systemCode } from "../../system/system-error.ts";
import { FileRefusal } from "./file-error.ts";
import { makePinnedFolder, type PinnedFolder, pinFolder } from "./pinned-folder.ts";
import { temporaryName } from "./temporary-file.ts";

/** How {@link writeAtomically} replaces a file. */
export interface WriteAtomicallyOptions {
  /** The file that is replaced: its mode, and where permitted its owner, are kept. Absent for a new file. */
  readonly replaced?: Stats | undefined;
  /** Last look before the file takes its place, at a path that leads there: throws when it must not. */
  readonly beforeRename: (place: string) => Promise<void>;
  /** The path for messages. Default: `path`. */
  readonly shown?: string;
}

/**
 * Writes a whole file so that at every moment, also after a crash, either the old or the new content is
 * there: into a temporary file of the same folder, synced, renamed, the folder synced. On any failure the old
 * content stays and the temporary file is removed. Returns the facts of the new file. `path` must be
 * canonical; folders of a new file that are not there are made. All of it happens in the folder that was at
 * the path when it was opened: throws a {@link FileRefusal} when a link took the place of one on the way.
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
  const temporary = folder.at(temporaryName());
  const file = await open(temporary, "wx", replaced === undefined ? 0o666 : 0o600);
  try {
    let stats: BigIntStats;
    try {
      await file.writeFile(data);
      if (replaced !== undefined) await keepOwnerAndMode(file, replaced);
      await file.sync();
      stats = await file.stat({ bigint: true });
    } finally {
      await file.close();
    }
    await beforeRename(place);
    await rename(temporary, place);
    await syncFolder(folder.at("."));
    return stats;
  } catch (error) {
    await removeQuietly(temporary);
    throw error;
  }
}

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

/** Makes the rename lasting. Some systems cannot sync a folder; it has happened all the same. */
async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(folder, "r");
    await handle.sync();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  } finally {
    await handle?.close();
  }
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
