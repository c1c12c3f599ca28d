import { lstatSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { invalidArgument, type NanoAgentError } from "../../core/base/errors.ts";
import { systemReason } from "../../session/session-error.ts";
import { type Environment, variable } from "../../system/env.ts";

/** The user's folders on this machine, following the XDG Base Directory specification. */
export interface UserPaths {
  readonly home: string;
  readonly configFolder: string;
  readonly stateFolder: string;
  /** The folder of sessions and their undo data: the state folder, unless another was requested. */
  readonly historyFolder: string;
}

/** The user's folders. Relative paths in `XDG_*` variables are ignored, as the specification requires. */
export function userPaths(environment: Environment): UserPaths {
  const home = variable(environment, "HOME") ?? homedir();
  const folder = (name: string, fallback: string): string => {
    const value = variable(environment, name);
    const base = value !== undefined && isAbsolute(value) ? value : join(home, fallback);
    return join(base, "nano-agent");
  };
  const stateFolder = folder("XDG_STATE_HOME", ".local/state");
  return {
    home,
    configFolder: folder("XDG_CONFIG_HOME", ".config"),
    stateFolder,
    historyFolder: stateFolder,
  };
}

export function configPath({ configFolder }: Pick<UserPaths, "configFolder">): string {
  return join(configFolder, "config.json");
}

/** The folder the program was started in. Throws `invalid_argument` if it has been removed. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw removedFolderError(error);
  }
}

/** Replaces Node's error for a removed working folder with a clear one. */
export function explainRemovedFolder(error: unknown): unknown {
  const isGone = error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
  return isGone ? removedFolderError(error) : error;
}

function removedFolderError(cause: unknown): NanoAgentError {
  return invalidArgument(
    "The working folder was removed. Change into a folder that exists, or name one with --cwd.",
    {
      cause,
    },
  );
}

/** Resolves the folder `path`, links included. Throws `invalid_argument` if it cannot be entered. */
export function existingFolder(path: string, option: string, base?: string): string {
  const absolute = isAbsolute(path) ? resolve(path) : resolve(base ?? currentFolder(), path);
  try {
    const real = realpathSync(absolute);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw invalidArgument(`${option} ${absolute}: ${systemReason(error)}. Name a folder that exists.`, {
      cause: error,
    });
  }
  throw invalidArgument(`${option} ${absolute} is not a folder. Name a folder.`);
}

/**
 * The folders whose files apply to a project, from the root of its repository down to `cwd`. Only `cwd` if
 * somebody else owns the repository: anyone may make a `.git` in a world-writable folder.
 */
export function projectFolders(cwd: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.unshift(folder);
    const git = join(folder, ".git");
    if (statSync(git, { throwIfNoEntry: false }) !== undefined)
      return folder === cwd || isTrustedOwner(git, cwd) ? folders : [cwd];
    if (dirname(folder) === folder) return [cwd];
  }
}

/** True if a path belongs to the user, the owner of the working folder, or the system. */
function isTrustedOwner(path: string, cwd: string): boolean {
  const { uid: owner } = lstatSync(path);
  const user = process.getuid?.();
  return user === undefined || owner === 0 || owner === user || owner === statSync(cwd).uid;
}
