import { errorMessage } from "../../core/base/errors.ts";
import { truncateMiddle } from "../../core/base/text.ts";
import { errorResult } from "../../core/tool/output.ts";
import type { ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { describeDuration, describeExit } from "./report.ts";
import type { PortCommandEnd, ShellPort } from "./shell-port.ts";
import type { ShellSession } from "./shell-session.ts";

/** How a command is run in a port. */
export interface PortRun {
  readonly port: ShellPort;
  readonly command: string;
  readonly timeoutMs: number;
}

/** Runs a command in the terminal of an editor and tells what came of it, as `bash` does of one it runs itself. */
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
  { port, command }: PortRun,
  { context, signal, metadata }: StartFacts,
): Promise<PortCommandEnd> {
  try {
    return await port.run({
      command,
      cwd: context.cwd,
      env: definedVariables(session.env),
      maxOutputBytes: maxBytes(session),
      signal,
      onText: (text) => context.update(text),
      onTerminal: (id) => {
        metadata.terminal = id;
        context.update({ metadata: { terminal: id } });
      },
    });
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

function definedVariables(env: ShellSession["env"]): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
