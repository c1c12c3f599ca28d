import { join, resolve } from "node:path";
import { textOf } from "./git-settings.ts";

/** A pointer to another folder is one line. */
const MAX_POINTER = 4_096;

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
  return { own, common: pointedAt(join(own, "commondir"), /^(.+)$/m) ?? own };
}

function pointedAt(path: string, form: RegExp): string | undefined {
  const [, target] = form.exec(textOf(path)?.slice(0, MAX_POINTER) ?? "") ?? [];
  return target === undefined ? undefined : resolve(path, "..", target.trim());
}
