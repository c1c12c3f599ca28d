import { type AgentContext, type ClientCapabilities, methods, RequestError } from "@agentclientprotocol/sdk";
import type { SessionPorts } from "../../app/coding-session/coding-session.ts";
import { isRecord } from "../../core/base/json.ts";
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
            await told(client.request(methods.client.fs.writeTextFile, { sessionId, path, content }));
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

/** The answer of an editor; where it fails, its own words stand in the message. */
async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const data = error instanceof RequestError && isRecord(error.data) ? error.data : {};
    const { details } = data;
    throw typeof details === "string" ? new Error(details, { cause: error }) : error;
  }
}

async function runInTerminal(
  client: AgentContext,
  sessionId: string,
  { command, cwd, env, unset, maxOutputBytes, signal, onTerminal }: PortCommand,
): Promise<PortCommandEnd> {
  signal.throwIfAborted();
  const bash = ["bash", "-c", command];
  const [program = "bash", ...args] =
    unset.length === 0 ? bash : ["env", ...unset.flatMap((name) => ["-u", name]), ...bash];
  await using terminal = await told(
    client.createTerminal({
      sessionId,
      command: program,
      args,
      cwd,
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
      outputByteLimit: maxOutputBytes,
    }),
  );
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
