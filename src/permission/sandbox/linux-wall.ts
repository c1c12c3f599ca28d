import type { ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../core/base/clock.ts";
import { GATE_SCRIPT, passGate } from "./command-gate.ts";
import { leakedDescriptors } from "./leaked-descriptors.ts";
import { planMounts, type SandboxFolders } from "./mount-plan.ts";
import { hostMounts, type PlannedMount, parseMounts, wrongMount } from "./mount-table.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import { SessionNamespaces, type WallPrograms } from "./session-namespaces.ts";
import { syscallFilter } from "./syscall-filter.ts";
import type { KeptPaths, Wall, WalledCommand, WalledStart } from "./wall.ts";

/** Without these options root could take the wall down from inside. */
const ISOLATION = [
  "--unshare-user",
  "--unshare-pid",
  "--unshare-ipc",
  "--cap-drop",
  "ALL",
  "--die-with-parent",
  "--new-session",
];
const ROOT = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
/** Root outside is still looked at as root by settings of the kernel. */
const FIXED_SETTINGS = ["--remount-ro", "/proc"];
const FILTER_DESCRIPTOR = "3";
const LAST_PAUSE_MS = 64;

/** The wall of Linux: namespaces, mounts and a filter for system calls, made by bubblewrap. */
export class LinuxWall implements Wall {
  readonly #limits: SandboxLimits;
  readonly #folders: SandboxFolders;
  readonly #programs: WallPrograms;
  readonly #namespaces: SessionNamespaces;
  readonly #leaked: readonly number[];
  readonly #nothing: number;

  private constructor({ limits, folders, programs }: LinuxWallParts, namespaces: SessionNamespaces) {
    this.#limits = limits;
    this.#folders = folders;
    this.#programs = programs;
    this.#namespaces = namespaces;
    this.#leaked = leakedDescriptors();
    this.#nothing = openSync("/dev/null", "r");
  }

  /** Rejects where the system does not let it, and for an architecture without a filter. */
  static async open(parts: LinuxWallParts): Promise<LinuxWall> {
    const { own } = parts.folders;
    writeFileSync(join(own, "gate"), GATE_SCRIPT, { mode: 0o600 });
    for (const network of [true, false]) {
      const filter = syscallFilter(process.arch, { network });
      if (filter === undefined) throw new Error(`no filter for system calls of ${process.arch}`);
      writeFileSync(filterFile(own, network), filter, { mode: 0o600 });
    }
    return new LinuxWall(parts, await SessionNamespaces.open(parts.programs, parts.limits.environment));
  }

  start(command: WalledCommand, { present, pinned }: KeptPaths): WalledStart {
    const { network, readOnly } = command;
    const host = hostMounts();
    const request = { limits: this.#limits, folders: this.#folders, network, readOnly, host };
    const planned = planMounts({ ...request, steering: present, pinned });
    const [file, ...args] = [
      ...(network ? [] : this.#namespaces.join(this.#programs)),
      this.#programs.bwrap,
      ...ISOLATION,
      ...ROOT,
      ...(process.getuid?.() === 0 ? FIXED_SETTINGS : []),
      ...planned.flatMap(optionsOf),
      // Inside only: bubblewrap itself may be started by a script.
      "--setenv",
      "BASH_ENV",
      join(this.#folders.own, "gate"),
      "--seccomp",
      FILTER_DESCRIPTOR,
      "--chdir",
      command.cwd,
      "--",
      this.#programs.bash,
      "-c",
      command.command,
    ];
    const refusals = this.#namespaces.refusals();
    const filter = openSync(filterFile(this.#folders.own, network), "r");
    let first: number | undefined;
    let isOpen = true;
    const closeFilter = (): void => {
      if (isOpen) closeSync(filter);
      isOpen = false;
    };
    return {
      file,
      args,
      cwd: "/",
      descriptors: [filter, "pipe", ...this.#closedDescriptors()],
      begin: async (child) => {
        closeFilter();
        await passGate(child, (table) =>
          wrongMount(parseMounts(table), { planned: effective(planned), host }),
        );
        first = firstProcess(child);
      },
      ended: () => {
        closeFilter();
        return gone(first);
      },
      wasRefusedNetwork: () => !network && this.#namespaces.refusals() > refusals,
    };
  }

  close(): void {
    this.#namespaces.close();
    closeSync(this.#nothing);
  }

  /** From 5 on: an empty device in place of each descriptor that would be inherited. */
  #closedDescriptors(): readonly (number | "ignore")[] {
    const last = Math.max(4, ...this.#leaked);
    return Array.from({ length: last - 4 }, (_, index) =>
      this.#leaked.includes(index + 5) ? this.#nothing : "ignore",
    );
  }
}

/** The parts of a {@link LinuxWall}. */
export interface LinuxWallParts {
  readonly limits: SandboxLimits;
  readonly folders: SandboxFolders;
  readonly programs: WallPrograms;
}

function filterFile(own: string, network: boolean): string {
  return join(own, network ? "filter-network" : "filter");
}

function optionsOf({ kind, source, at }: PlannedMount): readonly string[] {
  return kind === "tmpfs" ? ["--tmpfs", at] : [`--${kind}`, source, at];
}

/** Of several mounts at one place the last counts. */
function effective(planned: readonly PlannedMount[]): readonly PlannedMount[] {
  return [...new Map(planned.map((mount) => [mount.at, mount])).values()];
}

/** The process that all others of a command end with, by its number outside. */
function firstProcess({ pid }: ChildProcess): number | undefined {
  try {
    const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
    return child > 0 ? child : undefined;
  } catch {
    // Over already, or a kernel that does not tell.
    return undefined;
  }
}

/** It waits for all that it ends, so what it started is gone when it is. */
async function gone(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  for (let pause = 1; isAlive(pid); pause = Math.min(pause * 2, LAST_PAUSE_MS))
    await systemClock.sleep(pause);
}

function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^\) [ZX]/.test(stat.slice(stat.lastIndexOf(")")));
  } catch {
    return false;
  }
}
