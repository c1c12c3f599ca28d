import type { ChildProcess } from "node:child_process";
import type { Environment } from "./shell.ts";

/** Confinement of commands. Made elsewhere; the shell only asks it how to start them. */
export interface CommandSandbox {
  /** How to start a command inside. Rejects when it cannot be: then nothing is started. */
  wrap(command: SandboxCommand): Promise<SandboxedCommand>;
}

/** Opens the sandbox of a session. `undefined`: it has none, and commands run outside. */
export type OpenCommandSandbox = () => Promise<CommandSandbox | undefined>;

/** A command to confine. */
export interface SandboxCommand {
  readonly command: string;
  readonly cwd: string;
  /** The variables it would see outside. */
  readonly env: Environment;
  /** True: with the network of the host. */
  readonly network: boolean;
  /** True: nothing that stays can be written. */
  readonly readOnly: boolean;
}

/** A confined command. */
export interface SandboxedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /** The folder to start `file` in. */
  readonly cwd: string;
  /** `stdio` of the process from descriptor 3 on. */
  readonly descriptors: readonly (number | "ignore" | "pipe")[];
  /** Called right after the start. Rejects when the command did not begin: then it never will. */
  readonly begin: (child: ChildProcess) => Promise<void>;
  /** Called once, when it has ended or could not be started. Must not reject. */
  readonly settle: () => Promise<void>;
  /** Lines for the result, asked for once it is settled. */
  readonly notes: (shown: { readonly output: string; readonly failed: boolean }) => readonly string[];
}

/** Where a command runs. */
export interface CommandPlacement {
  /** Confined, confined with the network of the host, or not confined. */
  readonly runs: "inside" | "network" | "outside";
  /** True when a confined command can write nothing that stays. */
  readonly readOnly: boolean;
}
