import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, lstatSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { systemClock } from "../../core/base/async.ts";
import type { SandboxCommand } from "../../system/command-sandbox.ts";
import type { Environment } from "../../system/env.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import {
  foldersAround,
  type SandboxFolders,
  type SandboxLimits,
  type SteeringPaths,
  type Wall,
} from "./sandbox-limits.ts";

/** Without these options root could dismantle the wall from inside. */
const ISOLATION = "--unshare-user --unshare-pid --unshare-ipc --cap-drop ALL --die-with-parent --new-session";
const ROOT = "--ro-bind / / --dev /dev --proc /proc";
/** Kernel settings still treat root outside as root. */
const FIXED_SETTINGS = ["--remount-ro", "/proc"];
const FILTER_DESCRIPTOR = "3";
const GATE_DESCRIPTOR = 4;

/**
 * Read by Bash before the command: built-ins only. It reports the mounts, waits for permission and closes all
 * other descriptors. Without permission, for instance after the agent was killed, nothing runs.
 */
const GATE_SCRIPT = `unset BASH_ENV
mapfile -d '' </proc/self/mountinfo
printf '%s\\n' "$MAPFILE" >&4
read -r REPLY <&4 && [ "$REPLY" = go ] || exit 125
for MAPFILE in /proc/self/fd/*; do
  REPLY=\${MAPFILE##*/}
  [ "$REPLY" -gt 2 ] && exec {REPLY}>&-
done
unset MAPFILE REPLY
`;

/** The Linux wall, using bubblewrap. Rejects if the system forbids it, or the architecture is unknown. */
export async function linuxWall(
  limits: SandboxLimits,
  folders: SandboxFolders,
  programs: readonly string[],
): Promise<Wall> {
  const [bash = "", bwrap = "", nsenter = ""] = programs;
  writeFileSync(join(folders.wall, "gate"), GATE_SCRIPT, { mode: 0o600 });
  for (const network of [true, false])
    writeFileSync(filterFile(folders, network), syscallFilter(process.arch, { network }), { mode: 0o600 });
  // Inside only: bubblewrap itself may be started by a script.
  const gate = ["--setenv", "BASH_ENV", join(folders.wall, "gate"), "--seccomp", FILTER_DESCRIPTOR];
  const namespaces = await openNamespaces(bwrap, bash, limits.environment);
  const start: Wall["start"] = (command, steering) => {
    const { network } = command;
    const host = parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
    const planned = planMounts(limits, folders, command, steering, host);
    const args = [
      ...(network ? [] : [...nsenterOptions(namespaces), bwrap]),
      ...`${ISOLATION} ${ROOT}`.split(" "),
      ...(process.getuid?.() === 0 ? FIXED_SETTINGS : []),
      ...planned.flatMap(({ kind, source, target }) => [
        `--${kind}`,
        ...(kind === "tmpfs" ? [] : [source]),
        target,
      ]),
      ...gate,
      ...["--chdir", command.cwd, "--", bash, "-c"].concat(command.command),
    ];
    const filter = openSync(filterFile(folders, network), "r");
    let first: string | undefined;
    let isBegun = false;
    return {
      file: network ? bwrap : nsenter,
      args,
      cwd: "/",
      descriptors: [filter, "pipe"],
      begin: async (child) => {
        isBegun = true;
        closeSync(filter);
        await passGate(child, (table) => mountProblem(parseMounts(table), planned, host));
        first = firstProcess(child);
      },
      ended: () => {
        if (!isBegun) closeSync(filter);
        return waitUntilGone(first);
      },
    };
  };
  return { start, close: () => namespaces.forEach(closeSync) };
}

function filterFile({ wall }: SandboxFolders, network: boolean): string {
  return join(wall, network ? "filter-network" : "filter");
}

/** Lets a command begin if its mounts are right. Otherwise it is killed before anything has run. */
async function passGate(child: ChildProcess, wrong: (table: string) => string | undefined): Promise<void> {
  const gate = child.stdio[GATE_DESCRIPTOR];
  if (!(gate instanceof Socket)) throw new Error("the process was started without its gate");
  let table = "";
  try {
    for await (const piece of gate.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      table += String(piece);
      if (table.endsWith("\n\n")) break;
    }
  } catch {
    // It has ended: the table is incomplete.
  }
  const problem = table.endsWith("\n\n") ? wrong(table) : "it ended before the command began";
  if (problem === undefined) {
    gate
      .on("error", () => undefined)
      .end("go\n")
      .unref();
    return;
  }
  gate.destroy();
  child.kill("SIGKILL");
  throw new Error(problem);
}

