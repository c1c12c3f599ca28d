import type { ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { systemClock } from "../../core/base/clock.ts";
import type { CommandToConfine, SteeringPaths, Wall, WalledStart } from "./confined-start.ts";
import { planMounts } from "./mount-plan.ts";
import { hostMounts, type PlannedMount, parseMounts, wrongMount } from "./mount-table.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import type { SandboxFolders } from "./session-folders.ts";
import { SessionNamespaces, type WallPrograms } from "./session-namespaces.ts";
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
mapfile </proc/self/mountinfo
printf '%s' "\${MAPFILE[@]}" >&4 && printf '\\n' >&4
read -r REPLY <&4 && [ "$REPLY" = go ] || exit 125
for MAPFILE in /proc/self/fd/*; do
  REPLY=\${MAPFILE##*/}
  [ "$REPLY" -gt 2 ] && exec {REPLY}>&-
done
unset MAPFILE REPLY
`;

/** The parts of a {@link LinuxWall}. */
export interface LinuxWallParts {
  readonly limits: SandboxLimits;
  readonly folders: SandboxFolders;
  readonly programs: WallPrograms;
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
    return new LinuxWall(parts, await SessionNamespaces.open(parts.programs, parts.limits.environment));
  }

  start(command: Required<CommandToConfine>, steering: SteeringPaths): WalledStart {
    const { limits, folders, programs } = this.#parts;
    const { network } = command;
    const host = hostMounts();
    const planned = planMounts(limits, { ...command, folders, steering, host });
    const args = [
      ...(network ? [] : [...this.#namespaces.join(), programs.bwrap]),
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
      programs.bash,
      "-c",
      command.command,
    ];
    const refusals = this.#namespaces.refusals();
    const filter = openSync(filterFile(folders.own, network), "r");
    let first: string | undefined;
    let isBegun = false;
    return {
      file: network ? programs.bwrap : programs.nsenter,
      args,
      cwd: "/",
      descriptors: [filter, "pipe"],
      begin: async (child) => {
        isBegun = true;
        closeSync(filter);
        await passGate(child, (table) => wrongMount(parseMounts(table), { planned, host }));
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

/** The process that all others of a command end with, by its number outside. */
function firstProcess({ pid }: ChildProcess): string | undefined {
  // Empty when it is over already.
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
