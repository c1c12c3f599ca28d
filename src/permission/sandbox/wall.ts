import type { ChildProcess } from "node:child_process";
import type { CommandToConfine } from "./confined-start.ts";

/** A command with its access settled. */
export type WalledCommand = Required<CommandToConfine>;

/** Paths that a wall keeps from change. */
export interface KeptPaths {
  /** Paths that steer and are there. */
  readonly present: readonly string[];
  /** Git folders that must not be moved. */
  readonly pinned: readonly string[];
}

/** How a process is started behind a wall. */
export interface WalledStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly descriptors: readonly (number | "ignore" | "pipe")[];
  /** Rejects when the command did not begin. */
  readonly begin: (child: ChildProcess) => Promise<void>;
  /** Waits until nothing of it runs. Never rejects; also for a command that could not be started. */
  readonly ended: () => Promise<void>;
  /** True once the kernel has refused it a connection. */
  readonly wasRefusedNetwork: () => boolean;
}

/** The means of a system to confine commands: bubblewrap, or `sandbox-exec`. */
export interface Wall {
  readonly start: (command: WalledCommand, kept: KeptPaths) => WalledStart;
  readonly close: () => void;
}