/** Its outer id. All other processes of a command end with it; empty once it is over. */
function firstProcess({ pid }: ChildProcess): string | undefined {
  return kernelText(`/proc/${pid}/task/${pid}/children`).split(" ")[0];
}

/** When it is gone, so are the processes it started, as it waits for them. */
async function waitUntilGone(pid: string | undefined): Promise<void> {
  // A zombie has ended, even if no parent reaps it.
  const isAlive = (): boolean => pid !== undefined && /\) [^ZX]/.test(kernelText(`/proc/${pid}/stat`));
  while (isAlive()) await systemClock.sleep(1);
}

export function kernelText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

type Namespaces = readonly [user: number, network: number];

/** A network namespace without a network, alive as long as its descriptors. Rejects with bwrap's error. */
async function openNamespaces(bwrap: string, bash: string, env: Environment): Promise<Namespaces> {
  const args = ["--unshare-user", "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/", "--"];
  const child = spawn(bwrap, [...args, bash, "--norc", "-c", "echo $$; read -r _"], { env, cwd: "/" });
  const errors = text(child.stderr);
  child.stdin.on("error", () => undefined);
  await once(child, "spawn");
  for await (const pid of child.stdout) {
    const folder = `/proc/${String(pid).trim()}/ns`;
    const namespaces = [openSync(`${folder}/user`, "r"), openSync(`${folder}/net`, "r")] as const;
    child.stdin.end();
    return namespaces;
  }
  throw new Error((await errors).trim() || "it ended without a word");
}

/** The options of `nsenter`. Paths lead to our descriptors, so the command inherits none. */
function nsenterOptions([user, network]: Namespaces): readonly string[] {
  const own = `/proc/${process.pid}/fd`;
  return [`--user=${own}/${user}`, `--net=${own}/${network}`, "--preserve-credentials", "--"];
}

/** A line of a mount table, see proc_pid_mountinfo(5). */
interface Mount {
  readonly device: string;
  readonly root: string;
  readonly target: string;
  readonly isWritable: boolean;
}

interface PlannedMount {
  readonly kind: "bind" | "ro-bind" | "tmpfs";
  readonly source: string;
  readonly target: string;
}

/** Folders with system sockets, which a read-only mount does not close. */
const SOCKET_FOLDERS = ["/run", "/var/run", "/mnt/wslg"];
const TEMPORARY = ["/tmp", "/var/tmp"];
/** With a network, names must resolve: this often leads below `/run`. */
const RESOLVER = "/etc/resolv.conf";

/** The mounts of a command, one per path, in order, over a read-only root. */
function planMounts(
  limits: SandboxLimits,
  folders: SandboxFolders,
  { network, readOnly }: Pick<Required<SandboxCommand>, "network" | "readOnly">,
  steering: SteeringPaths,
  host: readonly Mount[],
): readonly PlannedMount[] {
  const hidden = [...SOCKET_FOLDERS, ...TEMPORARY].filter(isFolder);
  const visiblePaths = [
    ...limits.programs,
    limits.home,
    folders.wall,
    ...(readOnly ? limits.workspace : []),
    ...(network ? [RESOLVER] : []),
  ].map(realPath);
  const plan: PlannedMount[] = [
    ...hidden.map((target) =>
      TEMPORARY.includes(target) && !readOnly
        ? mount("bind", target, folders.temporary)
        : mount("tmpfs", target),
    ),
    ...visiblePaths
      .filter((path) => isWithin(path, ...hidden) && existsSync(path))
      .map((target) => mount("ro-bind", target)),
    ...(readOnly ? [] : writableMounts(limits, folders, steering)),
  ];
  const isInSight = (path: string): boolean =>
    !isWithin(path, ...hidden) ||
    plan.some(({ kind, target }) => kind !== "tmpfs" && !hidden.includes(target) && isWithin(path, target));
  const keys = limits.unreadable.filter(existsSync).flatMap((path) => [path, ...otherPathsTo(path, host)]);
  const closed = [...listeningSockets(limits), ...keys]
    .filter(isInSight)
    .map((target) => mount("ro-bind", target, isFolder(target) ? folders.closed : "/dev/null"));
  return [...new Map([...plan, ...closed].map((each) => [each.target, each])).values()];
}

