import { opendir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { systemCode } from "../../system/system-error.ts";
import { FileRefusal } from "../files/file-error.ts";
import { describeNearestNames } from "../files/nearest-names.ts";
import type { PathOptions } from "../files/permitted-path.ts";
import type { RipgrepChoice, RipgrepLocator } from "./ripgrep.ts";

/** The kind of place a search starts at; throws for anything else, and for a folder nobody may read. */
export async function searchRootKind(path: string, shown: string): Promise<"folder" | "file"> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) {
      await (await opendir(path)).close();
      return "folder";
    }
    if (stats.isFile()) return "file";
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    throw new FileRefusal(`${shown}: there is no such file or folder.${await describeNearestNames(path)}`);
  }
  throw new FileRefusal(`${shown} is neither a file nor a folder: it cannot be searched.`);
}

/** A path for the model's next call: relative where it lies below the working folder, else absolute. */
export function shownPath(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  if (shown === "") return ".";
  return shown === ".." || shown.startsWith(`..${sep}`) ? path : shown.split(sep).join("/");
}

/** A check whether a path below `folder` is left out, which asks only once for lines of the same file. */
export function exclusionBelow(
  folder: string,
  excludes: ((path: string) => boolean) | undefined,
): (path: string) => boolean {
  let last: { readonly path: string; readonly isExcluded: boolean } | undefined;
  return (path) => {
    if (excludes === undefined) return false;
    if (last?.path !== path) last = { path, isExcluded: isExcluded(excludes, join(folder, path)) };
    return last.isExcluded;
  };
}

/** A check that fails must not show what it may have been there to hide. */
function isExcluded(excludes: (path: string) => boolean, path: string): boolean {
  try {
    return excludes(path);
  } catch {
    return true;
  }
}

/** Options of the tools that search. */
export interface SearchToolOptions extends PathOptions {
  /** Which ripgrep to use; `false`: none. Default: `rg` on the PATH, then the one installed along. */
  readonly ripgrep?: RipgrepChoice;
  /** A locator to share, so that several tools look for ripgrep once. Goes before `ripgrep`. */
  readonly locator?: RipgrepLocator;
  /** True for files neither listed nor searched, by absolute path. What makes it throw is left out. */
  readonly excludes?: (path: string) => boolean;
  /** Milliseconds after which a search ends with what it has found. Default 20,000. */
  readonly timeoutMs?: number;
}
