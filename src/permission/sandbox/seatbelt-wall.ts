import type { SandboxFolders } from "./mount-plan.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import { type ProfileRequest, seatbeltProfile } from "./seatbelt-profile.ts";
import { steeringOfGit, steeringOfRepository, steeringOfRoot } from "./steering-files.ts";
import type { Wall, WalledCommand, WalledStart } from "./wall.ts";

/** The wall of macOS. What it refuses goes by name, so it also prevents what is not there yet. */
export class SeatbeltWall implements Wall {
  readonly #limits: SandboxLimits;
  readonly #folders: SandboxFolders;
  readonly #bash: string;

  constructor(limits: SandboxLimits, folders: SandboxFolders, bash: string) {
    this.#limits = limits;
    this.#folders = folders;
    this.#bash = bash;
  }

  start({ command, cwd, network, readOnly }: WalledCommand): WalledStart {
    const profile = seatbeltProfile(profileRequest(this.#limits, this.#folders, { network, readOnly }));
    return {
      file: "/usr/bin/sandbox-exec",
      args: ["-p", profile, this.#bash, "-c", command],
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

/** The facts that the profile of one command follows from. */
export function profileRequest(
  { workspace, writable, unreadable, outerGit, loopback, ...limits }: SandboxLimits,
  { temporary, cache, own }: SandboxFolders,
  { network, readOnly }: { readonly network: boolean; readonly readOnly: boolean },
): ProfileRequest {
  const steering = workspace.flatMap((root) => [
    ...steeringOfRoot(root),
    // The folder itself changes with every commit.
    ...steeringOfRepository(root, writable).slice(1),
  ]);
  return {
    // Without a place for them here-documents and most programs fail.
    writable: readOnly ? [temporary] : [...writable, temporary, cache],
    protected: [
      ...limits.protected,
      own,
      ...steering,
      ...outerGit.flatMap(({ folder }) => steeringOfGit(folder)),
    ],
    unreadable,
    roots: workspace,
    network,
    loopback,
  };
}
