import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Sandbox } from "../src/permission/sandbox/open-sandbox.ts";
import { openSandbox } from "../src/permission/sandbox/open-sandbox.ts";
import type { SandboxOptions } from "../src/permission/sandbox/sandbox-limits.ts";
import type { ShellOptions } from "../src/tools/shell/shell-session.ts";
import { openShellRoom, type ShellRoom } from "./shell-room.ts";
import { tempFolder } from "./temp-folder.ts";

/** Why the real sandbox cannot be tried here; empty when the system lets it work. */
export function missingForSandbox(): string {
  if (process.platform !== "linux") return "these tests know the sandbox of Linux only";
  const missing = ["bwrap", "nsenter"].filter((program) => !isOnPath(program));
  if (missing.length > 0) return `needs ${missing.join(", ")} (Debian: bubblewrap util-linux)`;
  const namespaces = ["--ro-bind", "/", "/", "--unshare-user", "--unshare-net", "--unshare-pid"];
  const { status, stderr } = spawnSync("bwrap", [...namespaces, "--proc", "/proc", "true"], {
    encoding: "utf8",
  });
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

/** A shell whose commands are confined. `home` is a folder they may read and not write to. */
export interface SandboxRoom extends ShellRoom {
  readonly sandbox: Sandbox;
  readonly home: string;
}

/** How a room is opened. */
export interface SandboxRoomOptions {
  readonly sandbox?: Partial<SandboxOptions>;
  readonly shell?: ShellOptions;
  readonly prepare?: (workspace: string, home: string) => void;
}

/** Opens it with the real sandbox; it ends with the test. Throws the reason where it does not work. */
export async function openSandboxRoom(options: SandboxRoomOptions = {}): Promise<SandboxRoom> {
  const [workspace, home] = [tempFolder(), tempFolder()];
  options.prepare?.(workspace, home);
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home };
  const opened = await openSandbox({ workspace: [workspace], home, environment, ...options.sandbox });
  if ("problem" in opened) throw new Error(opened.problem);
  const { sandbox } = opened;
  onTestFinished(() => sandbox.dispose());
  const room = openShellRoom({ sandbox, ...options.shell, env: { HOME: home, ...options.shell?.env } });
  const cwd = options.sandbox?.workspace?.[0] ?? workspace;
  return { ...room, sandbox, home, cwd, bash: (input, call) => room.bash(input, { cwd, ...call }) };
}
