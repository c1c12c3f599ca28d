import { existsSync } from "node:fs";
import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  RequestError,
  type SendRequestOptions,
} from "@agentclientprotocol/sdk";
import type { SessionPorts } from "../../coding/session/coding-session.ts";
import { isRecord } from "../../core/base/json.ts";
import { singleQuote } from "../../core/base/text.ts";
import type { FilePort } from "../../tools/files/file-state.ts";
import type { PortCommand, PortCommandEnd, ShellPort } from "../../tools/shell/shell-ports.ts";

export function clientPorts(
  client: AgentContext,
  sessionId: string,
  capabilities: ClientCapabilities | undefined,
): SessionPorts {
  const { fs, terminal } = capabilities ?? {};
  const { readTextFile, writeTextFile } = methods.client.fs;
  const files: FilePort = {
    ...(fs?.readTextFile === true && {
      readText: async (path, { signal }) => {
        const response = client.request(readTextFile, { sessionId, path }, untilAborted(signal));
        // A file unknown to the editor is read from disk, where a missing one gets its own error.
        const content = stringOrUndefined((await response.catch(() => undefined))?.content);
        // Some editors report missing files as empty: then it can be created without having been read.
        return content === "" && !existsSync(path) ? undefined : content;
      },
    }),
    ...(fs?.writeTextFile === true && {
      writeText: async (path, content, { signal }) => {
        await withEditorMessage(
          client.request(writeTextFile, { sessionId, path, content }, untilAborted(signal)),
        );
      },
    }),
  };
  const shell: ShellPort = { run: (command) => runInTerminal(client, sessionId, command) };
  return {
    ...(files.readText === undefined && files.writeText === undefined ? {} : { files }),
    ...(terminal === true ? { shell } : {}),
  };
}

function untilAborted(cancellationSignal: AbortSignal): SendRequestOptions {
  return { cancellationSignal, stopWaitingOnCancel: true };
}

/** The protocol library does not validate an editor's answers. */
function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Awaits an editor's answer; a rejection includes the editor's own message. */
async function withEditorMessage<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const data = error instanceof RequestError && isRecord(error.data) ? error.data : {};
    const { details } = data;
    throw typeof details === "string" ? new Error(details, { cause: error }) : error;
  }
}

/**
 * Program and arguments for a command line. Some editors join them with blanks, unquoted, for a shell of
 * their own: there the word after `-c` ends at the line feed, and the rest is a separate command. Either way
 * bash reads the line, once and in full.
 */
function terminalCommand(line: string, unset: readonly string[]): readonly string[] {
  const bash = [
    ...(unset.length === 0 ? [] : ["env"]),
    ...unset.flatMap((name) => ["-u", name]),
    "bash",
    "-c",
  ];
  return [...bash, `:\nexec ${bash.join(" ")} ${singleQuote(line)}`];
}

async function runInTerminal(
  client: AgentContext,
  sessionId: string,
  { command, cwd, env, unset, maxOutputBytes, signal, onTerminal }: PortCommand,
): Promise<PortCommandEnd> {
  signal.throwIfAborted();
  const [program = "bash", ...args] = terminalCommand(command, unset);
  const terminal = await withEditorMessage(
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
    const exitCode = Number.isInteger(exit.exitCode) ? Number(exit.exitCode) : null;
    return {
      output: stringOrUndefined(output) ?? "",
      exitCode,
      signal: stringOrUndefined(exit.signal) ?? null,
      isTruncated: truncated === true,
    };
  } finally {
    signal.removeEventListener("abort", onAbort);
    // The command has ended, whatever the editor replies.
    terminal.release().catch(() => undefined);
  }
}
