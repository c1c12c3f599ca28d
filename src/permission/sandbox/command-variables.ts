import { join } from "node:path";
import type { Variables } from "./confined-start.ts";

/** Agents, displays and sockets of the session: none of them is in reach. */
const OF_THE_DESKTOP =
  /^(?:DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|DBUS_\w+|SSH_(?:AUTH_SOCK|AGENT_PID|ASKPASS)|GPG_AGENT_INFO|GIT_ASKPASS|TMUX\w*|STY|DOCKER_HOST|WSL_INTEROP|VSCODE_\w+|KRB5CCNAME)$/;

/** With these Bash would start without the file that waits for the mounts to be checked. */
const OF_BASH = /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|POSIX_PEDANTIC)$/;

/** Variables of tool chains for their caches, and the folder of each. */
const CACHES: { readonly [name: string]: string } = {
  XDG_CACHE_HOME: ".",
  npm_config_cache: "npm",
  YARN_CACHE_FOLDER: "yarn",
  GOCACHE: "go-build",
  PIP_CACHE_DIR: "pip",
  UV_CACHE_DIR: "uv",
  CCACHE_DIR: "ccache",
};

/** The variables of a confined command. Without a network package managers do not retry for a minute. */
export function commandVariables(
  env: Variables,
  { temporary, cache }: { readonly temporary: string; readonly cache: string },
  network: boolean,
): Variables {
  const kept = Object.entries(env).filter(([name]) => !OF_THE_DESKTOP.test(name) && !OF_BASH.test(name));
  const caches = Object.entries(CACHES).map(([name, folder]) => [name, join(cache, folder)]);
  return {
    ...Object.fromEntries([...kept, ...caches]),
    TMPDIR: temporary,
    TMP: temporary,
    TEMP: temporary,
    ...(network ? {} : { npm_config_fetch_retries: "0", PIP_RETRIES: "0" }),
  };
}
