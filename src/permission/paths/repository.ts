import { accessSync, constants, existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The folder in which git would find a repository when it starts in `folder`, the way git looks for one: a `.git`, or a folder that is a
 * bare repository itself, there or above. `undefined` where there is none.
 */
export function repositoryFrom(
  folder: string,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (exists(join(at, ".git"))) return at;
    if (["HEAD", "objects", "refs"].every((name) => exists(join(at, name)))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** All folders in which git may find one, the nearest first: it passes over a `.git` that is not a repository, and looks further up. */
export function repositoriesFrom(folder: string): readonly string[] {
  const found = repositoryFrom(folder);
  if (found === undefined) return [];
  return isRepository(join(found, ".git")) || dirname(found) === found
    ? [found]
    : [found, ...repositoriesFrom(dirname(found))];
}

/** Whether git is sure to stop at a `.git`. One that is a file it follows, or fails. */
function isRepository(git: string): boolean {
  try {
    if (statSync(git).isFile()) return true;
    for (const name of ["objects", "refs"]) accessSync(join(git, name), constants.X_OK);
    const head = join(git, "HEAD");
    return lstatSync(head).isFile() && /^(?:ref: refs\/|[\da-f]{40})/.test(readFileSync(head, "latin1"));
  } catch {
    // What it consists of is not there, or cannot be read.
    return false;
  }
}
