import { fstatSync, readlinkSync, realpathSync, statSync } from "node:fs";

/**
 * True if an open file or folder is the one at the canonical `path`. On Linux the system knows where a
 * descriptor really is, whatever has replaced a folder on the way there. Elsewhere the path is checked again:
 * links swapped back and forth between two checks can go unnoticed.
 */
export function isOpenAt(descriptor: number, path: string | Buffer): boolean {
  const realPath = realPathOf(descriptor);
  return realPath === undefined ? pathLeadsTo(descriptor, path) : realPath.equals(Buffer.from(path));
}

/** A path to the open file or folder itself, even after a rename; `undefined` without /proc. */
export function descriptorPath(descriptor: number): string | undefined {
  return realPathOf(descriptor) === undefined ? undefined : `/proc/self/fd/${descriptor}`;
}

/** The path of a descriptor, if the system knows it. */
function realPathOf(descriptor: number): Buffer | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`, "buffer");
  } catch {
    // No /proc here.
    return undefined;
  }
}

function pathLeadsTo(descriptor: number, path: string | Buffer): boolean {
  const isCanonical = (): boolean => realpathSync.native(path, "buffer").equals(Buffer.from(path));
  if (!isCanonical()) return false;
  const open = fstatSync(descriptor, { bigint: true });
  const there = statSync(path, { bigint: true });
  return open.ino === there.ino && open.dev === there.dev && isCanonical();
}
