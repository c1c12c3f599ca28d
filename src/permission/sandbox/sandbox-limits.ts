import { lstatSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isWithin, realPath } from "../../system/real-path.ts";
import { gitSteering, type Placeholder } from "./git-steering.ts";
import type { PathEntry, SandboxRuntimeConfig } from "./sandbox-runtime.ts";

/** The user's settings of the sandbox, and where it stands. */
export interface SandboxPlace {
  /** Folders commands may write to. */
  readonly workspace: readonly string[];
  /** The system's temporary folder: commands may write there too. */
  readonly temporary: string;
  readonly home: string;
  /** Further folders and files that nobody inside may write to: the user's configuration and state. */
  readonly protect?: readonly string[];
  readonly allowDomains?: readonly string[];
  /** Relative to the first folder of the workspace, `~/` is home. */
  readonly allowWrite?: readonly string[];
  readonly denyRead?: readonly string[];
  /** Folders of the workspace with repositories of their own. */
  readonly repositories?: readonly string[];
}

/** The limits of commands, as paths on disk. */
export interface SandboxLimits {
  readonly writable: readonly string[];
  /** Where temporary files go. */
  readonly temporary: string;
  /** Stay as they are although they lie in a writable folder. */
  readonly protected: readonly string[];
  /** Those of them that have to be made first, for as long as a command runs. */
  readonly placeholders: readonly Placeholder[];
  readonly unreadable: readonly string[];
  /** Folders that are there, which the runtime lets every command write to and nobody has allowed. */
  readonly unasked: readonly string[];
  readonly domains: readonly string[];
}

/** Folders that the runtime opens of itself: they would lead from one workspace to another. */
const UNASKED = ["/tmp/claude", "/private/tmp/claude", "~/.npm/_logs", "~/.claude/debug"];

/** Files of a workspace that steer us or an editor. */
const STEERING = [
  ".nano-agent",
  "nano-agent.json",
  ".mcp.json",
  ".gitmodules",
  ".vscode",
  ".idea",
  join(".claude", "commands"),
  join(".claude", "agents"),
];

/**
 * Finds the limits of commands as things stand on disk now. Throws where something that steers is a link in a
 * folder commands may write to: no guard can be put on it.
 */
export function sandboxLimits(place: SandboxPlace): SandboxLimits {
  const base = place.workspace[0] ?? place.home;
  const absolute = (path: string): string => realPath(resolve(base, withHome(path, place.home)));
  const writable = [...place.workspace, place.temporary, ...(place.allowWrite ?? [])].map(absolute);
  const steering = place.workspace.flatMap((folder) => steeringFiles(absolute(folder)));
  const git = [...place.workspace, ...(place.repositories ?? [])].map((folder) =>
    gitSteering(absolute(folder)),
  );
  const placeholders = git
    .flatMap(({ missing }) => missing)
    .map((each) => ({ ...each, path: realPath(each.path) }))
    .filter(({ path }) => isWithin(path, ...writable));
  const kept = [...steering, ...git.flatMap(({ guarded }) => guarded)];
  const link = kept.find((path) => isWithin(dirname(path), ...writable) && lstatSync(path).isSymbolicLink());
  if (link !== undefined)
    throw new Error(`${link} is a link, which cannot be guarded. Put the file itself there, or move it away`);
  const guarded = [
    ...kept.map(realPath),
    ...placeholders.map(({ path }) => path),
    ...(place.protect ?? []).map(absolute),
  ];
  return {
    writable: unique(writable),
    temporary: absolute(place.temporary),
    protected: unique(guarded.filter((path) => isWithin(path, ...writable))),
    placeholders,
    unreadable: unique((place.denyRead ?? []).map(absolute)),
    unasked: UNASKED.map(absolute).filter((path) => isThere(path) && !isWithin(path, ...writable)),
    domains: unique(place.allowDomains ?? []),
  };
}

/** The limits in the words of the runtime. */
export function runtimeConfig(limits: SandboxLimits): SandboxRuntimeConfig {
  return {
    network: { allowedDomains: [...limits.domains], deniedDomains: [] },
    filesystem: {
      denyRead: limits.unreadable.map(literal),
      allowWrite: limits.writable.map(literal),
      denyWrite: [...limits.protected, ...limits.unasked].map(literal),
    },
  };
}

/**
 * The steering files that are there. One that is not there would have to be guarded by something in its
 * place, which `git add` and others stumble over.
 */
function steeringFiles(folder: string): readonly string[] {
  return STEERING.map((name) => join(folder, name)).filter(isThere);
}

/** Links count, wherever they lead. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function withHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") && isAbsolute(home) ? join(home, path.slice(2)) : path;
}

function literal(path: string): PathEntry {
  return { path, literal: true };
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
