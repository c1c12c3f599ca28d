import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { SandboxCommand, SandboxedCommand } from "../../system/command-sandbox.ts";
import type { Environment } from "../../system/env.ts";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { ownIdentity, type ProcessIdentity, processState } from "../../system/process-identity.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { readGitPointer, readSmallText } from "../git-settings.ts";

/** Options of a sandbox. Paths may begin with `~/`; relative ones start at the first workspace folder. */
export interface SandboxOptions {
  /** Folders that commands may write to, the working folder first. */
  readonly workspace: readonly string[];
  /** Default: the user's home folder. */
  readonly home?: string;
  /**
   * Folder for temporary files, tool chain caches and what was put back. Default: `~/.cache/nano-agent`, on
   * macOS `~/Library/Caches/nano-agent`.
   */
  readonly stateFolder?: string;
  /** Variables that locate programs and agents. Default: a plain `PATH`. */
  readonly environment?: Environment;
  /** Further folders and files that commands may write to. */
  readonly allowWrite?: readonly string[];
  /** Further folders and files that commands may not read. */
  readonly denyRead?: readonly string[];
  /** Folders and files that commands may never write to, wherever they are. */
  readonly protect?: readonly string[];
  /** macOS: commands reach ports of this machine, and open some. Default false. */
  readonly loopback?: boolean;
}

/** A system's means of confining commands: bubblewrap, or `sandbox-exec`. */
export interface Wall {
  readonly start: (command: Required<SandboxCommand>, steering: SteeringPaths) => WalledStart;
  readonly close: () => void;
}

interface WalledStart extends Omit<SandboxedCommand, "env" | "settle" | "notes"> {
  /** Waits until all its processes are gone. Never rejects, even if the command could not be started. */
  readonly ended: () => Promise<void>;
}

export interface SteeringPaths {
  readonly present: readonly string[];
  /** Git folders that must not be moved. */
  readonly pinned: readonly string[];
}

/** The reach of commands; all paths with links resolved. */
export interface SandboxLimits {
  readonly workspace: readonly string[];
  readonly home: string;
  readonly stateFolder: string;
  /** The workspace, `allowWrite` and `gitFolders`. */
  readonly writable: readonly string[];
  readonly protected: readonly string[];
  readonly unreadable: readonly string[];
  readonly gitFolders: readonly string[];
  readonly programs: readonly string[];
  readonly environment: Environment;
  readonly loopback: boolean;
}

const PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
const KEYS =
  ".ssh .aws .gnupg .kube .docker .config/gh .config/gcloud .netrc .Xauthority Library/Keychains".split(" ");
const KEYS_OF_ROOT = ["shadow", "shadow-", "gshadow", "gshadow-"];

/** A key that does not exist limits nothing until it does. */
export function sandboxLimits(options: SandboxOptions): SandboxLimits {
  const home = realPath(options.home ?? homedir());
  const workspace = options.workspace.map((folder) => realPath(resolve(folder)));
  const absolute = (path: string): string => {
    const named = /^~(?:$|\/)/.test(path) ? join(home, path.slice(1)) : path;
    return realPath(resolve(workspace[0] ?? home, named));
  };
  const environment = options.environment ?? { PATH };
  const caches = process.platform === "darwin" ? "Library/Caches" : ".cache";
  const outer = workspace.flatMap((folder) => outerGitOf(folder, home) ?? []);
  const gitFolders = outer.map(({ folder }) => folder);
  const ofHost = [
    ...KEYS_OF_ROOT,
    ...namesIn("/etc/ssh").flatMap((name) => (name.endsWith("_key") ? [`ssh/${name}`] : [])),
  ];
  const keys = [
    ...KEYS.map((name) => join(home, name)),
    ...(process.getuid?.() === 0 ? ofHost.map((name) => join("/etc", name)) : []),
  ];
  return {
    workspace,
    home,
    stateFolder: absolute(options.stateFolder ?? join(home, caches, "nano-agent")),
    writable: [...new Set([...workspace, ...(options.allowWrite ?? []).map(absolute), ...gitFolders])],
    protected: [...(options.protect ?? []).map(absolute), ...outer.flatMap(({ closed }) => closed)],
    unreadable: [...keys, ...(options.denyRead ?? [])].map(absolute),
    gitFolders,
    programs: (environment["PATH"] ?? PATH).split(":").filter((folder) => isAbsolute(folder)),
    environment,
    loopback: options.loopback ?? false,
  };
}

