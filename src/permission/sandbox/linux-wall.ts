import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { systemClock } from "../../core/base/async.ts";
import { hostMounts, type PlannedMount, parseMounts, planMounts, wrongMount } from "./mount-plan.ts";
import type {
  CommandToConfine,
  SandboxFolders,
  SandboxLimits,
  SteeringPaths,
  Variables,
  Wall,
  WalledStart,
} from "./sandbox-limits.ts";
import { syscallFilter } from "./syscall-filter.ts";

/** Without these options root could take the wall down from inside. */
const ISOLATION = "--unshare-user --unshare-pid --unshare-ipc --cap-drop ALL --die-with-parent --new-session";
const ROOT = "--ro-bind / / --dev /dev --proc /proc";
/** Root outside is still looked at as root by settings of the kernel. */
const FIXED_SETTINGS = ["--remount-ro", "/proc"];
const FILTER_DESCRIPTOR = "3";
const GATE_DESCRIPTOR = 4;

/**
 * Read by Bash before the command, from the file that `BASH_ENV` names: built-ins only. It shows the mounts,
 * waits for the word and closes the way to us with whatever else was left open to it. Without the word
 * nothing runs, so a command whose agent was killed while it started never begins.
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

interface LinuxWallParts {
  readonly limits: SandboxLimits;
  readonly folders: SandboxFolders;
  readonly bash: string;
  readonly bwrap: string;
  readonly nsenter: string;
}

/** The wall of Linux: namespaces, mounts and a filter for system calls, made by bubblewrap. */
export class LinuxWall implements Wall {
  readonly #parts: LinuxWallParts;
  readonly #namespaces: SessionNamespaces;

  private constructor(parts: LinuxWallParts, namespaces: SessionNamespaces) {
    this.#parts = parts;
    this.#namespaces = namespaces;
  }

  /** Rejects where the system does not let it, and for an architecture without a filter. */
  static async open(parts: LinuxWallParts): Promise<LinuxWall> {
    const { own } = parts.folders;
    writeFileSync(join(own, "gate"), GATE_SCRIPT, { mode: 0o600 });
    for (const network of [true, false])
      writeFileSync(filterFile(own, network), syscallFilter(process.arch, { network }), { mode: 0o600 });
    const { bwrap, bash, limits } = parts;
    return new LinuxWall(parts, await SessionNamespaces.open(bwrap, bash, limits.environment));
  }

  start(command: Required<CommandToConfine>, steering: SteeringPaths): WalledStart {
    const { limits, folders, bash, bwrap, nsenter } = this.#parts;
    const { network } = command;
    const host = hostMounts();
    const planned = planMounts(limits, { ...command, folders, steering, host });
    const args = [
      ...(network ? [] : [...this.#namespaces.join(), bwrap]),
      ...`${ISOLATION} ${ROOT}`.split(" "),
      ...(process.getuid?.() === 0 ? FIXED_SETTINGS : []),
      ...planned.flatMap(optionsOf),
      // Inside only: bubblewrap itself may be started by a script.
      "--setenv",
      "BASH_ENV",
      join(folders.own, "gate"),
      "--seccomp",
      FILTER_DESCRIPTOR,
      "--chdir",
      command.cwd,
      "--",
      bash,
      "-c",
      command.command,
    ];
    const refusals = this.#namespaces.refusals();
    const filter = openSync(filterFile(folders.own, network), "r");
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
        await passGate(child, (table) => wrongMount(parseMounts(table), planned, host));
        first = firstProcess(child);
      },
      ended: () => {
        if (!isBegun) closeSync(filter);
        return gone(first);
      },
      wasRefusedNetwork: () => !network && this.#namespaces.refusals() > refusals,
    };
  }

  close(): void {
    this.#namespaces.close();
  }
}

function filterFile(own: string, network: boolean): string {
  return join(own, network ? "filter-network" : "filter");
}

function optionsOf({ kind, source, at }: PlannedMount): readonly string[] {
  return kind === "tmpfs" ? ["--tmpfs", at] : [`--${kind}`, source, at];
}

/**
 * Lets a command begin when nothing is wrong with the mounts it sees. Rejects otherwise: nothing has run
 * then, and the process is killed.
 */
