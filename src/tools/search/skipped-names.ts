import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { repositoryOf } from "./ignore-rules.ts";

/**
 * Files and folders that searching passes over beside those named in ignore files: `.git`, our temporary
 * files, and, unless the caller asks for it by name, `node_modules`. Other hidden files are searched.
 */
export interface SkipRules {
  readonly withNodeModules: boolean;
}

/** True when an entry with this name is passed over. */
export function isSkipped(name: string, rules: SkipRules): boolean {
  return (
    name === ".git" ||
    name.startsWith(TEMPORARY_PREFIX) ||
    (name === "node_modules" && !rules.withNodeModules)
  );
}

/** The same for ripgrep, with what else makes its choice of files below `folder` the same everywhere. */
export async function ripgrepFileArgs(folder: string, rules: SkipRules): Promise<readonly string[]> {
  const skipped = [".git", `${TEMPORARY_PREFIX}*`, ...(rules.withNodeModules ? [] : ["node_modules"])];
  const globs = skipped.flatMap((name) => ["--glob", `!${name}`]);
  // In a repository ripgrep goes up to its top only if it may require one.
  const outside = (await repositoryOf(folder)) === undefined ? ["--no-require-git"] : [];
  return [
    "--hidden",
    "--no-ignore-global",
    ...outside,
    "--path-separator",
    "/",
    "--color",
    "never",
    ...globs,
  ];
}
