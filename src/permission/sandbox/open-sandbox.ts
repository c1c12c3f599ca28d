import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { errorMessage } from "../../core/base/errors.ts";
import type { SandboxCommand, SandboxedCommand } from "../../system/command-sandbox.ts";
import type { Environment } from "../../system/env.ts";
import { findProgram } from "../../system/find-program.ts";
import { sendSignal } from "../../system/process-identity.ts";
import { isWithin } from "../../system/real-path.ts";
import { kernelText, linuxWall } from "./linux-wall.ts";
import {
  endedSessions,
  makeSessionFolders,
  removeSession,
  type SandboxFolders,
  type SandboxLimits,
  type SandboxOptions,
  sandboxLimits,
  type Wall,
  workspaceProblem,
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
 * Opens a sandbox for the commands of one session and tests it with a real one: Linux with bubblewrap, macOS
 * with `sandbox-exec`. Never throws. Close an opened one with {@link Sandbox.dispose}.
 */
export async function openSandbox(options: SandboxOptions): Promise<OpenedSandbox> {
  let close = async (): Promise<void> => undefined;
  try {
    const limits = sandboxLimits(options);
    const unfit = workspaceProblem(limits);
    if (unfit !== undefined)
      return { problem: unavailableText(unfit, "start in a subfolder of the home folder") };
    const names = PROGRAMS[process.platform];
    if (names === undefined)
      return { problem: unavailableText(`there is none for ${process.platform}`, "on Windows use WSL 2") };
    const programs = names.flatMap((name) => programFor(name, limits) ?? []);
    if (programs.length < names.length)
      return {
        problem: explainMissingPrograms(names.filter((name) => programFor(name, limits) === undefined)),
      };
    const [cwd = "/"] = limits.workspace;
    const folders = makeSessionFolders(limits.stateFolder, cwd);
    close = async () => removeSession(folders);
    const guard = new SteeringGuard(limits, folders);
    // Checks that killed sessions could not make.
    for (const ended of endedSessions(limits.stateFolder))
      if (guard.recover(ended.pending)) removeSession(ended);
    const openWall = process.platform === "darwin" ? seatbeltWall : linuxWall;
    const sandbox = new Sandbox(limits, folders, await openWall(limits, folders, programs), guard);
    close = () => sandbox.dispose();
    const problem = await trySandbox(sandbox, cwd, folders.wall, limits.environment);
    if (problem === undefined) return { sandbox };
    throw new Error(problem);
  } catch (error) {
    await close();
    return { problem: explainProblem(errorMessage(error)) };
  }
}

/** Never one that commands could have written. Bash is the one that runs unconfined commands. */
function programFor(name: string, { programs, writable }: SandboxLimits): string | undefined {
  const first = name === "bash" ? BASH.filter((folder) => programs.includes(folder)) : [];
  return findProgram(name, { path: [...first, ...programs].join(delimiter), avoid: writable });
}

/** The setting with which root could make the kernel start a program outside every sandbox. */
const KERNEL_SETTING = "/proc/sys/kernel/core_pattern";
const TRIAL_TIMEOUT_MS = 20_000;

async function trySandbox(
  sandbox: Sandbox,
  cwd: string,
  outside: string,
  environment: Environment,
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
    const env = { ...environment, OUTSIDE: file };
    const output = await outputOf(await sandbox.wrap({ cwd, command, env }));
    if (existsSync(file)) return "it holds nothing back: a command wrote outside of the workspace";
    if (connections > 0) return "it holds nothing back: a command reached a port of this machine";
    if (output.includes("writes")) return `it holds nothing back: a command could change ${KERNEL_SETTING}`;
    return output === "ran\n" ? undefined : output.trim() || "no command runs in it";
  } finally {
    server.close();
  }
}

