import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { realPath } from "../../system/real-path.ts";

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
    if (folder === workspace || !found.isDirectory() || !isOwn(folder)) return undefined;
    return { folder: marker, closed: [] };
  }
  return undefined;
}

/** A `.git` file alone opens nothing: anybody could write one. */
function linkedGit(marker: string): OuterGit | undefined {
  const named = /^gitdir: (.+)$/m.exec(readText(marker))?.[1];
  const own = named === undefined ? "" : realPath(resolve(dirname(marker), named));
  const worktrees = dirname(own);
  if (!worktrees.endsWith("/.git/worktrees") || realPath(readText(join(own, "gitdir")).trim()) !== marker)
    return undefined;
  const others = readdirSync(worktrees).map((name) => join(worktrees, name));
  return { folder: dirname(worktrees), closed: others.filter((other) => other !== own) };
}

function isOwn(folder: string): boolean {
  const git = statSync(join(folder, ".git"));
  const isShared = (statSync(folder).mode & 0o002) !== 0;
  return git.uid === process.getuid?.() && !isShared;
}

function readText(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, "utf8") : "";
  } catch {
    // Not there, or not for this user.
    return "";
  }
}
