import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWrittenByGit } from "../git-config-lines.ts";
import { commonFolder, pointedGit, smallText } from "../paths/git-pointer.ts";

/**
 * True when git, started in a folder, would find settings of a repository that git did not write itself.
 * Every repository counts that holds the folder, as git passes over what it takes for broken.
 */
export function hasOwnGitSettings(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (gitFolders(at).some(isUnusual)) return true;
    if (dirname(at) === at) return false;
  }
}

/** The folders with settings that a folder leads git to: its `.git`, or itself as a bare repository. */
function gitFolders(folder: string): readonly string[] {
  const git = join(folder, ".git");
  const bare = existsSync(join(folder, "HEAD")) ? [folder] : [];
  const pointed = statSync(git, { throwIfNoEntry: false })?.isFile() === true ? pointedGit(git)?.own : git;
  const own = pointed === undefined ? bare : [pointed, ...bare];
  // Worktrees share the settings of their repository.
  return [...own, ...own.flatMap((each) => commonFolder(each) ?? [])];
}

function isUnusual(folder: string): boolean {
  return ["config", "config.worktree"].some((name) => {
    const path = join(folder, name);
    if (!existsSync(path)) return false;
    const text = smallText(path);
    return text === undefined || !isWrittenByGit(text);
  });
}