function mount(kind: PlannedMount["kind"], target: string, source = target): PlannedMount {
  return { kind, source, target };
}

/** The folders commands write to, and their unchanging contents; parents first. */
function writableMounts(
  limits: SandboxLimits,
  folders: SandboxFolders,
  steering: SteeringPaths,
): readonly PlannedMount[] {
  const readOnlyPaths = [...limits.protected, limits.stateFolder];
  const modes = new Map([
    ...[...limits.writable, folders.temporary, folders.cache].map((path) => [path, true] as const),
    ...[...readOnlyPaths, ...steering.present.map(realPath)].map((path) => [path, false] as const),
  ]);
  const pins = new Set([
    ...steering.pinned,
    ...readOnlyPaths.flatMap((path) => foldersAround(path, limits.writable)),
  ]);
  const plan: PlannedMount[] = [];
  for (const path of [...new Set([...modes.keys(), ...pins])].toSorted()) {
    const isOpen = modes.get(path) ?? true;
    const isOpenAround = plan.findLast(({ target }) => isWithin(path, target))?.kind === "bind";
    // A mount inside one of the same kind adds nothing but another target for a swapped link.
    if ((pins.has(path) || isOpen !== isOpenAround) && existsSync(path))
      plan.push(mount(isOpen ? "bind" : "ro-bind", path));
  }
  return plan;
}

/** Sockets of this machine with a path, and the SSH agent. */
function listeningSockets({ environment }: SandboxLimits): readonly string[] {
  const listed = readFileSync("/proc/net/unix", "utf8").matchAll(/^\S+: (?:\S+ +){6}(\/.+)$/gm);
  const paths = [...[...listed].map(([, path = ""]) => path), environment["SSH_AUTH_SOCK"] ?? ""];
  return [...new Set(paths)].filter(isSocket).map(realPath);
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

const DEVICES = /^\/(?:null|zero|full|random|urandom|tty)$/;

function parseMounts(text: string): readonly Mount[] {
  return text.split("\n").flatMap((line) => {
    const [, , device = "", root = "", target = "", options] = line.split(" ");
    if (options === undefined) return [];
    return [
      { device, root: decodeOctal(root), target: decodeOctal(target), isWritable: options.startsWith("rw") },
    ];
  });
}

function decodeOctal(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_all, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function otherPathsTo(path: string, mounts: readonly Mount[]): readonly string[] {
  const place = locationOf(path, mounts);
  return mounts
    .filter(({ device, root }) => device === place.device && isWithin(place.root, root))
    .map(({ root, target }) => joinPaths(target, relativeTo(place.root, root)))
    .filter((other) => other !== path && existsSync(other));
}

/**
 * A problem in the mounts of a command. A writable one must be a new file system, a plain device or exactly
 * the planned folder: one swapped for a link while bubblewrap mounts leads elsewhere.
 */
function mountProblem(
  inside: readonly Mount[],
  planned: readonly PlannedMount[],
  host: readonly Mount[],
): string | undefined {
  const hostDevices = new Set(host.map(({ device }) => device));
  const isHarmless = ({ target, device, root }: Mount): boolean =>
    !hostDevices.has(device) || (target === `/dev${root}` && DEVICES.test(root));
  // The host's mounts below a folder come along with it.
  const isAsked = ({ target, device, root }: Mount): boolean =>
    planned.some((each) => {
      if (each.kind !== "bind" || !isWithin(target, each.target)) return false;
      const place = locationOf(joinPaths(each.source, relativeTo(target, each.target)), host);
      return place.device === device && place.root === root;
    });
  const open = inside.find(
    (each) => each.isWritable && !isHarmless(each) && mountAt(each.target, inside) === each && !isAsked(each),
  );
  if (open !== undefined) return `${open.target} could be written to`;
  const missing = planned.find(({ target, kind }) => {
    const found = mountAt(target, inside);
    return found?.target !== target || found.isWritable !== (kind !== "ro-bind");
  });
  return missing && `${missing.target} is not as requested`;
}

/** The mount that a path leads to. Of several at one path, the last covers the others. */
function mountAt(path: string, mounts: readonly Mount[]): Mount | undefined {
  const around = mounts.filter(({ target }) => isWithin(path, target));
  const depth = Math.max(...around.map(({ target }) => target.length));
  return around.findLast(({ target }) => target.length === depth);
}

function locationOf(path: string, mounts: readonly Mount[]): Pick<Mount, "device" | "root"> {
  const { device, root, target } = mountAt(path, mounts) ?? { device: "", root: "/", target: "/" };
  return { device, root: joinPaths(root, relativeTo(path, target)) };
}

function relativeTo(path: string, folder: string): string {
  return path.slice(folder === "/" ? 0 : folder.length);
}

function joinPaths(folder: string, rest: string): string {
  return folder === "/" ? rest || "/" : folder + rest;
}

/** The system calls of an architecture: its audit number, `socket`, `socketpair`, and the first for keys. */
const ARCHITECTURES: { readonly [arch: string]: readonly [number, number, number, number] } = {
  x64: [0xc000003e, 41, 53, 248],
  arm64: [0xc00000b7, 198, 199, 217],
};

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16] as const;
const SOCK_DGRAM = 2;
/** Another name for datagrams on UNIX sockets. */
const SOCK_RAW = 3;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97] as const;
/** `io_uring_setup`, `io_uring_enter` and `io_uring_register`: they make sockets without `socket()`. */
const [FIRST_URING, LAST_URING] = [425, 427] as const;
/** Calls of the x32 architecture have this bit. */
const [FIRST_X32, LAST_X32] = [0x40000000, 0xfffffffe] as const;

