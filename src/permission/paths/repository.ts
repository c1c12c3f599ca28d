import { existsSync } from "node:fs";
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
