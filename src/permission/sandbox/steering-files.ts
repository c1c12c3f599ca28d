import * as fs from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { newUuid } from "../../core/base/ids.ts";
import { isAtPlace, pathOfOpen } from "../../system/opened-place.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { systemCode } from "../../system/system-error.ts";
import { isWrittenByGit } from "../git-settings.ts";
import { namesIn } from "./sandbox-limits.ts";

/** Names in the root of a workspace that steer the agent and editors; `HEAD` makes a repository of it. */
const IN_ROOT = ".nano-agent nano-agent.json .mcp.json .claude .vscode .idea HEAD".split(" ");
/** Files and folders of a git folder that make git run programs or lead it elsewhere. */
const IN_GIT = ["config", "config.worktree", "hooks", "commondir"];
const IN_WORKTREE = [...IN_GIT, "gitdir"];
/** A longer file is compared by size and time. */
const MAX_BYTES = 1_000_000;
/** Submodules may have submodules, and slashes in their names. */
const MAX_DEPTH = 12;

/** The state of a path. `text`: the content of a file, or where a link leads. */
export interface SteeringState {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly text: string;
}

/** The paths that steer in the root of a workspace, also those where nothing stands. */
export function steeringOfRoot(root: string): readonly string[] {
  return IN_ROOT.map((name) => join(root, name));
}

/**
 * The paths that steer git in a folder, also those where nothing stands: the `.git`, what is in it, and what
 * its settings name inside `writable`. A folder may be a repository itself.
 */
export function steeringOfRepository(folder: string, writable: readonly string[]): readonly string[] {
  const git = join(folder, ".git");
  const bare = isRepository(namesIn(folder)) ? steeringOfGit(folder) : [];
  return [git, ...steeringOfGit(git), ...namedBySettings(git, [folder], writable), ...bare];
}

/** The paths inside `writable` that settings of a git folder name; hooks start from each of its `folders`. */
export function namedBySettings(
  git: string,
  folders: readonly string[],
  writable: readonly string[],
): readonly string[] {
  const { text = "" } = stateOf(join(git, "config")) ?? {};
  const named = [...text.matchAll(/^\s*(path|hookspath)\s*=\s*"?([^"\n]+?)"?\s*$/gim)].flatMap(
    ([, key = "", value = ""]) =>
      (key.toLowerCase() === "path" ? [git] : folders).map((folder) => resolve(folder, value)),
  );
  return named.filter((path) => isWithin(path, ...writable) && !writable.includes(path));
}

/** The paths that steer git in a git folder: settings, hooks, those of its worktrees and submodules. */
export function steeringOfGit(git: string): readonly string[] {
  const hooks = namesIn(join(git, "hooks")).filter((name) => !name.endsWith(".sample"));
  return [
    ...IN_GIT.map((name) => join(git, name)),
    ...hooks.map((name) => join(git, "hooks", name)),
    ...namesIn(join(git, "worktrees")).flatMap((tree) =>
      IN_WORKTREE.map((name) => join(git, "worktrees", tree, name)),
    ),
    ...gitFoldersIn(join(git, "modules"), MAX_DEPTH).flatMap(steeringOfGit),
  ];
}

function gitFoldersIn(folder: string, depth: number): readonly string[] {
  if (depth === 0) return [];
  const inner = namesIn(folder).map((name) => join(folder, name));
  return inner.flatMap((each) => (namesIn(each).includes("HEAD") ? [each] : gitFoldersIn(each, depth - 1)));
}

/** The state of a path; undefined: nothing that counts is there. Never waits for a file. */
export function stateOf(path: string): SteeringState | undefined {
  try {
    if (basename(path) === "HEAD" && !isRepository(namesIn(dirname(path)))) return undefined;
    const found = fs.lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) return { kind: "link", text: fs.readlinkSync(path) };
    if (found.isDirectory()) return { kind: "folder", text: "" };
    if (found.isFile() && found.size <= MAX_BYTES) return { kind: "file", text: textOf(path) };
    return { kind: "other", text: `${found.size} ${found.mtimeMs}` };
  } catch {
    // Gone this moment, or in a folder that is closed to this user.
    return undefined;
  }
}

function textOf(path: string): string {
  const file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  try {
    return fs.readFileSync(file, "utf8");
  } finally {
    fs.closeSync(file);
  }
}

