import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

/** Pointers are one line; a `config` of this size was not written by git alone. */
const MAX_SIZE = 256 * 1024;

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
  return { own, common: commonFolder(own) ?? own };
}

/** The folder that a folder of git names as the one with the settings; `undefined` where it names none. */
export function commonFolder(git: string): string | undefined {
  return pointedAt(join(git, "commondir"), /^(.+)$/m);
}

function pointedAt(path: string, form: RegExp): string | undefined {
  const [, target] = form.exec(smallText(path) ?? "") ?? [];
  return target === undefined ? undefined : resolve(path, "..", target.trim());
}

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
