import { existsSync, readdirSync, statSync } from "node:fs";
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
const KEYS = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".docker",
  ".config/gh",
  ".config/gcloud",
  ".netrc",
  ".Xauthority",
  "Library/Keychains",
];

/** Finds the limits as things are on disk now. What does not exist limits nothing. */
export function sandboxLimits(options: SandboxOptions): SandboxLimits {
  const home = realPath(options.home ?? homedir());
  const workspace = options.workspace.map((folder) => realPath(resolve(folder)));
  const base = workspace[0] ?? home;
  const absolute = (path: string): string => realPath(resolve(base, withHome(path, home)));
  const environment = options.environment ?? { PATH };
  const caches = process.platform === "darwin" ? "Library/Caches" : ".cache";
  const outerGit = workspace.flatMap((folder) => outerGitOf(folder, home) ?? []);
  const closed = outerGit.flatMap((git) => git.closed);
  return {
    workspace,
    home,
    stateFolder: absolute(options.stateFolder ?? join(home, caches, "nano-agent")),
    writable: unique([
      ...workspace,
      ...(options.allowWrite ?? []).map(absolute),
      ...outerGit.map(({ folder }) => folder),
    ]).filter(existsSync),
    protected: unique([...(options.protect ?? []).map(absolute), ...closed]).filter(existsSync),
    unreadable: unique([...keysOf(home, environment), ...(options.denyRead ?? []).map(absolute)]).filter(
      existsSync,
    ),
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

function keysOf(home: string, environment: Variables): readonly string[] {
  const windowsHome = windowsProfile(environment);
  const homes = windowsHome === undefined ? [home] : [home, windowsHome];
  const own = homes.flatMap((folder) => KEYS.map((name) => realPath(join(folder, name))));
  if (process.getuid?.() !== 0) return own;
  return [...own, "/etc/shadow", "/etc/gshadow", ...hostKeys()];
}

function hostKeys(): readonly string[] {
  try {
    return readdirSync("/etc/ssh")
      .filter((name) => name.endsWith("_key"))
      .map((name) => join("/etc/ssh", name));
  } catch {
    // No server for SSH here.
    return [];
  }
}

/** The home folder of the user on the Windows around this Linux, as far as `PATH` tells. */
function windowsProfile({ PATH: path = "" }: Variables): string | undefined {
  const profile = /(?:^|:)(\/mnt\/[a-z]\/Users\/[^/:]+)\//i.exec(path)?.[1];
  return profile && realPath(profile);
}

function withHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") ? join(home, path.slice(2)) : path;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