async function outputOf(start: SandboxedCommand): Promise<string> {
  const child = spawn(start.file, [...start.args], {
    cwd: start.cwd,
    env: start.env,
    stdio: ["ignore", "pipe", "pipe", ...start.descriptors],
    detached: true,
    timeout: TRIAL_TIMEOUT_MS,
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
const hasAppArmor = (): boolean => kernelText(APPARMOR).trim() === "1";
const isFirstWsl = (): boolean => /Microsoft(?!.*WSL2)/.test(kernelText("/proc/version"));

/** By bubblewrap's message: why there is no sandbox, and what to do; some only if `when` returns true. */
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
    "run it in its own container and choose --yolo there",
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

export function explainProblem(problem: string): string {
  const [, why, todo] = CAUSES.find(([says, , , when]) => says.test(problem) && when?.() !== false) ?? [];
  const said = problem.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
  return unavailableText(why ?? said, todo ?? "nano-agent doctor tries it again");
}

export function explainMissingPrograms(names: readonly string[]): string {
  const packages = [...new Set(names.map((name) => PACKAGES[name] ?? name))].join(" ");
  const installs = `apt-get install ${packages}, dnf install ${packages} or apk add ${packages}`;
  return unavailableText(`${names.join(" and ")} not found`, installs);
}

export function unavailableText(why: string, todo: string): string {
  return `no sandbox (${why}): ${todo}; commands ask`;
}

/** Confines the commands of one session. */
export class Sandbox {
  readonly #limits: SandboxLimits;
  readonly #folders: SandboxFolders;
  readonly #wall: Wall;
  readonly #guard: SteeringGuard;
  #isDisposed = false;

  /** Created by `openSandbox`, which tests it. */
  constructor(limits: SandboxLimits, folders: SandboxFolders, wall: Wall, guard: SteeringGuard) {
    this.#limits = limits;
    this.#folders = folders;
    this.#wall = wall;
    this.#guard = guard;
  }

  /** The session's folder for temporary files: `TMPDIR` of commands and, on Linux, their `/tmp`. */
  get temporary(): string {
    return this.#folders.temporary;
  }

  /** The limits in one line, for people. */
  describe(): string {
    const { writable, unreadable } = this.#limits;
    const keys = unreadable.filter(existsSync).join(", ");
    const closed = keys === "" ? "" : `, without reading ${keys}`;
    return `commands write below ${writable.join(", ")} and to temporary files, without a network${closed}`;
  }

  /** Prepares the start of a command inside. Rejects if that is impossible: then do not start it. */
  async wrap({ network = false, readOnly = false, ...command }: SandboxCommand): Promise<SandboxedCommand> {
    if (this.#isDisposed) throw new Error("the sandbox is closed");
    const guard = this.#guard;
    let child: ChildProcess | undefined;
    const end = (): void => killGroup(child);
    if (!readOnly) await guard.begin(end);
    try {
      const steering = readOnly ? { present: [], pinned: [] } : guard.paths();
      const toConfine = { ...command, network, readOnly };
      const walled = this.#wall.start(toConfine, steering);
      // A command that changes nothing loses all its temporary files when it ends.
      const isPassing = readOnly && process.platform === "linux";
      const places = isPassing ? { temporary: "/tmp", cache: "/tmp" } : this.#folders;
      let reports: readonly string[] = [];
      return {
        ...walled,
        env: commandVariables(command.env, places, network),
        begin: (started) => {
          child = started;
          if (!readOnly) guard.watch();
          return walled.begin(started);
        },
        settle: async () => {
          await walled.ended();
          guard.end(end);
          reports = guard.takeReports();
        },
        notes: ({ output, failed }) => {
          const blocked = failed ? blockedNotes(this.#limits, toConfine, output) : [];
          return [...reports, ...blocked].map((note) => `[sandbox: ${note}]`);
        },
      };
    } catch (error) {
      guard.end(end);
      throw error;
    }
  }

  /** Closes it once its commands have ended, and removes temporary files. Never rejects. */
  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    await this.#guard.settled();
    this.#wall.close();
    removeSession(this.#folders);
  }
}

function killGroup(child: ChildProcess | undefined): void {
  if (child?.pid !== undefined && child.exitCode === null) sendSignal(-child.pid, "SIGKILL");
}

/** The end of long output counts: programs report the cause of a failure there. */
const MAX_OUTPUT = 60_000;
const CANNOT_WRITE = /read-only file system|\bEROFS\b|device or resource busy|\bEBUSY\b/i;
const CANNOT_READ = /permission denied|\bEACCES\b|operation not permitted|\bEPERM\b/i;
const NO_NETWORK =
  /network is unreachable|could not resolve|(?:name|failure) resol|connection refused|EAI_AGAIN|ENETUNREACH|ECONNREFUSED|ENOTFOUND/i;
const NO_SUCH_SOCKET = /address family not supported|\bEAFNOSUPPORT\b/i;
const ASK_FULL = 'call again with access: "full" and a reason';

function blockedNotes(
  { workspace, unreadable, home }: SandboxLimits,
  command: Required<SandboxCommand>,
  said: string,
): readonly string[] {
  const output = said.slice(-MAX_OUTPUT);
  const notes: string[] = [];
  if (!command.network && NO_NETWORK.test(output))
    notes.push(
      'no network, and no ports of this machine but those of earlier commands. If it is needed, call again with access: "network" and a reason',
    );
  if (command.network && NO_SUCH_SOCKET.test(output))
    notes.push(`with the network there are no UNIX sockets. If they are needed, ${ASK_FULL}`);
  if (CANNOT_WRITE.test(output))
    notes.push(
      command.readOnly
        ? "in plan mode commands write to /tmp only, which is empty for each"
        : `commands write below ${workspace.join(", ")} and $TMPDIR only, and not to what steers git, editors or the agent. If it is needed, ${ASK_FULL}`,
    );
  const isNamed = (path: string): boolean =>
    output.includes(path) || (isWithin(path, home) && output.includes(`~${path.slice(home.length)}`));
  const key = CANNOT_READ.test(output) ? unreadable.find(isNamed) : undefined;
  if (key !== undefined) notes.push(`${key} is closed to commands. If it is needed, ${ASK_FULL}`);
  return notes;
}

/** Agents, displays and sockets of the session: none of them is reachable. */
const DESKTOP_VARIABLES =
  /^(?:DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|DBUS_\w+|SSH_(?:AUTH_SOCK|AGENT_PID|ASKPASS)|GPG_AGENT_INFO|GIT_ASKPASS|TMUX\w*|STY|DOCKER_HOST|WSL_INTEROP|VSCODE_\w+|KRB5CCNAME)$/;

/** With these Bash would skip the file that waits for the mount check. */
const BASH_VARIABLES = /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|POSIX_PEDANTIC)$/;

const CACHES: { readonly [name: string]: string } = {
  XDG_CACHE_HOME: ".",
  npm_config_cache: "npm",
  YARN_CACHE_FOLDER: "yarn",
  GOCACHE: "go-build",
  PIP_CACHE_DIR: "pip",
  UV_CACHE_DIR: "uv",
  CCACHE_DIR: "ccache",
};

/** The variables of a confined command. Without a network, package managers do not retry for a minute. */
function commandVariables(
  env: Environment,
  { temporary, cache }: Pick<SandboxFolders, "temporary" | "cache">,
  network: boolean,
): Environment {
  const kept = Object.entries(env).filter(
    ([name]) => !DESKTOP_VARIABLES.test(name) && !BASH_VARIABLES.test(name),
  );
  const caches = Object.entries(CACHES).map(([name, folder]) => [name, join(cache, folder)]);
  return {
    ...Object.fromEntries([...kept, ...caches]),
    TMPDIR: temporary,
    TMP: temporary,
    TEMP: temporary,
    ...(network ? {} : { npm_config_fetch_retries: "0", PIP_RETRIES: "0" }),
  };
}
