import { orAborted } from "../../core/base/async.ts";
import { errorMessage } from "../../core/base/errors.ts";
import { truncateMiddle } from "../../core/base/text.ts";
import type { ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";
import type { Environment, PortCommand, PortCommandEnd, ShellPort } from "./ports.ts";
import { describeDuration, describeExit } from "./report.ts";
import type { ShellSession } from "./shell-session.ts";

export interface PortRun {
  readonly port: ShellPort;
  readonly input: { readonly command: string };
  readonly env: Environment;
  readonly timeoutMs: number;
}

/** Runs a command in the terminal of an editor; the result is that of `bash`. */
export async function runInPort(
  session: ShellSession,
  run: PortRun,
  context: ToolContext,
): Promise<ToolResult> {
  const startedAt = performance.now();
  const ended = new AbortController();
  const onAbort = (): void => ended.abort(context.signal.reason);
  context.signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => ended.abort(TIMED_OUT), run.timeoutMs);
  const metadata: { terminal?: string } = {};
  try {
    const end = await start(session, run, { context, signal: ended.signal, metadata });
    const durationMs = Math.round(performance.now() - startedAt);
    return resultOf(session, end, { durationMs, state: stateOf(end, ended.signal), metadata });
  } catch (error) {
    return errorResult(`The command cannot be started in the editor: ${errorMessage(error)}.`);
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener("abort", onAbort);
  }
}

const TIMED_OUT = "timed out";

interface StartFacts {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
  readonly metadata: { terminal?: string };
}

async function start(
  session: ShellSession,
  { port, input, env }: PortRun,
  { context, signal, metadata }: StartFacts,
): Promise<PortCommandEnd> {
  try {
    const running = port.run({
      command: input.command,
      cwd: context.cwd,
      ...variablesOf(session, env),
      maxOutputBytes: maxBytes(session),
      signal,
      onText: (text) => context.update(text),
      onTerminal: (id) => {
        metadata.terminal = id;
        context.update({ metadata: { terminal: id } });
      },
    });
    // A port that never says that the command has ended holds nothing up.
    return await orAborted(running, signal, session.graceMs);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { output: "", exitCode: null };
  }
}

function resultOf(
  session: ShellSession,
  { output, exitCode, signal = null, isTruncated }: PortCommandEnd,
  {
    state,
    durationMs,
    metadata,
  }: {
    readonly state: string;
    readonly durationMs: number;
    readonly metadata: { readonly terminal?: string };
  },
): ToolResult {
  const text = session.redact?.text(output) ?? output;
  const shown = truncateMiddle(text, { maxBytes: maxBytes(session) }).replace(/\n$/, "");
  const lines = [
    ...(isTruncated === true ? ["[The beginning of the output is missing.]"] : []),
    shown === "" ? "(no output)" : shown,
    `[${state}, ${describeDuration(durationMs)}]`,
  ];
  return {
    content: lines.join("\n"),
    isError: exitCode !== 0,
    title: state,
    essence: `${state}\n${text}`,
    metadata: { exitCode, signal, durationMs, ...metadata },
  };
}

function stateOf({ exitCode, signal = null }: PortCommandEnd, { aborted, reason }: AbortSignal): string {
  if (aborted) return reason === TIMED_OUT ? TIMED_OUT : "aborted";
  if (exitCode === null && signal === null) return "ended";
  return describeExit({ code: exitCode, signal: signal as NodeJS.Signals | null });
}

function maxBytes({ limits }: ShellSession): number {
  return limits.headBytes + limits.tailBytes;
}

/** Variables the command sees, and what the editor's own environment must not add to that. */
function variablesOf(session: ShellSession, seen: Environment): Pick<PortCommand, "env" | "unset"> {
  const env = Object.entries(seen).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const names = new Set(env.map(([name]) => name));
  const unset = Object.keys(session.env).filter((name) => !names.has(name));
  return { env: Object.fromEntries(env), unset };
}
