import type { ChildProcess } from "node:child_process";

/** Variables of a process. */
export type Variables = { readonly [name: string]: string | undefined };

/** A command to confine. */
export interface CommandToConfine {
  readonly command: string;
  readonly cwd: string;
  /** The variables it would see outside. */
  readonly env: Variables;
  /** True: with the network of the host. Default false. */
  readonly network?: boolean;
  /** True: nothing that stays can be written. Default false. */
  readonly readOnly?: boolean;
}

/** The process to start, in `cwd`. */
interface ProcessToStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** `stdio` of the process from descriptor 3 on. */
  readonly descriptors: readonly (number | "ignore" | "pipe")[];
  /** Call it right after the start. Rejects when the command did not begin: then it never will. */
  readonly begin: (child: ChildProcess) => Promise<void>;
}

/** How a command is started inside, and what has to be done around it. */
export interface ConfinedStart extends ProcessToStart {
  readonly env: Variables;
  /** Call it once, when the process has ended or could not be started. Never rejects. */
  readonly settle: () => Promise<void>;
  /** Lines for the result, once it is settled: what was held back or put back, and how to ask for more. */
  readonly notes: (shown: { readonly output: string; readonly failed: boolean }) => readonly string[];
}

/** How a process is started behind a wall. */
export interface WalledStart extends ProcessToStart {
  /** Waits until nothing of it runs. Never rejects; also for a command that could not be started. */
  readonly ended: () => Promise<void>;
  /** True once the kernel has refused it a connection. */
  readonly wasRefusedNetwork: () => boolean;
}

/** The means of a system to confine commands: bubblewrap, or `sandbox-exec`. */
export interface Wall {
  /** `steering`: paths that steer programs, as they are now. */
  readonly start: (command: Required<CommandToConfine>, steering: SteeringPaths) => WalledStart;
  readonly close: () => void;
}

/** The paths that a command must leave as they are. */
export interface SteeringPaths {
  /** Paths that are there. */
  readonly present: readonly string[];
  /** Git folders that must not be moved. */
  readonly pinned: readonly string[];
}
