import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from "node:fs";
import { isAtPlace } from "../../system/opened-place.ts";
import { FileRefusal } from "./file-error.ts";
import { OpenFile } from "./open-file.ts";

/**
 * Opens a regular file for reading and nothing else: never waits for the other end of a FIFO, never wakes a
 * device. `path` must be canonical; when a link has been put in its place, or in that of a folder on the way,
 * what was opened is refused. `shown` is the path for messages.
 */
export function openRegularFile(path: string, shown: string): OpenFile {
  assertRegularFile(statSync(path), shown);
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    assertRegularFile(fstatSync(fd), shown);
    if (!isAtPlace(fd, path)) throw new FileRefusal(`${shown}: a link took its place meanwhile. Try again.`);
    return new OpenFile(fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Throws a {@link FileRefusal} that names the kind of anything but a regular file. */
export function assertRegularFile(stats: Stats, shown: string): void {
  if (stats.isFile()) return;
  throw new FileRefusal(`${shown} is ${kindOf(stats)}: only regular files can be read and written.`);
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a FIFO (named pipe)";
  if (stats.isSocket()) return "a socket";
  if (stats.isCharacterDevice() || stats.isBlockDevice()) return "a device";
  return "not a regular file";
}