/** Offsets in the data the kernel passes to the filter. */
const [NUMBER, ARCH, FIRST_ARGUMENT, SECOND_ARGUMENT] = [0, 4, 16, 24] as const;

type Instruction = readonly [code: number, value: number, ifTrue: number, ifFalse: number];
const load = (offset: number): Instruction => [0x20, offset, 0, 0];
const and = (value: number): Instruction => [0x54, value, 0, 0];
const ifEqual = (value: number, yes: number, no: number): Instruction => [0x15, value, yes, no];
const ifAtLeast = (value: number, yes: number, no: number): Instruction => [0x35, value, yes, no];
const ALLOW: Instruction = [0x06, 0x7fff0000, 0, 0];
const KILL: Instruction = [0x06, 0x80000000, 0, 0];
const refuse = (errno: number): Instruction => [0x06, 0x00050000 | errno, 0, 0];

/**
 * The seccomp program for bubblewrap, as bytes; throws for an unknown architecture. Allowed sockets are
 * Internet, netlink and, without the host's network, UNIX: other families reach the host of a virtual
 * machine. With the host's network UNIX sockets are refused too, since it includes abstract ones.
 */
function syscallFilter(arch: string, { network }: { readonly network: boolean }): Uint8Array {
  const calls = ARCHITECTURES[arch];
  if (calls === undefined) throw new Error(`no filter for system calls of ${arch}`);
  const [audit, socket, socketPair, firstKeyCall] = calls;
  const families = [...(network ? [] : [AF_UNIX]), AF_INET, AF_INET6, AF_NETLINK];
  const program = [
    load(ARCH),
    ifEqual(audit, 1, 0),
    KILL,
    load(NUMBER),
    ...refuseCalls(FIRST_X32, LAST_X32, ENOSYS),
    ...refuseCalls(FIRST_URING, LAST_URING, ENOSYS),
    // `add_key`, `request_key` and `keyctl` are numbered consecutively.
    ...refuseCalls(firstKeyCall, firstKeyCall + 2, EPERM),
    // One end of a datagram pair can send to any name.
    ...(network ? [ifEqual(socketPair, 0, 6), load(SECOND_ARGUMENT), and(0xf)] : []),
    ...(network ? [ifEqual(SOCK_DGRAM, 0, 1), refuse(EAFNOSUPPORT)] : []),
    ...(network ? [ifEqual(SOCK_RAW, 0, 1), refuse(EAFNOSUPPORT), load(NUMBER)] : []),
    ifEqual(socket, 0, families.length + 2),
    load(FIRST_ARGUMENT),
    ...families.map((family, index) => ifEqual(family, families.length - index, 0)),
    refuse(EAFNOSUPPORT),
    ALLOW,
  ];
  const view = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, value, ifTrue, ifFalse], index) => {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, ifTrue);
    view.setUint8(index * 8 + 3, ifFalse);
    view.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(view.buffer);
}

function refuseCalls(first: number, last: number, errno: number): readonly Instruction[] {
  return [ifAtLeast(first, 0, 2), ifAtLeast(last + 1, 1, 0), refuse(errno)];
}
