import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { systemClock } from "../../core/base/async.ts";
import { type PlannedMount, parseMounts, planMounts, wrongMount } from "./mount-plan.ts";
import type { SandboxFolders, SandboxLimits, Variables, Wall } from "./sandbox-limits.ts";
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

/**
 * The wall of Linux: namespaces, mounts and a filter for system calls, made by bubblewrap. `programs`: the
 * paths of bash, bubblewrap and nsenter. Rejects when the system forbids it, and for an unknown architecture.
 */
export async function linuxWall(
  limits: SandboxLimits,
  folders: SandboxFolders,
  programs: readonly string[],
): Promise<Wall> {
  const [bash = "", bwrap = "", nsenter = ""] = programs;
  writeFileSync(join(folders.own, "gate"), GATE_SCRIPT, { mode: 0o600 });
  for (const network of [true, false])
    writeFileSync(filterFile(folders, network), syscallFilter(process.arch, { network }), { mode: 0o600 });
  const namespaces = await SessionNamespaces.open(bwrap, bash, limits.environment);
  const start: Wall["start"] = (command, steering) => {
    const { network } = command;
    const host = parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
    const planned = planMounts(limits, folders, command, steering, host);
    const args = [
      ...(network ? [] : [...namespaces.join(), bwrap]),
      ...`${ISOLATION} ${ROOT}`.split(" "),
      ...(process.getuid?.() === 0 ? FIXED_SETTINGS : []),
      ...planned.flatMap(optionsOf),
      // Inside only: bubblewrap itself may be started by a script.
      ...["--setenv", "BASH_ENV", join(folders.own, "gate")],
      ...["--seccomp", FILTER_DESCRIPTOR, "--chdir", command.cwd, "--", bash, "-c", command.command],
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
        await passGate(child, (table) => wrongMount(parseMounts(table), planned, host));
        first = firstProcess(child);
      },
      ended: () => {
        if (!isBegun) closeSync(filter);
        return gone(first);
      },
    };
  };
  return { start, close: () => namespaces.close() };
}

function filterFile({ own }: SandboxFolders, network: boolean): string {
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
  let table = "";
  try {
    for await (const piece of gate.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      table += String(piece);
      if (table.endsWith("\n\n")) break;
    }
  } catch {
    // It ended: the table is incomplete.
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

/**
 * A network namespace without a network, for all commands of a session, and the user namespace it belongs to.
 * Open descriptors keep them alive, so nothing is left when this process ends.
 */
class SessionNamespaces {
  readonly #user: number;
  readonly #network: number;

  private constructor(pid: string) {
    this.#user = openSync(`/proc/${pid}/ns/user`, "r");
    this.#network = openSync(`/proc/${pid}/ns/net`, "r");
  }

  /** Rejects with the message of bubblewrap. */
  static async open(bwrap: string, bash: string, env: Variables): Promise<SessionNamespaces> {
    const args = ["--unshare-user", "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/", "--"];
    const child = spawn(bwrap, [...args, bash, "--norc", "-c", "echo $$; read -r _"], { env, cwd: "/" });
    const errors = text(child.stderr);
    child.stdin.on("error", () => undefined);
    await once(child, "spawn");
    for await (const pid of child.stdout) {
      const namespaces = new SessionNamespaces(String(pid).trim());
      child.stdin.end();
      return namespaces;
    }
    throw new Error((await errors).trim() || "it ended without a word");
  }

  /** The options of `nsenter`. Paths lead to our descriptors, so the command inherits none. */
  join(): readonly string[] {
    const own = `/proc/${process.pid}/fd`;
    const places = [`--user=${own}/${this.#user}`, `--net=${own}/${this.#network}`];
    return [...places, "--preserve-credentials", "--"];
  }

  close(): void {
    for (const descriptor of [this.#user, this.#network]) closeSync(descriptor);
  }
}
