import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { systemCode } from "../../system/system-error.ts";
import { blockedNotes } from "./blocked-notes.ts";
import { commandVariables } from "./command-variables.ts";
import type { CommandToConfine, ConfinedStart, Wall } from "./confined-start.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import { removeSession, type SandboxFolders } from "./session-folders.ts";
import type { SteeringGuard } from "./steering-guard.ts";

interface SandboxParts {
  readonly limits: SandboxLimits;
  readonly folders: SandboxFolders;
  readonly wall: Wall;
  readonly guard: SteeringGuard;
}

/** Confines the commands of one session. */
export class Sandbox {
  readonly #parts: SandboxParts;
  #isDisposed = false;

  /** Made by `openSandbox`, which tries it. */
  constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  /** The session's folder for temporary files: `TMPDIR` of commands and, on Linux, their `/tmp`. */
  get temporary(): string {
    return this.#parts.folders.temporary;
  }

  /** The limits in one line, for people. */
  describe(): string {
    const { writable, unreadable } = this.#parts.limits;
    const keys = unreadable.filter(existsSync).join(", ");
    const closed = keys === "" ? "" : `, without reading ${keys}`;
    return `commands write below ${writable.join(", ")} and to temporary files, without a network${closed}`;
  }

  /** How to start a command inside. Rejects where that cannot be: do not start it then. */
  async wrap({ network = false, readOnly = false, ...command }: CommandToConfine): Promise<ConfinedStart> {
    if (this.#isDisposed) throw new Error("the sandbox is closed");
    const { limits, folders, wall, guard } = this.#parts;
    let child: ChildProcess | undefined;
    const end = (): void => endAll(child);
    if (!readOnly) await guard.begin(end);
    try {
      const steering = readOnly ? { present: [], pinned: [] } : guard.paths();
      const walled = wall.start({ ...command, network, readOnly }, steering);
      // In a command that changes nothing all temporary files go with it.
      const isPassing = readOnly && process.platform === "linux";
      const places = isPassing ? { temporary: "/tmp", cache: "/tmp" } : folders;
      let reports: readonly string[] = [];
      return {
        ...walled,
        env: commandVariables(command.env, places, network),
        begin: (started) => {
          child = started;
          return walled.begin(started);
        },
        settle: async () => {
          await walled.ended();
          guard.end(end);
          reports = guard.takeReports();
        },
        notes: ({ output, failed }) => {
          const wasRefusedNetwork = walled.wasRefusedNetwork();
          const blocked = blockedNotes(limits, { output, network, readOnly, wasRefusedNetwork });
          return [...reports, ...(failed ? blocked : [])].map((note) => `[sandbox: ${note}]`);
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
    await this.#parts.guard.settled();
    this.#parts.wall.close();
    removeSession(this.#parts.folders);
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
