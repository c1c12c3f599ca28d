import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { errorMessage } from "../../core/base/errors.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { linuxWall } from "./linux-wall.ts";
import { Sandbox } from "./sandbox.ts";
import {
  type CommandToConfine,
  type ConfinedStart,
  endedSessions,
  makeSessionFolders,
  removeSession,
  type SandboxLimits,
  type SandboxOptions,
  sandboxLimits,
  unfitWorkspace,
} from "./sandbox-limits.ts";
import { seatbeltWall } from "./seatbelt-wall.ts";
import { SteeringGuard } from "./steering-guard.ts";

/** A sandbox that works, or one line that says why there is none and what to do. */
export type OpenedSandbox = { readonly sandbox: Sandbox } | { readonly problem: string };

const BASH = ["/bin", "/usr/bin", "/usr/local/bin"];
const PROGRAMS: { readonly [platform: string]: readonly string[] } = {
  linux: ["bash", "bwrap", "nsenter"],
  darwin: ["bash", "sandbox-exec"],
};

/**
 * Opens a sandbox for the commands of one session and tries it with a real one: Linux with bubblewrap, macOS
 * with `sandbox-exec`. Never throws. Close what was opened with {@link Sandbox.dispose}.
 */
export async function openSandbox(options: SandboxOptions): Promise<OpenedSandbox> {
  let close = async (): Promise<void> => undefined;
  try {
    const limits = sandboxLimits(options);
    const unfit = unfitWorkspace(limits);
    if (unfit !== undefined)
      return { problem: whyNone(unfit, "start in a folder of its own below the home folder") };
    const names = PROGRAMS[process.platform];
    if (names === undefined)
      return { problem: whyNone(`there is none for ${process.platform}`, "on Windows use WSL 2") };
    const programs = names.flatMap((name) => findProgram(name, limits) ?? []);
    if (programs.length < names.length)
      return { problem: missingPrograms(names.filter((name) => findProgram(name, limits) === undefined)) };
    const [cwd = "/"] = limits.workspace;
    const folders = makeSessionFolders(limits.stateFolder, cwd);
    close = async () => removeSession(folders);
    const guard = new SteeringGuard(limits, folders);
    // What killed sessions could not look at.
    for (const ended of endedSessions(limits.stateFolder))
      if (guard.recover(ended.pending)) removeSession(ended);
    const openWall = process.platform === "darwin" ? seatbeltWall : linuxWall;
    const sandbox = new Sandbox(limits, folders, await openWall(limits, folders, programs), guard);
    close = () => sandbox.dispose();
    const problem = await trySandbox(sandbox, { cwd, outside: folders.own, env: limits.environment });
    if (problem === undefined) return { sandbox };
    throw new Error(problem);
  } catch (error) {
    await close();
    return { problem: noSandbox(errorMessage(error)) };
  }
}

/** Never one that commands could have written. Bash is the one that commands outside run in. */
function findProgram(name: string, { programs, writable }: SandboxLimits): string | undefined {
  const first = name === "bash" ? BASH.filter((folder) => programs.includes(folder)) : [];
  const isOurs = (path: string): boolean =>
    ![dirname(path), path].some((each) => isWithin(realPath(each), ...writable));
  return [...first, ...programs]
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path) && isOurs(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not for this user.
    return false;
  }
}

/** The setting by which root could have the kernel start a program, outside of every sandbox. */
const KERNEL_SETTING = "/proc/sys/kernel/core_pattern";
const PATIENCE_MS = 20_000;

/**
 * Tries a sandbox with a real command: it must run, a file in `outside` must not come into being, settings
 * of the kernel must not be writable, and a server of this process must not be reached. What is wrong, or
 * undefined.
 */
