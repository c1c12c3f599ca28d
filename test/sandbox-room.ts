import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { SandboxManager } from "@anthropic-ai/sandbox-runtime";
import { onTestFinished } from "vitest";
import { openSandbox, type Sandbox, type SandboxOptions } from "../src/permission/sandbox/sandbox.ts";
import { openShellRoom, type ShellRoom } from "./shell-room.ts";
import { tempFolder } from "./temp-folder.ts";

/**
 * Why the real sandbox cannot be tried here; empty when its programs are there and the system lets them work.
 */
export function missingForSandbox(): string {
  if (process.platform !== "linux") return "these tests know the sandbox of Linux only";
  const missing = ["bwrap", "socat", "rg"].filter((program) => !isOnPath(program));
  if (missing.length > 0) return `needs ${missing.join(", ")} (Debian: bubblewrap socat ripgrep)`;
  const namespaces = [
    "--ro-bind",
    "/",
    "/",
    "--unshare-user",
    "--unshare-net",
    "--unshare-pid",
    "--proc",
    "/proc",
  ];
  const { status, stderr } = spawnSync("bwrap", [...namespaces, "true"], { encoding: "utf8" });
  return status === 0 ? "" : `bwrap may not make namespaces here: ${stderr.trim()}`;
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(":").some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A shell whose commands are confined. `outside` is a folder they may not write to. */
export interface SandboxRoom extends ShellRoom {
  readonly sandbox: Sandbox;
  readonly outside: string;
}

/** Opens it with a real runtime; it ends with the test. Throws the reason where it does not work. */
export async function openSandboxRoom(
  options: Partial<SandboxOptions> = {},
  prepare: (workspace: string) => void = () => undefined,
): Promise<SandboxRoom> {
  const [workspace, outside, temporary] = [tempFolder(), tempFolder(), tempFolder()];
  prepare(workspace);
  const probeFolder = join(outside, "probe");
  mkdirSync(probeFolder);
  const opened = await openSandbox({
    runtime: SandboxManager,
    workspace: [workspace],
    temporary,
    home: outside,
    probeFolder,
    ...options,
  });
  if ("problem" in opened) throw new Error(opened.problem);
  const { sandbox } = opened;
  onTestFinished(() => sandbox.dispose());
  const room = openShellRoom({ sandbox });
  return {
    ...room,
    sandbox,
    outside,
    cwd: workspace,
    bash: (input, call) => room.bash(input, { cwd: workspace, ...call }),
  };
}

/** A command line that asks the proxy of its sandbox, once that listens, for a host, and fails. */
export function askFor(host: string): string {
  const request = `CONNECT ${host}:443 HTTP/1.1\\r\\nHost: ${host}\\r\\nProxy-Authorization: Basic %s\\r\\n\\r\\n`;
  const secret = `printf %s "$HTTPS_PROXY" | sed 's|http://||; s|@.*||; s|%3D|=|g' | tr -d '\\n' | base64 -w0`;
  const connect = "until { exec 3<>/dev/tcp/127.0.0.1/3128; } 2>/dev/null; do sleep 0.01; done";
  return `${connect}; printf '${request}' "$(${secret})" >&3; head -n 1 <&3; exit 1`;
}
