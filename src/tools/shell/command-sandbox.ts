import type { ShownCommand } from "./withheld-variables.ts";

/** Confinement of commands. Made elsewhere; the shell only asks it how to start them. */
export interface CommandSandbox {
  /** How to start a command inside. Rejects when it cannot be: then nothing is started. */
  wrap(command: SandboxCommand): Promise<SandboxedCommand>;
}

/** A command to confine. */
export interface SandboxCommand {
  readonly command: string;
  /** Path of the shell that reads it. */
  readonly shell: string;
  readonly cwd: string;
  /** Folders of ours that the command must not change, also where it may write around them. */
  readonly protect: readonly string[];
}

/** A confined command. */
export interface SandboxedCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Lines that name what it was kept from, and what would allow it. */
  readonly notes: (shown: ShownCommand) => readonly string[];
  /** Called once, when it has ended or could not be started. Must not throw. */
  readonly release: () => void;
}
