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

/** How a command is started inside, and what has to be done around it. */
export interface ConfinedStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Variables;
  /** The folder to start `file` in. */
  readonly cwd: string;
  /** `stdio` of the process from descriptor 3 on. */
  readonly descriptors: readonly (number | "ignore" | "pipe")[];
  /** Call it right after the start. Rejects when the command did not begin: then it never will. */
  readonly begin: (child: ChildProcess) => Promise<void>;
  /** Call it once, when the process has ended or could not be started. Never rejects. */
  readonly settle: () => Promise<void>;
  /** Lines for the result, once it is settled: what was held back or put back, and how to ask for more. */
  readonly notes: (shown: { readonly output: string; readonly failed: boolean }) => readonly string[];
}

/** A sandbox that can start commands inside. */
export interface Confiner {
  readonly wrap: (command: CommandToConfine) => Promise<ConfinedStart>;
}
