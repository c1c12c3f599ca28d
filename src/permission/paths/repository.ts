import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { ReadText } from "./git-settings.ts";

/**
 * The folder in which git would find a repository when it starts in `folder`, the way git looks for one: a
 * `.git`, or a folder that is a bare repository itself, there or above. `undefined` where there is none.
 */
export function repositoryFrom(folder: string): string | undefined {
  let at = folder;
  for (;;) {
    // Not `join`, which takes each path apart: a slash too many, at the root, means nothing.
    if (existsSync(`${at}/.git`) || isBare(at)) return at;
    const above = dirname(at);
    if (above === at) return undefined;
    at = above;
  }
}

function isBare(folder: string): boolean {
  return existsSync(`${folder}/HEAD`) && existsSync(`${folder}/objects`) && existsSync(`${folder}/refs`);
}

/** True when git finds the same repository from two folders, or none from both. */
export function isSameRepository(one: string, other: string): boolean {
  return one === other || repositoryFrom(one) === repositoryFrom(other);
}

/**
 * All folders in which git may find one, the nearest first: it passes over a `.git` that is not a repository,
 * and looks further up. The file that says where a repository is comes from `read`.
 */
export function repositoriesFrom(folder: string, read: ReadText): readonly string[] {
  const found = repositoryFrom(folder);
  if (found === undefined) return [];
  return isRepository(`${found}/.git`, read) || dirname(found) === found
    ? [found]
    : [found, ...repositoriesFrom(dirname(found), read)];
}

/** True when git is sure to stop at a `.git`. One that is a file it follows, or fails. */
function isRepository(git: string, read: ReadText): boolean {
  try {
    if (statSync(git).isFile()) return true;
    for (const name of ["objects", "refs"]) accessSync(`${git}/${name}`, constants.X_OK);
    const head = `${git}/HEAD`;
    return lstatSync(head).isFile() && /^(?:ref: refs\/|[\da-f]{40})/.test(read(head) ?? "");
  } catch {
    // One of its parts is not there, or cannot be read.
    return false;
  }
}