async function passGate(child: ChildProcess, wrong: (table: string) => string | undefined): Promise<void> {
  const gate = child.stdio[GATE_DESCRIPTOR];
  if (!(gate instanceof Socket)) throw new Error("the process was started without its gate");
  const shown = await new Promise<string | undefined>((resolve) => {
    let text = "";
    gate.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.endsWith("\n\n")) resolve(text);
    });
    gate.on("error", () => resolve(undefined)).on("close", () => resolve(undefined));
  });
  const problem = shown === undefined ? "it ended before the command began" : wrong(shown);
  if (problem === undefined) {
    gate.end("go\n").unref();
    return;
  }
  gate.destroy();
  child.kill("SIGKILL");
  throw new Error(problem);
}

/** The process that all others of a command end with, by its number outside; empty when it is over. */
function firstProcess({ pid }: ChildProcess): string | undefined {
  return textOf(`/proc/${pid}/task/${pid}/children`).split(" ")[0];
}

/** It waits for all that it ends, so what it started is gone when it is. */
async function gone(pid: string | undefined): Promise<void> {
  // A zombie has ended, even when no parent reaps it.
  const isAlive = (): boolean => pid !== undefined && /\) [^ZX]/.test(textOf(`/proc/${pid}/stat`));
  while (isAlive()) await systemClock.sleep(1);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // It is over.
    return "";
  }
}

/** Counters of the kernel that rise when a network is refused, and nothing else does. */
const REFUSALS = { Ip: "OutNoRoutes", Udp: "NoPorts", Tcp: "AttemptFails" } as const;
const MAX_COUNTERS = 16_384;

/**
 * A network namespace without a network, for all commands of a session, and the user namespace it belongs to.
 * Open descriptors keep them alive: no process does, and nothing is left when this process ends.
 */
class SessionNamespaces {
  readonly #user: number;
  readonly #network: number;
  readonly #counters: number;

  private constructor(pid: string) {
    this.#user = openSync(`/proc/${pid}/ns/user`, "r");
    this.#network = openSync(`/proc/${pid}/ns/net`, "r");
    this.#counters = openSync(`/proc/${pid}/net/snmp`, "r");
  }

  /** Rejects with what bubblewrap says where the system does not let it. */
  static open(bwrap: string, bash: string, env: Variables): Promise<SessionNamespaces> {
    const args = ["--unshare-user", "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/", "--"];
    const child = spawn(bwrap, [...args, bash, "--norc", "-c", "echo $$; read -r _"], { env, cwd: "/" });
    let [output, errors] = ["", ""];
    return new Promise((resolve, reject) => {
      child.stderr.on("data", (text: Buffer) => (errors += text.toString()));
      child.stdout.on("data", (text: Buffer) => {
        output += text.toString();
        const pid = /^(\d+)\n/.exec(output)?.[1];
        if (pid === undefined) return;
        try {
          resolve(new SessionNamespaces(pid));
        } catch (error) {
          reject(error);
        }
        child.stdin.end();
      });
      child.on("error", reject);
      child.stdin.on("error", () => undefined);
      child.on("close", () => reject(new Error(errors.trim() || "it ended without a word")));
    });
  }

  /** The options of `nsenter` for a command in them. Paths lead to our descriptors: it inherits none. */
  join(): readonly string[] {
    const own = `/proc/${process.pid}/fd`;
    const places = [`--user=${own}/${this.#user}`, `--net=${own}/${this.#network}`];
    return [...places, "--preserve-credentials", "--"];
  }

  /** How often the kernel has refused a connection or a name so far. */
  refusals(): number {
    const bytes = Buffer.alloc(MAX_COUNTERS);
    const length = readSync(this.#counters, bytes, 0, bytes.length, 0);
    const lines = bytes.toString("latin1", 0, length).split("\n");
    return Object.entries(REFUSALS).reduce((sum, [kind, counter]) => {
      const [names = "", values = ""] = lines.filter((line) => line.startsWith(`${kind}: `));
      return sum + Number(values.split(" ")[names.split(" ").indexOf(counter)] ?? 0);
    }, 0);
  }

  close(): void {
    for (const descriptor of [this.#user, this.#network, this.#counters]) closeSync(descriptor);
  }
}
