import { lstatSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { readSettingsFile } from "../settings/private-file.ts";

/** The bytes of a regular file of at most `maxBytes`; `undefined` for any other. Never waits. */
export function readProjectFile(path: string, maxBytes: number): Buffer | undefined {
  try {
    return readSettingsFile(path, maxBytes);
  } catch {
    // A file that cannot be read cannot act through us either.
    return undefined;
  }
}

/** The path to show and approve: relative to the folder of the project, with `/`. */
export function projectPath(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

/** The names in a folder in their order, at most `max`; none when there is no folder. */
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
  /** False for a link, a pipe or a device. */
  readonly isFile: boolean;
  readonly isExecutable: boolean;
}

/** The files below a folder in the order of their paths; `undefined` when there are more than `max`. */
export function filesBelow(folder: string, max: number): readonly FoundFile[] | undefined {
  const found: FoundFile[] = [];
  const pending = [""];
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const name of namesIn(join(folder, parent), max + 1)) {
      const path = parent === "" ? name : `${parent}/${name}`;
      const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
      if (stats?.isDirectory()) pending.push(path);
      else if (stats !== undefined)
        found.push({ path, isFile: stats.isFile(), isExecutable: (stats.mode & 0o111) !== 0 });
      if (found.length + pending.length > max) return undefined;
    }
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}
