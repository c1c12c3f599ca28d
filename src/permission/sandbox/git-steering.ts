import { lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { pointedGit } from "../paths/git-pointer.ts";
import { repositoryFrom } from "../paths/repository.ts";

/** A guard at a place while commands run: a file's `content`, none for an empty folder. */
export interface Placeholder {
  readonly path: string;
  readonly content?: string;
}

/** The files that lead Git somewhere else, or have it run something. */
export interface GitSteering {
  readonly guarded: readonly string[];
  /** The paths that are not there and must not come into being. Git takes each for nothing. */
  readonly missing: readonly Placeholder[];
}

/** Levels below a workspace on which repositories are looked for, and folders that are looked at. */
const DEPTH = 3;
const MAX_FOLDERS = 3_000;

/** Read by Git before anything else. */
const STEERS = ["config", "config.worktree", "hooks", "commondir", "gitdir"];
/** Folders of worktrees and submodules, with settings of their own: `modules/vendor/lib`. */
const INNER = ["worktrees", "modules"];
const MISSING: readonly Placeholder[] = [
  { path: "config", content: "" },
  { path: "config.worktree", content: "" },
  // Says what holds without it.
  { path: "commondir", content: ".\n" },
  { path: "hooks" },
];

/**
 * Finds the files that steer Git in a folder whose commands may write to it: the settings, hooks and pointers
 * of its repository, also the ones that are not there; where there is no repository, the place of one. An
 * empty `.git` is passed over by Git.
 */
export function gitSteering(folder: string): GitSteering {
  const path = join(folder, ".git");
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return joined([{ guarded: [], missing: [{ path }] }, ofFolder(folder)]);
  if (!found.isDirectory()) return withPointer(path);
  if (readdirSync(path).length > 0) return ofRepository(path);
  return joined([{ guarded: [path], missing: [] }, ofFolder(folder)]);
}

/** Git also takes a folder without a `.git` for a repository, once it has what a repository consists of. */
function ofFolder(folder: string): GitSteering {
  if (isBare(folder)) return ofRepository(folder);
  const path = join(folder, HEAD);
  const head = lstatSync(path, { throwIfNoEntry: false });
  if (head !== undefined) return { guarded: head.isDirectory() ? [path] : [], missing: [] };
  // Within another repository a folder of that name would make `git diff HEAD` ambiguous.
  return { guarded: [], missing: repositoryFrom(dirname(folder)) === undefined ? [{ path }] : [] };
}

/** A folder in the place of this file is no beginning of a repository. */
const HEAD = "HEAD";

/** True when git may take a folder itself for a repository, where it finds no `.git` of use in it. */
export function isBare(folder: string): boolean {
  const [head, common] = [HEAD, COMMON].map((name) =>
    lstatSync(join(folder, name), { throwIfNoEntry: false }),
  );
  if (head === undefined || head.isDirectory() || common?.isDirectory() === true) return false;
  return common !== undefined || ["objects", "refs"].every((name) => isThere(join(folder, name)));
}

const COMMON = "commondir";

/** Has git refuse a folder as a repository: it cannot read a folder as the pointer that it takes this for. */
export function refuseAsBare(folder: string): void {
  const path = join(folder, COMMON);
  rmSync(path, { force: true });
  mkdirSync(path);
}

/** The folders below a workspace that hold a repository of their own, three levels deep. Follows no links. */
export function repositoriesBelow(workspace: string): readonly string[] {
  const found: string[] = [];
  let looked = 0;
  let level = [workspace];
  for (let depth = 0; depth < DEPTH; depth++) {
    const folders = level.flatMap((folder) => (looked++ < MAX_FOLDERS ? foldersIn(folder) : []));
    found.push(...folders.filter((folder) => isThere(join(folder, ".git"))));
    level = folders;
  }
  return found;
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules")
      .map(({ name }) => join(folder, name));
  } catch {
    // Not readable for us, and so for a command.
    return [];
  }
}

function ofRepository(git: string): GitSteering {
  const inner = INNER.flatMap((name) => repositoriesIn(join(git, name), DEPTH)).map(ofRepository);
  return joined([
    {
      guarded: STEERS.map((name) => join(git, name)).filter(isThere),
      missing: MISSING.map((each) => ({ ...each, path: join(git, each.path) })).filter(
        ({ path }) => !isThere(path),
      ),
    },
    ...inner,
  ]);
}

function repositoriesIn(folder: string, depth: number): readonly string[] {
  return foldersIn(folder).flatMap((path) => {
    if (isThere(join(path, "HEAD"))) return [path];
    return depth > 1 ? repositoriesIn(path, depth - 1) : [];
  });
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function joined(all: readonly GitSteering[]): GitSteering {
  return {
    guarded: all.flatMap(({ guarded }) => guarded),
    missing: all.flatMap(({ missing }) => missing),
  };
}

/** A `.git` that is a file names its worktree's or submodule's folder, and that one the repository's. */
function withPointer(path: string): GitSteering {
  const found = pointedGit(path);
  if (found === undefined) return { guarded: [path], missing: [] };
  return joined([{ guarded: [path], missing: [] }, ofRepository(found.common)]);
}
