import { fstatSync, readlinkSync, realpathSync, statSync } from "node:fs";

/**
 * True when an open file or folder is the one at the canonical `path`. On Linux the system says where a
 * descriptor really is, whatever was put in the place of a folder on the way there. Elsewhere the path is
 * looked at once more: links that are swapped to and fro between two looks can go unseen there.
 */
export function isAtPlace(descriptor: number, path: string | Buffer): boolean {
  const place = placeOf(descriptor);
  return place === undefined ? leadsTo(descriptor, path) : place.equals(Buffer.from(path));
}

/** A path to the very file or folder that is open, whatever takes its name, where there is one. */
export function pathOfOpen(descriptor: number): string | undefined {
  return placeOf(descriptor) === undefined ? undefined : `/proc/self/fd/${descriptor}`;
}

/** Where a descriptor is, where the system tells. */
function placeOf(descriptor: number): Buffer | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`, "buffer");
  } catch {
    // No /proc here.
    return undefined;
  }
}

function leadsTo(descriptor: number, path: string | Buffer): boolean {
  const isCanonical = (): boolean => realpathSync.native(path, "buffer").equals(Buffer.from(path));
  if (!isCanonical()) return false;
  const open = fstatSync(descriptor, { bigint: true });
  const there = statSync(path, { bigint: true });
  return open.ino === there.ino && open.dev === there.dev && isCanonical();
}
