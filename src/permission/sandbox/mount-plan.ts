import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isWithin, realPath } from "../../system/real-path.ts";
import { type Mount, otherPathsTo, type PlannedMount } from "./mount-table.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";

/** The own folders of an open sandbox. */
export interface SandboxFolders {
  /** Files that the wall needs inside: no command writes there. */
  readonly own: string;
  /** Temporary files of the session. */
  readonly temporary: string;
  /** Caches of tool chains. */
  readonly cache: string;
  /** An empty folder that nobody may enter, put over folders that commands may not read. */
  readonly closed: string;
}

/** The facts that the mounts of a command follow from. */
export interface MountRequest {
  readonly limits: SandboxLimits;
  readonly folders: SandboxFolders;
  /** Paths that steer and are there. */
  readonly steering: readonly string[];
  /** Git folders that must not be moved. */
  readonly pinned: readonly string[];
  readonly network: boolean;
  readonly readOnly: boolean;
  /** The mounts of the host. */
  readonly host: readonly Mount[];
}

/** Folders with the sockets of the system, which a read-only mount does not close. */
const SOCKET_FOLDERS = ["/run", "/var/run", "/mnt/wslg"];
const TEMPORARY = ["/tmp", "/var/tmp"];

/** The mounts of a command, in their order, over a root that is read-only. */
export function planMounts(request: MountRequest): readonly PlannedMount[] {
  const { limits, folders, readOnly, host } = request;
  const hidden = [...SOCKET_FOLDERS, ...TEMPORARY].filter(isFolder);
  const kept = [...limits.programs, limits.home, folders.own, ...(readOnly ? limits.workspace : [])];
  const plan: PlannedMount[] = [
    ...hidden.map((at): PlannedMount => {
      const isTemporary = TEMPORARY.includes(at) && !readOnly;
      return isTemporary ? bind(folders.temporary, at) : { kind: "tmpfs", source: "tmpfs", at };
    }),
    ...resolverFile(request),
    ...unique(kept)
      .filter((path) => existsSync(path) && isWithin(realPath(path), ...hidden))
      .map((path) => readOnlyBind(realPath(path))),
    ...(readOnly ? [] : openFolders(request)),
  ];
  const isInSight = (path: string): boolean =>
    !isWithin(path, ...hidden) ||
    plan.some(({ kind, at }) => kind !== "tmpfs" && !hidden.includes(at) && isWithin(path, at));
  const sockets = listeningSockets(limits).filter(isInSight);
  const keys = limits.unreadable.flatMap((path) => [path, ...otherPathsTo(path, host)]).filter(isInSight);
  return [
    ...plan,
    ...unique(sockets).map((at): PlannedMount => ({ kind: "ro-bind", source: "/dev/null", at })),
    ...unique(keys)
      .filter(existsSync)
      .map(
        (at): PlannedMount => ({ kind: "ro-bind", source: isFolder(at) ? folders.closed : "/dev/null", at }),
      ),
  ];
}

/** The folders commands write to, and what in them stays as it is; parents first. */
function openFolders({ limits, folders, steering, pinned }: MountRequest): readonly PlannedMount[] {
  const open = [...limits.writable, folders.temporary, folders.cache];
  const closed = [...limits.protected, limits.stateFolder, ...steering.map(realPath)];
  const modes = new Map([
    ...open.map((path) => [path, true] as const),
    ...closed.map((path) => [path, false] as const),
  ]);
  const kept = [...limits.protected, limits.stateFolder];
  const pins = new Set([...pinned, ...kept.flatMap((path) => foldersBetween(path, limits.writable))]);
  const plan: PlannedMount[] = [];
  for (const path of [...modes.keys(), ...pins].toSorted()) {
    const isOpen = modes.get(path) ?? true;
    const around = plan.findLast(({ at }) => isWithin(path, at));
    // A mount in one of the same kind adds nothing, and is one more that a swapped link could lead astray.
    if (!pins.has(path) && (around === undefined ? !isOpen : (around.kind === "bind") === isOpen)) continue;
    if (existsSync(path)) plan.push(isOpen ? bind(path) : readOnlyBind(path));
  }
  return plan;
}

/** The folders around a path in a writable one: a mount cannot be moved, but a folder around it can. */
function foldersBetween(path: string, writable: readonly string[]): readonly string[] {
  const folders: string[] = [];
  const isInside = (folder: string): boolean => isWithin(folder, ...writable) && !writable.includes(folder);
  for (let folder = dirname(path); isInside(folder); folder = dirname(folder)) folders.push(folder);
  return folders;
}

/** With a network names must resolve: the file for that often lies below `/run`. */
function resolverFile({ network }: MountRequest): readonly PlannedMount[] {
  const file = realPath("/etc/resolv.conf");
  return network && isWithin(file, ...SOCKET_FOLDERS) && existsSync(file) ? [readOnlyBind(file)] : [];
}

/** Sockets of this machine with a path, and the agent for keys. */
function listeningSockets({ environment }: SandboxLimits): readonly string[] {
  const listed = readFileSync("/proc/net/unix", "utf8").matchAll(/^\S+: (?:\S+ +){6}(\/.+)$/gm);
  const agent = environment["SSH_AUTH_SOCK"] ?? "";
  const paths = [...[...listed].map(([, path = ""]) => path), agent];
  return unique(paths)
    .filter((path) => path !== "" && isSocket(path))
    .map(realPath);
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function bind(source: string, at: string = source): PlannedMount {
  return { kind: "bind", source, at };
}

function readOnlyBind(path: string): PlannedMount {
  return { kind: "ro-bind", source: path, at: path };
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
