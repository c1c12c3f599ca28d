import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isWithin } from "../../system/real-path.ts";
import { systemCode } from "../../system/system-error.ts";
import {
  type CommandToConfine,
  type ConfinedStart,
  removeSession,
  type SandboxFolders,
  type SandboxLimits,
  type Variables,
  type Wall,
} from "./sandbox-limits.ts";
import type { SteeringGuard } from "./steering-guard.ts";

/** Confines the commands of one session. */
export class Sandbox {
  readonly #limits: SandboxLimits;
  readonly #folders: SandboxFolders;
  readonly #wall: Wall;
  readonly #guard: SteeringGuard;
  #isDisposed = false;

  /** Made by `openSandbox`, which tries it. */
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

  /** How to start a command inside. Rejects where that cannot be: do not start it then. */
  async wrap({ network = false, readOnly = false, ...command }: CommandToConfine): Promise<ConfinedStart> {
    if (this.#isDisposed) throw new Error("the sandbox is closed");
    const guard = this.#guard;
    let child: ChildProcess | undefined;
    const end = (): void => endAll(child);
    if (!readOnly) await guard.begin(end);
    try {
      const steering = readOnly ? { present: [], pinned: [] } : guard.paths();
      const asked = { ...command, network, readOnly };
      const walled = this.#wall.start(asked, steering);
      // In a command that changes nothing all temporary files go with it.
      const isPassing = readOnly && process.platform === "linux";
      const places = isPassing ? { temporary: "/tmp", cache: "/tmp" } : this.#folders;
      let reports: readonly string[] = [];
      return {
        ...walled,
        env: commandVariables(command.env, places, network),
        begin: (started) => {
          child = started;
          // While the mounts are made.
          if (!readOnly) guard.watch();
          return walled.begin(started);
        },
        settle: async () => {
          await walled.ended();
          guard.end(end);
          reports = guard.takeReports();
        },
        notes: ({ output, failed }) => {
          const blocked = failed ? blockedNotes(this.#limits, asked, output, walled.wasRefusedNetwork()) : [];
          return [...reports, ...blocked].map((note) => `[sandbox: ${note}]`);
        },
      };
    } catch (error) {
      guard.end(end);
      throw error;
    }
  }

  /** Closes it when its commands have ended, and removes temporary files. Never rejects. */
  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    await this.#guard.settled();
    this.#wall.close();
    removeSession(this.#folders);
  }
}

function endAll(child: ChildProcess | undefined): void {
  if (child?.pid === undefined || child.exitCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (systemCode(error) !== "ESRCH") throw error;
  }
}

/** Of a long output the end counts: there programs say why they failed. */
const MAX_OUTPUT = 60_000;
const CANNOT_WRITE = /read-only file system|\bEROFS\b|device or resource busy|\bEBUSY\b/i;
const CANNOT_READ = /permission denied|\bEACCES\b|operation not permitted|\bEPERM\b/i;
const NO_SUCH_SOCKET = /address family not supported|\bEAFNOSUPPORT\b/i;
const ASK_FULL = 'call again with access: "full" and a reason';

/** For a command that failed: what the sandbox held back, and how to ask for it. */
function blockedNotes(
  { workspace, unreadable, home }: SandboxLimits,
  command: Required<CommandToConfine>,
  said: string,
  wasRefusedNetwork: boolean,
): readonly string[] {
  const output = said.slice(-MAX_OUTPUT);
  const notes: string[] = [];
  if (wasRefusedNetwork)
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

/** Agents, displays and sockets of the session: none of them is in reach. */
const OF_THE_DESKTOP =
  /^(?:DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|DBUS_\w+|SSH_(?:AUTH_SOCK|AGENT_PID|ASKPASS)|GPG_AGENT_INFO|GIT_ASKPASS|TMUX\w*|STY|DOCKER_HOST|WSL_INTEROP|VSCODE_\w+|KRB5CCNAME)$/;

/** With these Bash would start without the file that waits for the mounts to be checked. */
const OF_BASH = /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|POSIX_PEDANTIC)$/;

/** Variables of tool chains for their caches, and the folder of each. */
const CACHES: { readonly [name: string]: string } = {
  XDG_CACHE_HOME: ".",
  npm_config_cache: "npm",
  YARN_CACHE_FOLDER: "yarn",
  GOCACHE: "go-build",
  PIP_CACHE_DIR: "pip",
  UV_CACHE_DIR: "uv",
  CCACHE_DIR: "ccache",
};

/** The variables of a confined command. Without a network package managers do not retry for a minute. */
function commandVariables(
  env: Variables,
  { temporary, cache }: Pick<SandboxFolders, "temporary" | "cache">,
  network: boolean,
): Variables {
  const kept = Object.entries(env).filter(([name]) => !OF_THE_DESKTOP.test(name) && !OF_BASH.test(name));
  const caches = Object.entries(CACHES).map(([name, folder]) => [name, join(cache, folder)]);
  return {
    ...Object.fromEntries([...kept, ...caches]),
    TMPDIR: temporary,
    TMP: temporary,
    TEMP: temporary,
    ...(network ? {} : { npm_config_fetch_retries: "0", PIP_RETRIES: "0" }),
  };
}
