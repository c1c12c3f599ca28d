import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import type { ConfinedStart, Confiner, Variables } from "./confined-start.ts";

/** The setting by which root could have the kernel start a program, outside of every sandbox. */
const KERNEL_SETTING = "/proc/sys/kernel/core_pattern";
const PATIENCE_MS = 20_000;

/** Where a sandbox is tried. */
export interface Trial {
  readonly cwd: string;
  /** A folder outside of the limits. */
  readonly outside: string;
  readonly env: Variables;
}

/**
 * Tries a sandbox with a real command: it must run, a file outside must not come into being, settings of the
 * kernel must not be writable, and a server of this process must not be reached. What is wrong, or undefined.
 */
export async function trySandbox(
  sandbox: Confiner,
  { cwd, outside, env }: Trial,
): Promise<string | undefined> {
  const file = join(outside, "written-from-inside");
  const server = createServer();
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    socket.destroy();
  });
  await listening(server);
  const { port } = server.address() as AddressInfo;
  const command = `(: >'${file.replaceAll("'", "'\\''")}') 2>/dev/null; (: <>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; [ -w ${KERNEL_SETTING} ] && echo writes; echo ran`;
  try {
    const { output, errors } = await outputOf(await sandbox.wrap({ command, cwd, env }));
    if (existsSync(file)) return "it holds nothing back: a command wrote outside of the workspace";
    if (connections > 0) return "it holds nothing back: a command reached a port of this machine";
    if (output.includes("writes")) return `it holds nothing back: a command could change ${KERNEL_SETTING}`;
    return output.trim() === "ran" ? undefined : errors.trim() || "no command runs in it";
  } finally {
    server.close();
    rmSync(file, { force: true });
  }
}

interface TrialOutput {
  readonly output: string;
  readonly errors: string;
}

async function outputOf(start: ConfinedStart): Promise<TrialOutput> {
  const child = spawn(start.file, [...start.args], {
    cwd: start.cwd,
    env: start.env,
    stdio: ["ignore", "pipe", "pipe", ...start.descriptors],
    detached: true,
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  let [output, errors] = ["", ""];
  child.stdout?.on("data", (bytes: Buffer) => (output += bytes.toString()));
  child.stderr?.on("data", (bytes: Buffer) => (errors += bytes.toString()));
  const closed = new Promise<void>((resolve) => {
    child.on("error", (error) => {
      errors += error.message;
      resolve();
    });
    child.on("close", () => resolve());
  });
  try {
    await start.begin(child);
    await closed;
  } catch (error) {
    await closed;
    errors ||= String(error instanceof Error ? error.message : error);
  } finally {
    await start.settle();
  }
  return { output, errors };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
}
