import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isWithin, realPath } from "../../system/real-path.ts";
import type { SteeringPaths } from "./confined-start.ts";
import { type Mount, otherPathsTo, type PlannedMount } from "./mount-table.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import type { SandboxFolders } from "./session-folders.ts";

/** The facts that the mounts of a command follow from, beside the limits. */
export interface MountRequest {
  readonly folders: SandboxFolders;
  readonly steering: SteeringPaths;
  readonly network: boolean;
  readonly readOnly: boolean;
  /** The mounts of the host. */
  readonly host: readonly Mount[];
}

/** Folders with the sockets of the system, which a read-only mount does not close. */
const SOCKET_FOLDERS = ["/run", "/var/run", "/mnt/wslg"];
const TEMPORARY = ["/tmp", "/var/tmp"];
/** With a network names must resolve: this often leads below `/run`. */
const RESOLVER = "/etc/resolv.conf";

/** The mounts of a command, one a place, in their order, over a root that is read-only. */
export function planMounts(limits: SandboxLimits, request: MountRequest): readonly PlannedMount[] {
  const { folders, readOnly, network, host } = request;
  const hidden = [...SOCKET_FOLDERS, ...TEMPORARY].filter(isFolder);
  const shown = [
    ...limits.programs,
    limits.home,
    folders.own,
    ...(readOnly ? limits.workspace : []),
    ...(network ? [RESOLVER] : []),
  ];
  const plan: PlannedMount[] = [
    ...hidden.map((at) =>
      TEMPORARY.includes(at) && !readOnly
        ? bind(folders.temporary, at)
        : ({ kind: "tmpfs", source: at, at } as const),
    ),
    ...shown
      .map(realPath)
      .filter((path) => existsSync(path) && isWithin(path, ...hidden))
      .map(readOnlyBind),
    ...(readOnly ? [] : openFolders(limits, request)),
  ];
  const isInSight = (path: string): boolean =>
    existsSync(path) &&
    (!isWithin(path, ...hidden) ||
      plan.some(({ kind, at }) => kind !== "tmpfs" && !hidden.includes(at) && isWithin(path, at)));
  const keys = limits.unreadable.flatMap((path) => [path, ...otherPathsTo(path, host)]);
  const closed = [...listeningSockets(limits), ...keys]
    .filter(isInSight)
    .map(
      (at): PlannedMount => ({ kind: "ro-bind", source: isFolder(at) ? folders.closed : "/dev/null", at }),
    );
  return [...new Map([...plan, ...closed].map((mount) => [mount.at, mount])).values()];
}

/** The folders commands write to, and what in them stays as it is; parents first. */
function openFolders(limits: SandboxLimits, { folders, steering }: MountRequest): readonly PlannedMount[] {
  const kept = [...limits.protected, limits.stateFolder];
  const modes = new Map([
    ...[...limits.writable, folders.temporary, folders.cache].map((path) => [path, true] as const),
    ...[...kept, ...steering.present.map(realPath)].map((path) => [path, false] as const),
  ]);
  const pins = new Set([...steering.pinned, ...kept.flatMap((path) => foldersAround(path, limits.writable))]);
  const plan: PlannedMount[] = [];
  for (const path of [...new Set([...modes.keys(), ...pins])].toSorted()) {
    const isOpen = modes.get(path) ?? true;
    const isOpenAround = plan.findLast(({ at }) => isWithin(path, at))?.kind === "bind";
    // A mount in one of the same kind adds nothing, and is one more that a swapped link could lead astray.
    if ((pins.has(path) || isOpen !== isOpenAround) && existsSync(path))
      plan.push(isOpen ? bind(path, path) : readOnlyBind(path));
  }
  return plan;
}

/** The folders around a path in those that are writable: without a mount they could be moved with it. */
export function foldersAround(path: string, writable: readonly string[]): readonly string[] {
  const folder = dirname(path);
  const isInside = isWithin(folder, ...writable) && !writable.includes(folder);
  return isInside ? [folder, ...foldersAround(folder, writable)] : [];
}

/** Sockets of this machine with a path, and the agent for keys. */
function listeningSockets({ environment }: SandboxLimits): readonly string[] {
  const listed = readFileSync("/proc/net/unix", "utf8").matchAll(/^\S+: (?:\S+ +){6}(\/.+)$/gm);
  const paths = [...[...listed].map(([, path = ""]) => path), environment["SSH_AUTH_SOCK"] ?? ""];
  return paths.filter(isSocket).map(realPath);
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    // Gone, or in a folder that is closed to this user, and so to commands.
    return false;
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function bind(source: string, at: string): PlannedMount {
  return { kind: "bind", source, at };
}

function readOnlyBind(path: string): PlannedMount {
  return { kind: "ro-bind", source: path, at: path };
}
