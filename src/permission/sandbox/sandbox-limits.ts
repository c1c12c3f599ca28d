import { readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { isWithin, realPath } from "../../system/real-path.ts";
import type { Variables } from "./confined-start.ts";
import { type OuterGit, outerGitOf } from "./outer-git.ts";

/** Options of a sandbox. Paths may begin with `~/`; relative ones start at the first workspace folder. */
export interface SandboxOptions {
  /** Folders that commands may write to, the working folder first. */
  readonly workspace: readonly string[];
  /** Default: the home folder of the user. */
  readonly home?: string;
  /**
   * Folder for temporary files, caches of tool chains and what was put back. Default: `~/.cache/nano-agent`,
   * on macOS `~/Library/Caches/nano-agent`.
   */
  readonly stateFolder?: string;
  /** Variables that say where programs and agents are. Default: a plain `PATH`. */
  readonly environment?: Variables;
  /** Further folders and files that commands may write to. */
  readonly allowWrite?: readonly string[];
  /** Further folders and files that commands may not read. */
  readonly denyRead?: readonly string[];
  /** Folders and files that commands may never write to, wherever they lie. */
  readonly protect?: readonly string[];
  /** macOS: commands reach ports of this machine, and open some. Default false. */
  readonly loopback?: boolean;
}

/** The reach of commands, as paths on disk. */
export interface SandboxLimits {
  readonly workspace: readonly string[];
  readonly home: string;
  readonly stateFolder: string;
  /** The workspace, `allowWrite` and the git folders outside of it. */
  readonly writable: readonly string[];
  readonly protected: readonly string[];
  readonly unreadable: readonly string[];
  /** Git folders outside of the workspace that belong to it. */
  readonly outerGit: readonly OuterGit[];
  /** The absolute folders of `PATH`. */
  readonly programs: readonly string[];
  readonly environment: Variables;
  readonly loopback: boolean;
}

const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/** Where keys are usually kept, in the home folder. */
const KEYS =
  ".ssh .aws .gnupg .kube .docker .config/gh .config/gcloud .netrc .Xauthority Library/Keychains".split(" ");

/** Finds the limits. What does not exist limits nothing until it does. */
export function sandboxLimits(options: SandboxOptions): SandboxLimits {
  const home = realPath(options.home ?? homedir());
  const workspace = options.workspace.map((folder) => realPath(resolve(folder)));
  const absolute = (path: string): string => {
    const named = /^~(?:$|\/)/.test(path) ? join(home, path.slice(1)) : path;
    return realPath(resolve(workspace[0] ?? home, named));
  };
  const environment = options.environment ?? { PATH };
  const caches = process.platform === "darwin" ? "Library/Caches" : ".cache";
  const outerGit = workspace.flatMap((folder) => outerGitOf(folder, home) ?? []);
  const allowed = (options.allowWrite ?? []).map(absolute);
  return {
    workspace,
    home,
    stateFolder: absolute(options.stateFolder ?? join(home, caches, "nano-agent")),
    writable: [...new Set([...workspace, ...allowed, ...outerGit.map(({ folder }) => folder)])],
    protected: [...(options.protect ?? []).map(absolute), ...outerGit.flatMap(({ closed }) => closed)],
    unreadable: [...keysOf(home), ...(options.denyRead ?? [])].map(absolute),
    outerGit,
    programs: (environment["PATH"] ?? PATH).split(":").filter((folder) => isAbsolute(folder)),
    environment,
    loopback: options.loopback ?? false,
  };
}

/** Why there can be no sandbox around these folders. */
export function unfitWorkspace({ workspace, home, unreadable }: SandboxLimits): string | undefined {
  if (workspace.length === 0) return "no workspace folder was given";
  const holding = workspace.find((folder) => isWithin(home, folder));
  if (holding !== undefined) return `the workspace ${holding} holds the home folder`;
  const gone = workspace.find((folder) => !isFolder(folder));
  if (gone !== undefined) return `the workspace ${gone} is not a folder`;
  const closed = workspace.find((folder) => isWithin(folder, ...unreadable));
  return closed && `the workspace ${closed} lies in a folder that commands may not read`;
}

function keysOf(home: string): readonly string[] {
  const own = KEYS.map((name) => join(home, name));
  if (process.getuid?.() !== 0) return own;
  const hostKeys = isFolder("/etc/ssh")
    ? readdirSync("/etc/ssh").filter((name) => name.endsWith("_key"))
    : [];
  return [
    ...own,
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    ...hostKeys.map((name) => join("/etc/ssh", name)),
  ];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
