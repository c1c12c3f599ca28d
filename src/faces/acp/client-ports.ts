import { type AgentContext, type ClientCapabilities, methods } from "@agentclientprotocol/sdk";
import type { SessionPorts } from "../../app/coding-session/coding-session.ts";
import type { FilePort } from "../../tools/files/file-port.ts";
import type { PortCommand, PortCommandEnd, ShellPort } from "../../tools/shell/shell-port.ts";

/** The buffers and the terminal of an editor, as far as it offers them. */
export function clientPorts(
  client: AgentContext,
  sessionId: string,
  capabilities: ClientCapabilities | undefined,
): SessionPorts {
  const { fs, terminal } = capabilities ?? {};
  const files: FilePort = {
    ...(fs?.readTextFile === true ? { readText: (path) => readText(client, sessionId, path) } : {}),
    ...(fs?.writeTextFile === true
      ? {
          writeText: async (path, content) => {
            await client.request(methods.client.fs.writeTextFile, { sessionId, path, content });
          },
        }
      : {}),
  };
  const shell: ShellPort = { run: (command) => runInTerminal(client, sessionId, command) };
  return {
    ...(files.readText === undefined && files.writeText === undefined ? {} : { files }),
    ...(terminal === true ? { shell } : {}),
  };
}

async function readText(client: AgentContext, sessionId: string, path: string): Promise<string | undefined> {
  try {
    return (await client.request(methods.client.fs.readTextFile, { sessionId, path })).content;
  } catch {
    // What the editor does not know is read from the disk, where a missing file gets its own error.
    return undefined;
  }
}

async function runInTerminal(
  client: AgentContext,
  sessionId: string,
  { command, cwd, env, unset, maxOutputBytes, signal, onTerminal }: PortCommand,
): Promise<PortCommandEnd> {
  signal.throwIfAborted();
  await using terminal = await client.createTerminal({
    sessionId,
    ...(unset.length === 0
      ? { command: "bash", args: ["-c", command] }
      : { command: "env", args: [...unset.flatMap((name) => ["-u", name]), "bash", "-c", command] }),
    cwd,
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    outputByteLimit: maxOutputBytes,
  });
  onTerminal?.(terminal.id);
  const onAbort = (): void => {
    terminal.kill().catch(() => undefined);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const exit = await terminal.waitForExit();
    const { output, truncated } = await terminal.currentOutput();
    return { output, exitCode: exit.exitCode ?? null, signal: exit.signal ?? null, isTruncated: truncated };
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
