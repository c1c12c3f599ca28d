import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** The bytes of a regular file of at most `maxBytes`; `undefined` for any other. Never waits. */
export function readProjectFile(path: string, maxBytes: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(file).isFile()) return undefined;
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = 1; read > 0 && length < buffer.length; length += read)
      read = readSync(file, buffer, length, buffer.length - length, null);
    return length > maxBytes ? undefined : buffer.subarray(0, length);
  } catch {
    // Absent, or nothing we may read: then it cannot act through us either.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** True when something stands at a path: a file, a folder, a link that leads nowhere. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What lies in a folder that may not be searched cannot act through us.
    return false;
  }
}

/** A path as it is shown, and approved: relative to the folder of the project, with `/`. */
export function projectPath(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

/** The names in a folder in their order, at most `max`; none where there is no folder. */
export function namesIn(folder: string, max: number): readonly string[] {
  try {
    return readdirSync(folder).sort().slice(0, max);
  } catch {
    return [];
  }
}

/** A file below a folder, found without following links. */
export interface FoundFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** `other`: a link, a pipe, a device. */
  readonly type: "file" | "other";
  readonly isExecutable: boolean;
}

/** The files below a folder in the order of their paths; `undefined` when there are more than `max`. */
export function filesBelow(folder: string, max: number): readonly FoundFile[] | undefined {
  const found: FoundFile[] = [];
  const pending = [""];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const name of namesIn(join(folder, path), max + 1)) {
      const below = path === "" ? name : `${path}/${name}`;
      const stats = lstatSync(join(folder, below), { throwIfNoEntry: false });
      if (stats === undefined) continue;
      if (stats.isDirectory()) pending.push(below);
      else
        found.push({
          path: below,
          type: stats.isFile() ? "file" : "other",
          isExecutable: (stats.mode & 0o111) !== 0,
        });
      if (found.length + pending.length > max) return undefined;
    }
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}
