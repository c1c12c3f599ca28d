import type { ChildProcess } from "node:child_process";
import { systemCode } from "../../system/system-error.ts";
import { blockedNotes } from "./blocked-notes.ts";
import { commandVariables } from "./command-variables.ts";
import type { CommandToConfine, ConfinedStart, Confiner } from "./confined-start.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import type { SessionFolders } from "./session-folders.ts";
import type { SteeringGuard } from "./steering-guard.ts";
import type { Wall } from "./wall.ts";

const NOTHING = { present: [], pinned: [] };

/** Confines the commands of one session. */
export class Sandbox implements Confiner {
  readonly #limits: SandboxLimits;
  readonly #folders: SessionFolders;
  readonly #wall: Wall;
  readonly #guard: SteeringGuard;
  #isDisposed = false;

  /** Made by `openSandbox`, which tries it. */
  constructor(parts: {
    readonly limits: SandboxLimits;
    readonly folders: SessionFolders;
    readonly wall: Wall;
    readonly guard: SteeringGuard;
  }) {
    this.#limits = parts.limits;
    this.#folders = parts.folders;
    this.#wall = parts.wall;
    this.#guard = parts.guard;
  }

  /** The session's folder for temporary files: `TMPDIR` of commands and, on Linux, their `/tmp`. */
  get temporary(): string {
    return this.#folders.temporary;
  }

  /** The limits in one line, for people. */
  describe(): string {
    const { writable, unreadable } = this.#limits;
    const closed = unreadable.length === 0 ? "" : `, without reading ${unreadable.join(", ")}`;
    return `commands write below ${writable.join(", ")} and to temporary files, without a network${closed}`;
  }

  /** How to start a command inside. Rejects where that cannot be: do not start it then. */
  async wrap({ network = false, readOnly = false, ...command }: CommandToConfine): Promise<ConfinedStart> {
    if (this.#isDisposed) throw new Error("the sandbox is closed");
    const { temporary, cache } = this.#folders;
    let child: ChildProcess | undefined;
    const end = (): void => endAll(child);
    if (!readOnly) await this.#guard.begin(end);
    try {
      const walled = this.#wall.start({ ...command, network, readOnly }, readOnly ? NOTHING : this.#guard);
      // In a command that changes nothing all temporary files go with it.
      const isPassing = readOnly && process.platform === "linux";
      const places = isPassing ? { temporary: "/tmp", cache: "/tmp" } : { temporary, cache };
      let reports: readonly string[] = [];
      return {
        ...walled,
        env: commandVariables(command.env, { ...places, network }),
        begin: (started) => {
          child = started;
          return walled.begin(started);
        },
        settle: async () => {
          await walled.ended();
          this.#guard.end(end);
          reports = this.#guard.takeReports();
        },
        notes: ({ output, failed }) => {
          const { wasRefusedNetwork } = walled;
          const met = { output, network, readOnly, wasRefusedNetwork: wasRefusedNetwork() };
          return [
            ...reports.map((report) => `[sandbox: ${report}]`),
            ...(failed ? blockedNotes(this.#limits, met) : []),
          ];
        },
      };
    } catch (error) {
      this.#guard.end(end);
      throw error;
    }
  }

  /** Closes it when its commands have ended, and removes temporary files. Never rejects. */
  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    await this.#guard.settled();
    this.#wall.close();
    this.#folders.remove();
  }
}

/** Ends a command with all it started. */
function endAll(child: ChildProcess | undefined): void {
  if (child?.pid === undefined || child.exitCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    // It has ended this moment, or leads no group.
    if (systemCode(error) !== "ESRCH") throw error;
    child.kill("SIGKILL");
  }
}
