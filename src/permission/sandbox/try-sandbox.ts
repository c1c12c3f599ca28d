import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { errorMessage } from "../../core/base/errors.ts";
import type { CommandToConfine, ConfinedStart } from "./confined-start.ts";
import type { Sandbox } from "./sandbox.ts";

/** The setting by which root could have the kernel start a program, outside of every sandbox. */
const KERNEL_SETTING = "/proc/sys/kernel/core_pattern";
const PATIENCE_MS = 20_000;

/**
 * Tries a sandbox with a real command: it must run, a file in `outside` must not come into being, settings
 * of the kernel must not be writable, and a server of this process must not be reached. What is wrong, or
 * undefined.
 */
export async function trySandbox(
  sandbox: Sandbox,
  { outside, ...place }: Pick<CommandToConfine, "cwd" | "env"> & { readonly outside: string },
): Promise<string | undefined> {
  const file = join(outside, "written-from-inside");
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const command = `(: >"$OUTSIDE"; : <>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; [ -w ${KERNEL_SETTING} ] && echo writes; echo ran`;
  try {
    const env = { ...place.env, OUTSIDE: file };
    const output = await outputOf(await sandbox.wrap({ ...place, command, env }));
    if (existsSync(file)) return "it holds nothing back: a command wrote outside of the workspace";
    if (connections > 0) return "it holds nothing back: a command reached a port of this machine";
    if (output.includes("writes")) return `it holds nothing back: a command could change ${KERNEL_SETTING}`;
    return output === "ran\n" ? undefined : output.trim() || "no command runs in it";
  } finally {
    server.close();
  }
}

/** The output of a command, or what is said in its place. */
async function outputOf(start: ConfinedStart): Promise<string> {
  const child = spawn(start.file, [...start.args], {
    cwd: start.cwd,
    env: start.env,
    stdio: ["ignore", "pipe", "pipe", ...start.descriptors],
    detached: true,
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  const closed = once(child, "close").catch(errorMessage);
  const said = Promise.all(
    [child.stdout, child.stderr].map((pipe) => (pipe === null ? Promise.resolve("") : text(pipe))),
  );
  try {
    await start.begin(child);
    return (await said).join("");
  } catch (error) {
    return (await said).join("") || errorMessage(error);
  } finally {
    await closed;
    await start.settle();
  }
}
