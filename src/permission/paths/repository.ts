import { existsSync, lstatSync } from "node:fs";
import { dirname } from "node:path";

/**
 * The folder in which git would find a repository when it starts in `folder`: a `.git`, or a folder that is a
 * bare repository itself, there or above. `undefined` where there is none.
 */
export function repositoryFrom(folder: string): string | undefined {
  let at = folder;
  for (;;) {
    if (existsSync(`${at}/.git`) || isBare(at)) return at;
    const above = dirname(at);
    if (above === at) return undefined;
    at = above;
  }
}

/** True when git could take a folder for the one in which a repository has its files. */
function isBare(folder: string): boolean {
  // A branch without a commit may be a link to nothing.
  if (lstatSync(`${folder}/HEAD`, { throwIfNoEntry: false }) === undefined) return false;
  if (existsSync(`${folder}/commondir`)) return true;
  return existsSync(`${folder}/objects`) && existsSync(`${folder}/refs`);
}
