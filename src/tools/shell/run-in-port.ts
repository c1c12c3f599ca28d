import { raceAbort } from "../../core/base/async.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { truncateMiddle } from "../../core/base/text.ts";
import type { ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";
import type { Environment } from "../../system/env.ts";
import { describeDuration, describeExit } from "./describe-result.ts";
import type { PortCommand, PortCommandEnd, ShellPort } from "./shell-ports.ts";
import type { ShellSession } from "./shell-session.ts";

interface PortRun {
  readonly port: ShellPort;
  readonly command: string;
  readonly env: Environment;
  readonly timeoutMs: number;
}

/** Runs a command in the terminal of an editor; the result is that of `bash`. */
export async function runInPort(
  session: ShellSession,
  { port, command, env, timeoutMs }: PortRun,
  context: ToolContext,
): Promise<ToolResult> {
  const startedAt = performance.now();
  const maxBytes = session.limits.headBytes + session.limits.tailBytes;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const signal = AbortSignal.any([context.signal, timeout.signal]);
  const metadata: { terminal?: string } = {};
  let end: PortCommandEnd;
  try {
    const running = port.run({
      command,
      cwd: context.cwd,
      ...variablesOf(session, env),
      maxOutputBytes: maxBytes,
      signal,
      onText: (text) => context.update(text),
      onTerminal: (id) => {
        metadata.terminal = id;
        context.update({ metadata: { terminal: id } });
      },
    });
    // A port that never reports the end of the command must not block.
    end = await raceAbort(running, signal, session.graceMs);
  } catch (error) {
    if (!signal.aborted)
      return errorResult(`The command cannot be started in the editor: ${errorMessage(error)}.`);
    end = { output: "", exitCode: null };
  } finally {
    clearTimeout(timer);
  }
  const durationMs = Math.round(performance.now() - startedAt);
  const { exitCode, signal: name = null } = end;
  let state = exitCode === null && name === null ? "ended" : "";
  if (signal.aborted) state = signal.reason === timeout.signal.reason ? "timed out" : "aborted";
  state ||= describeExit({ code: exitCode, signal: name as NodeJS.Signals | null });
  const text = session.redact?.text(end.output) ?? end.output;
  const shown = truncateMiddle(text, { maxBytes }).replace(/\n$/, "");
  const lines = [
    ...(end.isTruncated === true ? ["[The beginning of the output is missing.]"] : []),
    shown === "" ? "(no output)" : shown,
    `[${state}, ${describeDuration(durationMs)}]`,
  ];
  return {
    content: lines.join("\n"),
    isError: exitCode !== 0,
    title: state,
    essence: `${state}\n${text}`,
    metadata: { exitCode, signal: name, durationMs, ...metadata },
  };
}

/** Variables the command sees, and those that the editor's own environment must not add. */
function variablesOf(session: ShellSession, visible: Environment): Pick<PortCommand, "env" | "unset"> {
  const env: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(visible)) if (value !== undefined) env[name] = value;
  return { env, unset: Object.keys(session.env).filter((name) => !Object.hasOwn(env, name)) };
}