export function workspaceProblem({ workspace, home, unreadable }: SandboxLimits): string | undefined {
  if (workspace.length === 0) return "no workspace folder was given";
  const why = (folder: string): string | undefined => {
    if (isWithin(home, folder)) return "holds the home folder";
    if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return "is not a folder";
    return isWithin(folder, ...unreadable) ? "lies in a folder that commands may not read" : undefined;
  };
  const unfitFolder = workspace.find((folder) => why(folder) !== undefined);
  return unfitFolder && `the workspace ${unfitFolder} ${why(unfitFolder)}`;
}

/** The writable folders around a path: without a mount, commands could move them along with it. */
export function foldersAround(path: string, writable: readonly string[]): readonly string[] {
  const folder = dirname(path);
  const isInside = isWithin(folder, ...writable) && !writable.includes(folder);
  return isInside ? [folder, ...foldersAround(folder, writable)] : [];
}

export function namesIn(folder: string): readonly string[] {
  try {
    // An error would cost more than this check.
    return fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  } catch {
    return [];
  }
}

type OuterGit = { readonly folder: string; readonly closed: readonly string[] };

/** The git folder that a workspace needs outside itself; not one of other users or that is world-writable. */
function outerGitOf(workspace: string, home: string): OuterGit | undefined {
  for (let folder = workspace; folder !== home && folder !== dirname(folder); folder = dirname(folder)) {
    const marker = join(folder, ".git");
    const found = fs.lstatSync(marker, { throwIfNoEntry: false });
    if (found === undefined) continue;
    if (found.isFile()) return linkedGit(marker);
    const isShared = (fs.statSync(folder).mode & 0o002) !== 0;
    const isOwn = found.isDirectory() && found.uid === process.getuid?.() && !isShared;
    return folder !== workspace && isOwn ? { folder: marker, closed: [] } : undefined;
  }
  return undefined;
}

/** The repository must know the worktree in turn: anybody could write a `.git` file. */
function linkedGit(marker: string): OuterGit | undefined {
  const own = realPath(readGitPointer(marker)?.own ?? "/");
  const worktrees = dirname(own);
  const knows = readSmallText(join(own, "gitdir"))?.trim() ?? "";
  if (!worktrees.endsWith("/.git/worktrees") || realPath(knows) !== marker) return undefined;
  const others = namesIn(worktrees).map((name) => join(worktrees, name));
  return { folder: dirname(worktrees), closed: others.filter((other) => other !== own) };
}

export interface SandboxFolders {
  readonly session: string;
  /** Files that the wall needs inside: no command writes there. */
  readonly wall: string;
  readonly temporary: string;
  readonly cache: string;
  /** Empty and closed to everybody: mounted over folders that commands may not read. */
  readonly closed: string;
  /** The file with the checks a killed session has left. */
  readonly pending: string;
}

const OWNER = "owner.json";

export function makeSessionFolders(state: string, workspace: string): SandboxFolders {
  const name = createHash("sha256").update(workspace).digest("hex").slice(0, 16);
  const [sessions, cache] = [join(state, "s"), join(state, "caches", name)];
  for (const folder of [sessions, cache]) makePrivateFolders(folder);
  // Short, since socket names have at most 107 bytes.
  const folders = foldersOf(realPath(fs.mkdtempSync(join(sessions, "x"))), realPath(cache));
  fs.writeFileSync(join(folders.session, OWNER), JSON.stringify(ownIdentity()), { mode: 0o600 });
  for (const folder of [folders.temporary, folders.wall]) fs.mkdirSync(folder, { mode: 0o700 });
  fs.mkdirSync(folders.closed, { mode: 0o000 });
  return folders;
}

export function endedSessions(state: string): readonly SandboxFolders[] {
  const sessions = join(state, "s");
  return namesIn(sessions)
    .map((name) => foldersOf(join(sessions, name), ""))
    .filter(({ session }) => {
      const owner = readSmallText(join(session, OWNER));
      // Without an owner it is just being created or removed.
      return owner !== undefined && processState(JSON.parse(owner) as ProcessIdentity) === "ended";
    });
}

/** Removes all but the cache. Never throws: folders a command has closed are left to the next session. */
export function removeSession({ session, closed }: SandboxFolders): void {
  try {
    // It must be enterable to see that it is empty.
    fs.chmodSync(closed, 0o700);
    fs.rmSync(session, { recursive: true, force: true });
  } catch {
    // A folder that this user may not change.
  }
}

function foldersOf(session: string, cache: string): SandboxFolders {
  const wall = join(session, "own");
  const [temporary, closed] = [join(session, "tmp"), join(wall, "closed")];
  return { session, wall, temporary, cache, closed, pending: join(session, "pending.json") };
}
