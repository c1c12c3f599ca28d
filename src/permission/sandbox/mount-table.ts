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

/** A mount that is asked for. */
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
    const [id = "", parent = "", device = "", root = "", at = "", options] = line.split(" ");
    if (options === undefined) return [];
    const isWritable = options.startsWith("rw");
    return [{ id, parent, device, root: decode(root), at: decode(at), isWritable }];
  });
}

/** Blanks and the backslash are written as octal numbers. */
function decode(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_all, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/** Other paths to the same file or folder, by further mounts of its file system. */
export function otherPathsTo(path: string, mounts: readonly Mount[]): readonly string[] {
  const place = placeOf(path, mounts);
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
  const isHarmless = ({ at, device, root }: Mount): boolean =>
    !hostDevices.has(device) || (at === `/dev${root}` && DEVICES.test(root));
  // Mounts of the host below a folder come along with it.
  const isAsked = ({ at, device, root }: Mount): boolean =>
    planned.some((mount) => {
      if (mount.kind !== "bind" || !isWithin(at, mount.at)) return false;
      const place = placeOf(joined(mount.source, below(at, mount.at)), host);
      return place.device === device && place.root === root;
    });
  const open = inside.find(
    (mount) =>
      mount.isWritable && mountAt(mount.at, inside) === mount && !isHarmless(mount) && !isAsked(mount),
  );
  if (open !== undefined) return `${open.at} could be written to`;
  const missing = planned.find(({ at, kind }) => {
    const mount = mountAt(at, inside);
    return mount?.at !== at || mount.isWritable !== (kind !== "ro-bind");
  });
  return missing && `${missing.at} is not as it was asked for`;
}

/** The mount that a path leads to: another one may lie over what is listed. */
function mountAt(path: string, mounts: readonly Mount[]): Mount | undefined {
  const ids = new Set(mounts.map(({ id }) => id));
  let found = mounts.find(({ at, parent }) => at === "/" && !ids.has(parent));
  for (let next = found; next !== undefined; ) {
    const { id } = next;
    found = next;
    next = mounts
      .filter((mount) => mount.parent === id && mount.id !== id && isWithin(path, mount.at))
      .reduce<Mount | undefined>(
        (top, mount) => (top && top.at.length <= mount.at.length ? top : mount),
        undefined,
      );
  }
  return found;
}

/** The place of a path in its file system. */
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
