import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { errorMessage } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import { systemCode } from "../../system/system-error.ts";
import { FileRefusal } from "./file-error.ts";
import type { PinnedFolder } from "./pinned-folder.ts";

/** A file that keeps its place, for other links or a mount lead to it. */
export interface FileInPlace {
  readonly folder: PinnedFolder;
  readonly name: string;
  /** Last look before the file is changed: throws when it must not. */
  readonly beforeWrite: () => Promise<void>;
}

/**
 * Overwrites a file. Until the new content is synced the old one is in a copy beside it,
 * `NAME.saved-…`, which is synced before the first byte changes: after a kill it is still there. When writing
 * fails the old content is put back; where that fails too, throws a {@link FileRefusal} that names the copy.
 */
export async function writeInPlace(
  { folder, name, beforeWrite }: FileInPlace,
  data: Uint8Array,
): Promise<BigIntStats> {
  const file = await open(folder.at(name), constants.O_RDWR | (constants.O_NOFOLLOW ?? 0));
  try {
    const before = await file.readFile();
    const copyName = `${name.slice(0, MAX_SHOWN_NAME)}.saved-${newUuid().slice(0, 8)}`;
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

/** Leaves room for what is added to a name of at most 255 bytes. */
const MAX_SHOWN_NAME = 50;

/** Shortens the file last, so that its new end is never lost to a disk that is full. */
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

/**
 * Makes what happened in a folder lasting. Some systems cannot sync a folder; it has happened all the same.
 */
export async function syncFolder(folder: PinnedFolder): Promise<void> {
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
