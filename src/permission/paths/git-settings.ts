import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isWrittenByGit } from "../git-config-lines.ts";

/** The folders that a `.git` which is a file leads to. */
export interface PointedGit {
  /** That of the worktree or submodule. */
  readonly own: string;
  /** That of the repository, which holds `own` where they are two. */
  readonly common: string;
}

/** The folders that a `.git` leads to; `undefined` where it is none of those files, or names nothing. */
export function pointedGit(path: string): PointedGit | undefined {
  const own = pointedAt(path, /^gitdir: (.+)$/m);
  if (own === undefined) return undefined;
  return { own, common: commonOf(own) };
}

/** The folder with the settings of the repository that a folder of git belongs to. */
function commonOf(own: string): string {
  return pointedAt(join(own, "commondir"), /^(.+)$/m) ?? own;
}

/**
 * True when git, started in a folder, would find settings of a repository that git did not write itself.
 * Every repository counts that holds the folder, as git passes over what it takes for broken.
 */
export function hasOwnGitSettings(folder: string): boolean {
  const git = join(folder, ".git");
  const { own, common } = pointedGit(git) ?? { own: git, common: commonOf(git) };
  // A folder may be a bare repository itself.
  const bare = existsSync(join(folder, "HEAD")) ? [folder] : [];
  const files = [own, common, ...bare].flatMap((each) => [
    join(each, "config"),
    join(each, "config.worktree"),
  ]);
  const above = dirname(folder);
  return files.some(isUnusual) || (above !== folder && hasOwnGitSettings(above));
}

function isUnusual(path: string): boolean {
  return existsSync(path) && !isWrittenByGit(smallText(path) ?? "unreadable");
}

function pointedAt(path: string, form: RegExp): string | undefined {
  const target = form.exec(smallText(path) ?? "")?.[1];
  return target === undefined ? undefined : resolve(path, "..", target.trim());
}

/** Pointers are one line; a `config` of this size was not written by git alone. */
const MAX_SIZE = 256 * 1024;

/** The text of a small regular file; `undefined` for everything else. */
export function smallText(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_SIZE) return undefined;
    const content = readFileSync(path);
    // Files of the kernel do not say how large they are.
    return content.length === stats.size ? content.toString() : undefined;
  } catch {
    // Nothing is there, or it cannot be read.
    return undefined;
  }
}
