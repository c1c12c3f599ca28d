import { readFileSync } from "node:fs";
import { isWithin } from "../../system/real-path.ts";

/** One line of `/proc/PID/mountinfo`. */
export interface Mount {
  readonly id: string;
  /** The mount that it stands on. */
  readonly parent: string;
  readonly device: string;
  /** The folder of the file system that is mounted. */
  readonly root: string;
  readonly at: string;
  readonly isWritable: boolean;
}

/** A mount that was asked for. */
export interface PlannedMount {
  readonly kind: "bind" | "ro-bind" | "tmpfs";
  readonly source: string;
  readonly at: string;
}

/** The devices of `--dev` that are those of the host. */
const DEVICES = /^\/(?:null|zero|full|random|urandom|tty)$/;

/** The mounts that this process sees. */
export function hostMounts(): readonly Mount[] {
  return parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
}

/** Reads a mount table, see proc_pid_mountinfo(5). */
export function parseMounts(text: string): readonly Mount[] {
  return text.split("\n").flatMap((line) => {
    const [id, parent, device, root, at, options] = line.split(" ");
    if (
      id === undefined ||
      parent === undefined ||
      device === undefined ||
      root === undefined ||
      at === undefined ||
      options === undefined
    )
      return [];
    return [
      {
        id,
        parent,
        device,
        root: decode(root),
        at: decode(at),
        isWritable: options.split(",").includes("rw"),
      },
    ];
  });
}

function decode(path: string): string {
  // Bytes below 33 and the backslash; all others stand for themselves.
  return path.replace(/\\([0-7]{3})/g, (_all, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/** The mount that a path leads to: another one may lie over what is listed. */
export function mountAt(path: string, mounts: readonly Mount[]): Mount | undefined {
  const ids = new Set(mounts.map(({ id }) => id));
  let found = mounts.find(({ at, parent }) => at === "/" && !ids.has(parent));
  for (let next = found; next !== undefined; ) {
    found = next;
    next = undefined;
    for (const mount of mounts)
      if (mount.parent === found.id && mount.id !== found.id && isWithin(path, mount.at))
        if (next === undefined || mount.at.length < next.at.length) next = mount;
  }
  return found;
}

/** The place of a path in its file system. */
export function placeOf(path: string, mounts: readonly Mount[]): Pick<Mount, "device" | "root"> | undefined {
  const mount = mountAt(path, mounts);
  return mount && { device: mount.device, root: joined(mount.root, below(path, mount.at)) };
}

/** Other paths to the same file or folder, by further mounts of its file system. */
export function otherPathsTo(path: string, mounts: readonly Mount[]): readonly string[] {
  const place = placeOf(path, mounts);
  if (place === undefined) return [];
  return mounts
    .filter(({ device, root }) => device === place.device && isWithin(place.root, root))
    .map(({ root, at }) => joined(at, below(place.root, root)))
    .filter((other) => other !== path);
}

/**
 * What is wrong with the mounts of a command, or undefined. A writable one must be a new file system, a plain
 * device or the very folder that was asked for, and whatever was asked for must be where it belongs: a
 * folder that another command swaps for a link while bubblewrap mounts leads elsewhere.
 */
export function wrongMount(
  inside: readonly Mount[],
  { planned, host }: { readonly planned: readonly PlannedMount[]; readonly host: readonly Mount[] },
): string | undefined {
  const hostDevices = new Set(host.map(({ device }) => device));
  const writable = planned.filter(({ kind }) => kind === "bind");
  // Mounts of the host below a folder come along with it.
  const isAsked = ({ at, device, root }: Mount): boolean =>
    writable.some((mount) => {
      if (!isWithin(at, mount.at)) return false;
      const place = placeOf(joined(mount.source, below(at, mount.at)), host);
      return place?.device === device && place.root === root;
    });
  for (const mount of inside) {
    if (!mount.isWritable || mountAt(mount.at, inside) !== mount) continue;
    const isHarmless =
      !hostDevices.has(mount.device) || (mount.at === `/dev${mount.root}` && DEVICES.test(mount.root));
    if (!isHarmless && !isAsked(mount)) return `${mount.at} could be written to`;
  }
  const missing = planned.find(({ at, kind }) => {
    const mount = mountAt(at, inside);
    return mount?.at !== at || mount.isWritable !== (kind !== "ro-bind");
  });
  return missing && `${missing.at} is not as it was asked for`;
}

function below(path: string, folder: string): string {
  return path.slice(folder === "/" ? 0 : folder.length);
}

function joined(folder: string, rest: string): string {
  return folder === "/" ? rest || "/" : folder + rest;
}
