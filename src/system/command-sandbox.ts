import type { ChildProcess } from "node:child_process";
import type { Environment } from "./env.ts";

/** A command to confine. */
export interface SandboxCommand {
  readonly command: string;
  readonly cwd: string;
  /** The variables it would see outside. */
  readonly env: Environment;
  /** True: with the host's network. Default false. */
  readonly network?: boolean;
  /** True: it can write nothing that persists. Default false. */
  readonly readOnly?: boolean;
}

/** A confined command: how to start it, and the steps around that. */
export interface SandboxedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /** The folder to start `file` in. */
  readonly cwd: string;
  /** `stdio` of the process from descriptor 3 on. */
  readonly descriptors: readonly (number | "ignore" | "pipe")[];
  /** Called right after the start. Rejects if the command did not begin: then it never will. */
  readonly begin: (child: ChildProcess) => Promise<void>;
  /** Called once, when it has ended or could not be started. Must not reject. */
  readonly settle: () => Promise<void>;
  /** Lines for the result, once settled: what was withheld or put back, and how to request more. */
  readonly notes: (shown: { readonly output: string; readonly failed: boolean }) => readonly string[];
}

/** Where a command runs. */
export interface CommandPlacement {
  /** Confined, confined with the host's network, or not confined. */
  readonly runs: "inside" | "network" | "outside";
  /** True if a confined command can write nothing that persists. */
  readonly readOnly: boolean;
}
