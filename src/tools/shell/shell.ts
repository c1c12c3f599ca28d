import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Variables of a process. */
export type Environment = { readonly [name: string]: string | undefined };

const FIXED_PLACES = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
const WINDOWS_PLACES = [
  "C:\\Program Files\\Git\\bin\\bash.exe",
  "C:\\Program Files (x86)\\Git\\bin\\bash.exe",
];

/**
 * Where the shell is: bash in its usual places, then in the absolute folders of `PATH`, then `/bin/sh`. On
 * Windows only the bash that comes with Git. `undefined` when there is none.
 */
export function findShell(
  env: Environment,
  platform: string = process.platform,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  if (platform === "win32") return WINDOWS_PLACES.find(exists);
  const folders = (env["PATH"] ?? "").split(":").filter((folder) => isAbsolute(folder));
  return [...FIXED_PLACES, ...folders.map((folder) => join(folder, "bash")), "/bin/sh"].find(exists);
}

/** For callers that pass no environment: enough to find programs and the home folder, nothing else. */
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
 * The environment of a command nobody sits in front of: pagers print, editors leave the text as it is,
 * password prompts fail, the terminal is `dumb`. `CI` and `NO_COLOR` stay as they are, because programs under
 * test behave differently with them.
 */
export function unattendedEnvironment(env: Environment): Environment {
  return { ...env, ...UNATTENDED };
}