/** True when git would take a folder with these names for a repository, without a `.git`. */
export function isRepository(names: readonly string[]): boolean {
  const has = (name: string): boolean => names.includes(name);
  return has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
}

/** Of a new folder of git each hook is looked at by itself. */
const IS_NEW_FOLDER = /\/\.git(?:\/(?:modules\/.+\/)?hooks)?$/;

/** True for a change that a command may bring about: what git makes and writes. `guarded`: git folders. */
export function mayChange(
  path: string,
  before: SteeringState | undefined,
  now: SteeringState | undefined,
  guarded: readonly string[],
): boolean {
  // What has no text cannot be written back.
  if (now === undefined) return before?.kind !== "file" && before?.kind !== "link";
  const { kind, text } = now;
  if (before?.kind === kind && before.text === text) return true;
  if (kind === "folder") return IS_NEW_FOLDER.test(path);
  return kind === "file" && mayWrite(path, text, before, guarded);
}

function mayWrite(
  path: string,
  text: string,
  before: SteeringState | undefined,
  guarded: readonly string[],
): boolean {
  switch (basename(path)) {
    case ".git":
      return leadsInside(path, text, guarded);
    case "config":
      return isWrittenByGit(text, `${before?.text ?? ""}\n${placeOfModule(path, text)}`);
    case "commondir":
      return path.includes("/worktrees/") && text.trim() === "../..";
    default:
      return basename(path) === "gitdir" && before === undefined;
  }
}

/** A pointer into a guarded git folder: a worktree or submodule that git made there. */
function leadsInside(path: string, text: string, guarded: readonly string[]): boolean {
  const to = /^gitdir: (.+)\n?$/.exec(text)?.[1];
  if (to === undefined) return false;
  const place = realPath(resolve(dirname(path), to));
  const isNear = (git: string): boolean => relative(git, place).split("/").length <= MAX_DEPTH;
  return guarded
    .map(realPath)
    .some((git) => isWithin(place, join(git, "worktrees"), join(git, "modules")) && isNear(git));
}

/** The lines by which git notes where a submodule lies: inside the repository it belongs to. */
function placeOfModule(path: string, text: string): string {
  const to = /^\tworktree = ([\w./-]+)$/m.exec(text)?.[1];
  const [repository = "", module] = path.split("/.git/modules/");
  const isInside = to !== undefined && isWithin(resolve(dirname(path), to), repository);
  return module !== undefined && isInside ? `[core]\n\tworktree = ${to}` : "";
}

/**
 * Moves what stands at a path into a new folder of `kept`, and writes anew what was there before, where that
 * was a file or a link. Never deletes. The line that says so; undefined where nothing could be done.
 */
export function putBack(path: string, before: SteeringState | undefined, kept: string): string | undefined {
  const folder = join(kept, newUuid());
  const target = join(folder, basename(path));
  const isMoved =
    stateOf(path) !== undefined &&
    inFolderOf(path, (place) => {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      move(place, target);
    });
  const { kind, text = "" } = before ?? {};
  const isWritten =
    (kind === "link" && inFolderOf(path, (place) => fs.symlinkSync(text, place))) ||
    (kind === "file" && inFolderOf(path, (place) => fs.writeFileSync(place, text, { flag: "wx" })));
  if (!isMoved && !isWritten) return undefined;
  return `${path} is as it was before${isMoved ? `; what a command put there is kept as ${target}` : ""}`;
}

/**
 * Acts on a path in the very folder it names: a command that still runs could put a link to another folder in
 * its place. False where that folder is gone, or not the one it was.
 */
function inFolderOf(path: string, act: (place: string) => void): boolean {
  let folder: number | undefined;
  try {
    folder = fs.openSync(
      dirname(path),
      fs.constants.O_RDONLY | fs.constants.O_DIRECTORY | fs.constants.O_NOFOLLOW,
    );
    if (!isAtPlace(folder, dirname(path))) return false;
    act(join(pathOfOpen(folder) ?? dirname(path), basename(path)));
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  } finally {
    if (folder !== undefined) fs.closeSync(folder);
  }
}

function move(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    fs.cpSync(from, to, { recursive: true, dereference: false, verbatimSymlinks: true });
    fs.rmSync(from, { recursive: true, force: true });
  }
}
