import { type Dirent, readdirSync, statSync } from "node:fs";
import { type GitFiles, gitPrograms } from "./git-programs.ts";

/** Folders that are looked through for one repository. */
const MAX_FOLDERS = 250_000;

/**
 * The settings of repositories below a work tree that would have git run something, beside those of the work
 * tree's own: a commit may name any of them, and git enters those that it names. Folders that cannot be
 * looked through, or are too many, count as one.
 */
export function programsBelow(tree: string, files: GitFiles): readonly string[] {
  const settingsOf = (repository: string): readonly string[] => {
    const { looking = [], others = [] } = gitPrograms(repository, files) ?? {};
    return [...looking, ...others];
  };
  try {
    const below = repositoriesIn(tree);
    const own = new Set(below.length === 0 ? [] : settingsOf(tree));
    return below.flatMap((repository) =>
      settingsOf(repository)
        .filter((setting) => !own.has(setting))
        .map((setting) => `${setting} in ${repository.slice(tree.length + 1)}`),
    );
  } catch (error) {
    return [error instanceof Error ? error.message : "a folder that cannot be looked through"];
  }
}

/** The folders below that have a `.git`. Follows no links, as git does not there. Throws for too many. */
function repositoriesIn(tree: string): readonly string[] {
  const found: string[] = [];
  const folders = [tree];
  for (const folder of folders) {
    if (folders.length > MAX_FOLDERS) throw new Error(`more than ${MAX_FOLDERS} folders`);
    for (const entry of entriesOf(folder)) {
      const isGit = entry.name.toLowerCase() === ".git";
      if (isGit && folder !== tree) found.push(folder);
      if (isGit || !entry.isDirectory()) continue;
      // The folder has another name for the system.
      if (entry.name.includes("\uFFFD")) throw new Error(`the folder ${entry.name} in ${folder}`);
      folders.push(`${folder}/${entry.name}`);
    }
  }
  return found;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (mayBeEntered(folder)) throw error;
    // Gone, or closed to git as well.
    return [];
  }
}

function mayBeEntered(folder: string): boolean {
  try {
    // The name that a folder has in itself is found by whoever may enter it.
    statSync(`${folder}/.`);
    return true;
  } catch {
    return false;
  }
}
