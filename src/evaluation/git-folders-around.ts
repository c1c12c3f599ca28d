import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pointedGit } from "../permission/paths/git-settings.ts";
import { realPath } from "../system/real-path.ts";

/**
 * The folders in which Git may keep what was ever in a folder: those of the repositories that it lies in, of
 * a worktree or submodule also that of its repository. Links resolved.
 */
export function gitFoldersAround(folder: string): readonly string[] {
  const path = join(folder, ".git");
  const pointed = pointedGit(path);
  const own = pointed === undefined ? [path] : [pointed.own, pointed.common];
  const here = existsSync(path) ? own.map(realPath) : [];
  const above = dirname(folder);
  return above === folder ? here : [...here, ...gitFoldersAround(above)];
}