export async function trySandbox(
  sandbox: Sandbox,
  { outside, ...place }: Pick<CommandToConfine, "cwd" | "env"> & { readonly outside: string },
): Promise<string | undefined> {
  const file = join(outside, "written-from-inside");
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const command = `(: >"$OUTSIDE"; : <>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; [ -w ${KERNEL_SETTING} ] && echo writes; echo ran`;
  try {
    const env = { ...place.env, OUTSIDE: file };
    const output = await outputOf(await sandbox.wrap({ ...place, command, env }));
    if (existsSync(file)) return "it holds nothing back: a command wrote outside of the workspace";
    if (connections > 0) return "it holds nothing back: a command reached a port of this machine";
    if (output.includes("writes")) return `it holds nothing back: a command could change ${KERNEL_SETTING}`;
    return output === "ran\n" ? undefined : output.trim() || "no command runs in it";
  } finally {
    server.close();
  }
}

async function outputOf(start: ConfinedStart): Promise<string> {
  const child = spawn(start.file, [...start.args], {
    cwd: start.cwd,
    env: start.env,
    stdio: ["ignore", "pipe", "pipe", ...start.descriptors],
    detached: true,
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  const closed = once(child, "close").catch(errorMessage);
  const pipes = [child.stdout, child.stderr].flatMap((pipe) => pipe ?? []);
  const output = Promise.all(pipes.map((pipe) => text(pipe)));
  const problem = await start.begin(child).then(() => "", errorMessage);
  const said = (await output).join("") || problem;
  await closed;
  await start.settle();
  return said;
}

const APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
const hasAppArmor = (): boolean => textOf(APPARMOR) === "1";
const isFirstWsl = (): boolean => /Microsoft(?!.*WSL2)/.test(textOf("/proc/version"));

/** Words of bubblewrap, why there is no sandbox then, and what to do; for some only `when` this is so. */
const CAUSES: readonly (readonly [says: RegExp, why: string, todo: string, when?: () => boolean])[] = [
  [/uid map: Read-only file system/, "this runs in a sandbox already", "nothing is needed"],
  [
    /uid map|RTM_NEWADDR/,
    "AppArmor takes all power from user namespaces",
    "allow them for bubblewrap alone with an AppArmor profile for it (Ubuntu: the package apparmor-profiles has bwrap-userns-restrict)",
    hasAppArmor,
  ],
  [
    /RTM_NEWADDR/,
    "this kernel makes no network namespaces",
    "run it in a container of its own and choose --yolo there",
  ],
  [
    /No permissions to create new namespace|Creating new namespace failed: Operation not permitted/,
    "user namespaces are forbidden here (a container, or kernel.unprivileged_userns_clone=0)",
    "in a container choose --yolo, for it is the wall, or start it with --security-opt seccomp=unconfined; elsewhere sysctl kernel.unprivileged_userns_clone=1",
  ],
  [
    /namespaces exceeded|ENOSPC/,
    "user.max_user_namespaces allows no more",
    "sysctl user.max_user_namespaces=15000",
  ],
  [
    /mount proc/,
    "/proc is partly covered here",
    "in a container start it with --security-opt systempaths=unconfined, in a systemd unit without ProtectKernelTunables",
  ],
  [/Invalid argument/, "WSL 1 has no namespaces", "wsl --set-version NAME 2", isFirstWsl],
];

const PACKAGES: { readonly [program: string]: string } = { bwrap: "bubblewrap", nsenter: "util-linux" };

/** The one line that says so, from what bubblewrap or our own trial said. */
export function noSandbox(problem: string): string {
  const [, why, todo] = CAUSES.find(([says, , , when]) => says.test(problem) && when?.() !== false) ?? [];
  const said = problem.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
  return whyNone(why ?? said, todo ?? "nano-agent doctor tries it again");
}

export function missingPrograms(names: readonly string[]): string {
  const packages = [...new Set(names.map((name) => PACKAGES[name] ?? name))].join(" ");
  const installs = `apt-get install ${packages}, dnf install ${packages} or apk add ${packages}`;
  return whyNone(`${names.join(" and ")} not found`, installs);
}

/** `no sandbox (WHY): WHAT TO DO; commands ask`. */
export function whyNone(why: string, todo: string): string {
  return `no sandbox (${why}): ${todo}; commands ask`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not on this system.
    return "";
  }
}
