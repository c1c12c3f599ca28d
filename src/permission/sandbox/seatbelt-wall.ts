import type { CommandToConfine, Wall, WalledStart } from "./confined-start.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import { seatbeltProfile } from "./seatbelt-profile.ts";
import type { SandboxFolders } from "./session-folders.ts";
import { steeringOfGit, steeringOfRepository, steeringOfRoot } from "./steering-files.ts";

/** The parts of a {@link SeatbeltWall}. */
export interface SeatbeltWallParts {
  readonly limits: SandboxLimits;
  readonly folders: SandboxFolders;
  readonly bash: string;
}

/** The wall of macOS. What it refuses goes by name, so it also prevents what is not there yet. */
export class SeatbeltWall implements Wall {
  readonly #parts: SeatbeltWallParts;

  constructor(parts: SeatbeltWallParts) {
    this.#parts = parts;
  }

  start({ command, cwd, network, readOnly }: Required<CommandToConfine>): WalledStart {
    const { limits, folders, bash } = this.#parts;
    const { workspace: roots, writable, outerGit, unreadable } = limits;
    const { temporary, cache } = folders;
    const steering = roots.flatMap((root) => [
      ...steeringOfRoot(root).filter((path) => !path.endsWith("/HEAD")),
      // The folder itself changes with every commit.
      ...steeringOfRepository(root, writable).slice(1),
    ]);
    const outer = outerGit.flatMap(({ folder }) => steeringOfGit(folder));
    const profile = seatbeltProfile({
      // Without a place for them here-documents and most programs fail.
      writable: readOnly ? [temporary] : [...writable, temporary, cache],
      protected: [...limits.protected, folders.own, ...steering, ...outer],
      unreadable,
      roots,
      network,
      loopback: limits.loopback,
    });
    return {
      file: "/usr/bin/sandbox-exec",
      args: ["-p", profile, bash, "-c", command],
      cwd,
      descriptors: [],
      begin: async () => undefined,
      ended: async () => undefined,
      // The kernel counts nothing here: programs say it.
      wasRefusedNetwork: () => false,
    };
  }

  close(): void {
    // Nothing is held open.
  }
}
