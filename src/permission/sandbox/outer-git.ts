import { lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { realPath } from "../../system/real-path.ts";
import { pointedGit, smallText } from "../paths/git-settings.ts";

/** The git folder of a workspace, where it lies outside of it. */
export interface OuterGit {
  /** The `.git` with objects, branches and settings. */
  readonly folder: string;
  /** Other worktrees of it: these stay closed. */
  readonly closed: readonly string[];
}

/**
 * The git folder outside of `workspace` that commands there need: that of a linked worktree which its
 * repository knows in turn, or the `.git` of a folder above. One that another user owns, or that stands in a
 * folder everybody may write to, counts for nothing; nor does that of the home folder.
 */
export function outerGitOf(workspace: string, home: string): OuterGit | undefined {
  for (let folder = workspace; folder !== home && folder !== dirname(folder); folder = dirname(folder)) {
    const marker = join(folder, ".git");
    const found = lstatSync(marker, { throwIfNoEntry: false });
    if (found === undefined) continue;
    if (found.isFile()) return linkedGit(marker);
    const isShared = (statSync(folder).mode & 0o002) !== 0;
    const isOwn = found.isDirectory() && found.uid === process.getuid?.() && !isShared;
    return folder !== workspace && isOwn ? { folder: marker, closed: [] } : undefined;
  }
  return undefined;
}

/** A `.git` file alone opens nothing: anybody could write one. */
function linkedGit(marker: string): OuterGit | undefined {
  const own = realPath(pointedGit(marker)?.own ?? "/");
  const worktrees = dirname(own);
  const knows = smallText(join(own, "gitdir"))?.trim() ?? "";
  if (!worktrees.endsWith("/.git/worktrees") || realPath(knows) !== marker) return undefined;
  const others = readdirSync(worktrees).map((name) => join(worktrees, name));
  return { folder: dirname(worktrees), closed: others.filter((other) => other !== own) };
}
