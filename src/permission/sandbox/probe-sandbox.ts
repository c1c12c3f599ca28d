import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { newId } from "../../core/base/ids.ts";
import { makePrivateFolders } from "../../system/private-folders.ts";
import type { Confiner } from "./confined-start.ts";

/** Longest wait for the trial. */
const PATIENCE_MS = 20_000;
const SHELL = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";

/** The setting by which root could have the kernel start a program, outside of every sandbox. */
const KERNEL_SETTING = "/proc/sys/kernel/core_pattern";

/**
 * Tries a sandbox with a real command: it must run, a file in `folder` must not come into being, settings of
 * the kernel must not be writable, and a server of this process must not be reached. What is wrong, or
 * `undefined`.
 */
export async function probeSandbox(
  sandbox: Confiner,
  { folder }: { readonly folder: string },
): Promise<string | undefined> {
  makePrivateFolders(folder);
  const file = join(folder, newId("sandbox-probe-"));
  const server = createServer();
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    socket.destroy();
  });
  await listening(server);
  const { port } = server.address() as AddressInfo;
  try {
    const shown = await runInside(
      sandbox,
      `(: > ${JSON.stringify(file)}) 2>/dev/null; (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; [ -w ${KERNEL_SETTING} ] && echo writes; echo ran`,
      folder,
    );
    if (existsSync(file)) return `The sandbox does not hold: a command wrote to ${folder}.`;
    if (connections > 0) return "The sandbox does not hold: a command reached a port of this machine.";
    if (shown.output.includes("writes"))
      return `The sandbox does not hold: a command can change settings of the system (${KERNEL_SETTING}).`;
    if (shown.output.trim().endsWith("ran")) return undefined;
    return `No command runs in the sandbox: ${whyNot(shown)}`;
  } finally {
    server.close();
    rmSync(file, { force: true });
  }
}

interface ProbeOutput {
  readonly output: string;
  readonly error: string;
}

async function runInside(sandbox: Confiner, command: string, cwd: string): Promise<ProbeOutput> {
  const start = await sandbox.wrap({ command, shell: SHELL, cwd });
  try {
    return await new Promise<ProbeOutput>((resolve) => {
      const env = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin" };
      const child = execFile(
        start.file,
        [...start.args],
        { cwd, env, timeout: PATIENCE_MS, killSignal: "SIGKILL", encoding: "utf8" },
        (error, stdout, stderr) =>
          resolve({ output: stdout, error: stderr.trim() || (error?.message ?? "") }),
      );
      child.stdin?.end();
    });
  } finally {
    start.release();
  }
}

function whyNot({ error }: ProbeOutput): string {
  const line = error.split("\n").at(-1)?.slice(0, 300) ?? "";
  const text = line === "" ? "it ended without a word." : `${line}.`;
  if (!/namespace|uid map|setting up|operation not permitted|permission denied/i.test(error)) return text;
  return `${text} This system lets you make no user namespaces: in a container, run it with the right to (not as a nested one); on Ubuntu, see kernel.apparmor_restrict_unprivileged_userns; elsewhere kernel.unprivileged_userns_clone.`;
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
}
