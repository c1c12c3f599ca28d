import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isWithin } from "../../system/real-path.ts";

/** Files and folders in the root of a workspace that steer the agent and editors. */
const IN_ROOT = [".nano-agent", "nano-agent.json", ".mcp.json", ".claude", ".vscode", ".idea"];
/** Files and folders of a git folder that make git run programs or lead it elsewhere. */
const IN_GIT = ["config", "config.worktree", "hooks", "commondir"];
/** Longer settings are nobody's. */
const MAX_BYTES = 1_000_000;
/** Submodules may have submodules. */
const MAX_DEPTH = 6;

/** A file, folder or link at a path. `text` is the content of a file, or where a link leads. */
export interface SteeringState {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly text: string;
}

/** The paths that steer in a root, whatever stands there. */
export function steeringOfRoot(root: string): readonly string[] {
  return IN_ROOT.map((name) => join(root, name));
}

/**
 * The paths that steer git in a folder with a `.git`, also those where nothing stands: the `.git`, its
 * settings and hooks, those of its worktrees and submodules, and what its settings name inside `writable`.
 */
export function steeringOfRepository(folder: string, writable: readonly string[]): readonly string[] {
  const git = join(folder, ".git");
  return [git, ...steeringOfGit(git), ...namedBySettings(git, writable)];
}

/** The paths that steer git in a git folder. */
export function steeringOfGit(git: string, depth = 0): readonly string[] {
  const worktrees = foldersIn(join(git, "worktrees")).flatMap((each) =>
    ["config.worktree", "commondir", "gitdir"].map((name) => join(each, name)),
  );
  const modules =
    depth < MAX_DEPTH ? foldersIn(join(git, "modules")).flatMap((each) => ofModule(each, depth)) : [];
  return [...IN_GIT.map((name) => join(git, name)), ...worktrees, ...modules];
}

/** A submodule's name may have slashes: `modules/vendor/lib`. */
function ofModule(folder: string, depth: number): readonly string[] {
  if (lookAt(join(folder, "HEAD")) !== undefined) return steeringOfGit(folder, depth + 1);
  return depth < MAX_DEPTH ? foldersIn(folder).flatMap((each) => ofModule(each, depth + 1)) : [];
}

/** Files with further settings, and the folder of hooks, as far as a command could write them. */
function namedBySettings(git: string, writable: readonly string[]): readonly string[] {
  const { text = "" } = stateOf(join(git, "config")) ?? {};
  return [...text.matchAll(/^\s*(path|hookspath)\s*=\s*"?([^"\n]+?)"?\s*$/gim)].flatMap(
    ([, key = "", value = ""]) => {
      const path = resolve(key.toLowerCase() === "path" ? git : dirname(git), value);
      return isWithin(path, ...writable) && !writable.includes(path) ? [path] : [];
    },
  );
}

/** True when a folder itself is one git would take for a repository, without a `.git`. */
export function isBareRepository(folder: string): boolean {
  const has = (name: string): boolean => stateOf(join(folder, name)) !== undefined;
  return has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
}

/** The state of a path; undefined: nothing is there. Reads regular files only, and never waits for one. */
export function stateOf(path: string): SteeringState | undefined {
  const found = lookAt(path);
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return { kind: "link", text: readOrEmpty(() => readlinkSync(path)) };
  if (found.isDirectory()) return { kind: "folder", text: "" };
  const text = found.isFile() ? readOrEmpty(() => readRegularFile(path)) : undefined;
  return text === undefined ? { kind: "other", text: "" } : { kind: "file", text };
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    // Nothing there, or in a folder that is closed to this user.
    return undefined;
  }
}

function readRegularFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(file);
    return fstatSync(file).isFile() && size <= MAX_BYTES ? readFileSync(file, "utf8") : `(${size} bytes)`;
  } finally {
    closeSync(file);
  }
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    // Closed to this user, or gone this moment: then it says nothing.
    return "";
  }
}

/** The folders in a folder, links left out. */
export function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((each) => each.isDirectory()).map(({ name }) => join(folder, name));
  } catch {
    // No such folder, or a closed one.
    return [];
  }
}
