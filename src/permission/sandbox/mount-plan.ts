import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isWithin, realPath } from "../../system/real-path.ts";
import type { CommandToConfine, SandboxFolders, SandboxLimits, SteeringPaths } from "./sandbox-limits.ts";

/** One line of `/proc/PID/mountinfo`. */
export interface Mount {
  readonly device: string;
  /** The folder of the file system that is mounted. */
  readonly root: string;
  readonly at: string;
  readonly isWritable: boolean;
}

export interface PlannedMount {
  readonly kind: "bind" | "ro-bind" | "tmpfs";
  readonly source: string;
  readonly at: string;
}

/** Folders with the sockets of the system, which a read-only mount does not close. */
const SOCKET_FOLDERS = ["/run", "/var/run", "/mnt/wslg"];
const TEMPORARY = ["/tmp", "/var/tmp"];
/** With a network names must resolve: this often leads below `/run`. */
const RESOLVER = "/etc/resolv.conf";

/** The mounts of a command, one a place, in their order, over a root that is read-only. */
export function planMounts(
  limits: SandboxLimits,
  folders: SandboxFolders,
  { network, readOnly }: Pick<Required<CommandToConfine>, "network" | "readOnly">,
  steering: SteeringPaths,
  host: readonly Mount[],
): readonly PlannedMount[] {
  const hidden = [...SOCKET_FOLDERS, ...TEMPORARY].filter(isFolder);
  const shown = [
    ...limits.programs,
    limits.home,
    folders.own,
    ...(readOnly ? limits.workspace : []),
    ...(network ? [RESOLVER] : []),
  ].map(realPath);
  const plan: PlannedMount[] = [
    ...hidden.map((at) =>
      TEMPORARY.includes(at) && !readOnly ? mount("bind", at, folders.temporary) : mount("tmpfs", at),
    ),
    ...shown
      .filter((path) => isWithin(path, ...hidden) && existsSync(path))
      .map((at) => mount("ro-bind", at)),
    ...(readOnly ? [] : openFolders(limits, folders, steering)),
  ];
  const isInSight = (path: string): boolean =>
    !isWithin(path, ...hidden) ||
    plan.some(({ kind, at }) => kind !== "tmpfs" && !hidden.includes(at) && isWithin(path, at));
  const keys = limits.unreadable.filter(existsSync).flatMap((path) => [path, ...otherPathsTo(path, host)]);
  const closed = [...listeningSockets(limits), ...keys]
    .filter(isInSight)
    .map((at) => mount("ro-bind", at, isFolder(at) ? folders.closed : "/dev/null"));
  return [...new Map([...plan, ...closed].map((each) => [each.at, each])).values()];
}

function mount(kind: PlannedMount["kind"], at: string, source = at): PlannedMount {
  return { kind, source, at };
}

/** The folders commands write to, and what in them stays as it is; parents first. */
function openFolders(
  limits: SandboxLimits,
  folders: SandboxFolders,
  steering: SteeringPaths,
): readonly PlannedMount[] {
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
      plan.push(mount(isOpen ? "bind" : "ro-bind", path));
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
  return [...new Set(paths)].filter(isSocket).map(realPath);
}

function isSocket(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isSocket() === true;
  } catch {
    // In a folder that is closed to this user, and so to commands.
    return false;
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The devices of `--dev` that are those of the host. */
const DEVICES = /^\/(?:null|zero|full|random|urandom|tty)$/;

/** Reads a mount table, see proc_pid_mountinfo(5). */
export function parseMounts(text: string): readonly Mount[] {
  return text.split("\n").flatMap((line) => {
    const [, , device = "", root = "", at = "", options] = line.split(" ");
    if (options === undefined) return [];
    return [{ device, root: decode(root), at: decode(at), isWritable: options.startsWith("rw") }];
  });
}

/** Blanks and the backslash are written as octal numbers. */
function decode(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_all, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/** Other paths to the same file or folder, by further mounts of its file system. */
function otherPathsTo(path: string, mounts: readonly Mount[]): readonly string[] {
  const place = placeOf(path, mounts);
  return mounts
    .filter(({ device, root }) => device === place.device && isWithin(place.root, root))
    .map(({ root, at }) => joined(at, below(place.root, root)))
    .filter((other) => other !== path && existsSync(other));
}

/**
 * What is wrong with the mounts of a command. A writable one must be a new file system, a plain device or the
 * very folder that was planned: one that is swapped for a link while bubblewrap mounts leads elsewhere.
 */
export function wrongMount(
  inside: readonly Mount[],
  planned: readonly PlannedMount[],
  host: readonly Mount[],
): string | undefined {
  const hostDevices = new Set(host.map(({ device }) => device));
  const isHarmless = ({ at, device, root }: Mount): boolean =>
    !hostDevices.has(device) || (at === `/dev${root}` && DEVICES.test(root));
  // Mounts of the host below a folder come along with it.
  const isAsked = ({ at, device, root }: Mount): boolean =>
    planned.some((each) => {
      if (each.kind !== "bind" || !isWithin(at, each.at)) return false;
      const place = placeOf(joined(each.source, below(at, each.at)), host);
      return place.device === device && place.root === root;
    });
  const open = inside.find(
    (each) => each.isWritable && !isHarmless(each) && mountAt(each.at, inside) === each && !isAsked(each),
  );
  if (open !== undefined) return `${open.at} could be written to`;
  const missing = planned.find(({ at, kind }) => {
    const found = mountAt(at, inside);
    return found?.at !== at || found.isWritable !== (kind !== "ro-bind");
  });
  return missing && `${missing.at} is not as it was asked for`;
}

/** The mount that a path leads to. Of several at one place the last covers the others. */
function mountAt(path: string, mounts: readonly Mount[]): Mount | undefined {
  const around = mounts.filter(({ at }) => isWithin(path, at));
  const depth = Math.max(...around.map(({ at }) => at.length));
  return around.findLast(({ at }) => at.length === depth);
}

function placeOf(path: string, mounts: readonly Mount[]): Pick<Mount, "device" | "root"> {
  const { device, root, at } = mountAt(path, mounts) ?? { device: "", root: "/", at: "/" };
  return { device, root: joined(root, below(path, at)) };
}

function below(path: string, folder: string): string {
  return path.slice(folder === "/" ? 0 : folder.length);
}

function joined(folder: string, rest: string): string {
  return folder === "/" ? rest || "/" : folder + rest;
}
