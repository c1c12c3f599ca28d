import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { SandboxCommand, SandboxedCommand } from "../../system/command-sandbox.ts";
import type { Environment } from "../../system/env.ts";

const BASH_PATHS = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
const WINDOWS_BASH_PATHS = [
  "C:\\Program Files\\Git\\bin\\bash.exe",
  "C:\\Program Files (x86)\\Git\\bin\\bash.exe",
];

/** Bash in its usual locations and on `PATH`, then `/bin/sh`; on Windows only Git's bash. */
export function findShell(
  env: Environment,
  platform: string = process.platform,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  if (platform === "win32") return WINDOWS_BASH_PATHS.find(exists);
  const folders = (env["PATH"] ?? "").split(":").filter((folder) => isAbsolute(folder));
  return [...BASH_PATHS, ...folders.map((folder) => join(folder, "bash")), "/bin/sh"].find(exists);
}

/** Default for callers that pass no environment: enough to find programs and the home folder. */
export function minimalEnvironment(): Environment {
  return { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", HOME: homedir() };
}

const UNATTENDED: Environment = {
  AI_AGENT: "nano-agent",
  TERM: "dumb",
  PAGER: "cat",
  MANPAGER: "cat",
  GIT_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_MERGE_AUTOEDIT: "no",
  GIT_TERMINAL_PROMPT: "0",
  SSH_ASKPASS_REQUIRE: "never",
};

/**
 * The environment for an unattended command: pagers print, editors leave the text as it is, password prompts
 * fail, the terminal is `dumb`. `CI` and `NO_COLOR` stay as they are, because programs under test behave
 * differently with them.
 */
export function unattendedEnvironment(env: Environment): Environment {
  return { ...env, ...UNATTENDED };
}

/** Confines commands. Made elsewhere; the shell only asks it how to start them. */
export interface CommandSandbox {
  /** How to start a command inside. Rejects if that is impossible: then nothing is started. */
  wrap(command: SandboxCommand): Promise<SandboxedCommand>;
}

/** Opens the sandbox of a session. `undefined`: it has none, and commands run outside. */
export type OpenCommandSandbox = () => Promise<CommandSandbox | undefined>;

/** A command for a {@link ShellPort}. */
export interface PortCommand {
  readonly command: string;
  readonly cwd: string;
  /** The variables it sees. */
  readonly env: { readonly [name: string]: string };
  /** Variables it must not see, whatever the port's own environment has. */
  readonly unset: readonly string[];
  /** Bytes of output worth keeping. */
  readonly maxOutputBytes: number;
  /** When aborted: end the command and everything it started. */
  readonly signal: AbortSignal;
  /** Called with new output as it comes, if the port can provide it. */
  readonly onText?: (text: string) => void;
  /** Called with the id under which the editor shows the terminal. */
  readonly onTerminal?: (terminalId: string) => void;
}

/** How a command of a {@link ShellPort} ended. */
export interface PortCommandEnd {
  readonly output: string;
  /** `null`: it was ended by a signal. */
  readonly exitCode: number | null;
  readonly signal?: string | null;
  /** True if the beginning of the output is missing. */
  readonly isTruncated?: boolean;
}

/** Runs commands for us: the terminal of an editor. We still decide which may run. */
export interface ShellPort {
  /** Runs a command to its end. Rejects if it cannot be started. */
  run(command: PortCommand): Promise<PortCommandEnd>;
}
