import { existsSync } from "node:fs";
import { assertEngine, errorMessage, isNanoAgentError } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { FromJsonSchema } from "../core/base/schema.ts";
import { pluralize } from "../core/base/text.ts";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "../core/tool/tool.ts";
import { errorResult } from "../core/tool/tool-output.ts";
import { systemCode } from "../system/system-error.ts";
import { redactedInputProblem } from "./files/file-error.ts";
import {
  describeDuration,
  describeExit,
  listProcesses,
  outputLines,
  shorten,
} from "./shell/describe-result.ts";
import type { OutputText } from "./shell/output-buffer.ts";
import type { ProcessInfo } from "./shell/process-table.ts";
import { runInPort } from "./shell/run-in-port.ts";
import type { RunningCommand } from "./shell/shell-process.ts";
import { type ResolvedPlacement, type ShellOptions, ShellSession } from "./shell/shell-session.ts";

/** `bash` and `job` for one session, and the means to end everything they started. */
export interface BashTools {
  readonly bash: Tool;
  readonly job: Tool;
  /** `[bash, job]`. */
  readonly tools: readonly Tool[];
  /** Runs a command for a person. `exitCode` is null if it was killed. Rejects if it cannot be started. */
  run(
    command: string,
    options: { readonly cwd: string; readonly signal: AbortSignal },
  ): Promise<{ readonly output: string; readonly exitCode: number | null }>;
  /**
   * The exit codes of the background jobs that have ended (null: by a signal), kept up to date. `onEnd` is
   * called for each and replaces any earlier `onEnd`.
   */
  watchJobs(onEnd: () => void): ReadonlyMap<string, number | null>;
  /** Does the setup the first command would otherwise wait for. Optional; never rejects. */
  prepare(): Promise<void>;
  /**
   * Ends jobs, running commands and whatever commands left behind (TERM, then KILL), and removes the
   * temporary folder. Later calls return an error. Does not reject if processes refuse to die.
   */
  dispose(): Promise<void>;
  /** {@link BashTools.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
  /** Kills all of that without waiting: for an exit hook, which cannot await anything. */
  killNow(): void;
}

/**
 * Makes the shell tools for one session. They read nothing from this process's environment: pass `env`. Call
 * `dispose` when the session ends.
 */
export function createBashTools(options: ShellOptions = {}): BashTools {
  const session = new ShellSession(options);
  const bash = createBashTool(session);
  const job = createJobTool(session);
  return {
    bash,
    job,
    tools: [bash, job],
    run: (command, options) => runCommand(session, command, options),
    watchJobs: (onEnd) => session.watchJobs(onEnd),
    prepare: () => session.prepare(),
    dispose: () => session.dispose(),
    [Symbol.asyncDispose]: () => session.dispose(),
    killNow: () => session.killNow(),
  };
}

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
/** Longer than the maximum time between TERM and KILL, so that an aborted call can report how it ended. */
const ABORT_GRACE_MS = 7000;

type Ending = "exited" | "timed_out" | "aborted" | "too_much_output";

/**
 * The `bash` tool. A non-zero exit code is an error result that shows the output: the model decides what it
 * means. `metadata` holds `exitCode`, `signal`, `durationMs`, `outputBytes`, `outputPath`, `jobId` and the
 * `processes` left running, whichever apply.
 */
function createBashTool(session: ShellSession): Tool {
  assertEngine();
  return defineTool({
    name: "bash",
    description:
      "Runs a shell command. No stdin, no terminal. Long output is cut in the middle and kept whole in a file.",
    parameters: PARAMETERS,
    access: "exclusive",
    timeoutMs: 0,
    abortGraceMs: ABORT_GRACE_MS,
    execute: (input, context) => runBash(session, input, context),
  });
}

const PARAMETERS = {
  type: "object",
  properties: {
    command: { type: "string" },
    timeout_ms: { type: "integer", description: "default 120000" },
    background: { type: "boolean", description: "returns a job id" },
    access: { type: "string", description: "network, or full: no sandbox" },
    reason: { type: "string" },
  },
  required: ["command"],
} as const;

const ACCESS = ["network", "full"];

type BashInput = FromJsonSchema<typeof PARAMETERS>;

async function runBash(session: ShellSession, input: BashInput, context: ToolContext): Promise<ToolResult> {
  const problem = inputProblem(input);
  if (problem !== undefined) return errorResult(problem);
  if (context.signal.aborted) return errorResult("The command was not started: the run was aborted.");
  let placement: ResolvedPlacement;
  try {
    placement = await session.resolvePlacement(input);
  } catch (error) {
    return errorResult(errorMessage(error));
  }
  const timeoutMs = Math.min(input.timeout_ms ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  const { port } = session;
  if (port !== undefined && placement.runs === "outside" && input.background !== true)
    return runInPort(session, { port, command: input.command, env: placement.env, timeoutMs }, context);
  const live = input.background === true ? undefined : new LiveUpdate((text) => context.update(text));
  const full = Promise.withResolvers<void>();
  let running: RunningCommand;
  try {
    running = await session.start({
      command: input.command,
      cwd: context.cwd,
      placement,
      signal: context.signal,
      onText: (text) => live?.push(text),
      onFull: full.resolve,
    });
  } catch (error) {
    return errorResult(startProblem(error, input.command, context.cwd));
  }
  if (live === undefined) return backgroundResult(session, running);
  try {
    const ending = await waitForEnd(running, timeoutMs, context.signal, full.promise);
    return await commandResult(session, running, ending);
  } finally {
    live.stop();
  }
}

const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Runs a person's command outside the sandbox, without notes. Rejects if it cannot be started. */
async function runCommand(
  session: ShellSession,
  command: string,
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<{ readonly output: string; readonly exitCode: number | null }> {
  const full = Promise.withResolvers<void>();
  const running = await session.start({ command, cwd, onFull: full.resolve });
  const ending = await waitForEnd(running, NO_TIMEOUT_MS, signal, full.promise);
  const left = ending === "exited" ? await running.findProcesses() : [];
  if (ending !== "exited") await running.end(session.graceMs);
  if (left.length > 0) session.moveToBackground(running, true);
  else await session.finish(running);
  const { text } = await running.readOutput();
  return { output: text, exitCode: ending === "exited" ? (running.exit?.code ?? null) : null };
}

function inputProblem({ command, timeout_ms, access, reason }: BashInput): string | undefined {
  if (typeof command !== "string") return `command is ${typeof command}; pass the shell command as a string.`;
  if (command.trim() === "") return "command is empty; pass a shell command.";
  const redacted = redactedInputProblem("command", command);
  if (redacted !== undefined) return redacted;
  if (command.includes("\0")) return "command contains a NUL character, which no command can; leave it out.";
  if (timeout_ms !== undefined && !(timeout_ms > 0)) {
    return `timeout_ms is ${timeout_ms}; pass milliseconds from 1 to ${MAX_TIMEOUT_MS}, or leave it out.`;
  }
  if (access === undefined) return undefined;
  if (!ACCESS.includes(access))
    return `access is ${JSON.stringify(access)}; pass "network" (inside the sandbox, with the network) or "full" (outside of it), or leave it out.`;
  if (typeof reason !== "string" || reason.trim() === "")
    return `access "${access}" needs a reason: say in one sentence why, for the user who decides. Nothing was run.`;
  return undefined;
}

function startProblem(error: unknown, command: string, cwd: string): string {
  if (isNanoAgentError(error)) return error.message;
  const code = systemCode(error);
  if (cwd !== "" && !existsSync(cwd))
    return `The working folder ${cwd} does not exist any more; nothing was run.`;
  if (code === "E2BIG") {
    const bytes = new TextEncoder().encode(command).length;
    return `The command is too long for the system (${bytes} bytes); write it to a file and run the file.`;
  }
  if (code === "EAGAIN" || code === "ENOMEM" || code === "EMFILE" || code === "ENFILE") {
    return `The system cannot start another process now (${code}); end some that are running, then try again.`;
  }
  if (code === "EACCES" || code === "ENOTDIR") {
    return `The command cannot be started in ${cwd} (${code}); check that it is a folder you may enter.`;
  }
  return `The command cannot be started: ${errorMessage(error)}.`;
}

function waitForEnd(
  running: RunningCommand,
  timeoutMs: number,
  signal: AbortSignal,
  full: Promise<void>,
): Promise<Ending> {
  return new Promise((resolve) => {
    const settle = (ending: Ending): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(ending);
    };
    const onAbort = (): void => settle("aborted");
    const timer = setTimeout(() => settle("timed_out"), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    void full.then(() => settle("too_much_output"));
    // Once the shell has exited, only its output is drained: the timeout no longer applies.
    void running.exited.then(() => clearTimeout(timer));
    void running.waitForOutput().then(() => settle("exited"));
  });
}

async function commandResult(
  session: ShellSession,
  running: RunningCommand,
  ending: Ending,
): Promise<ToolResult> {
  const ranMs = running.durationMs;
  const hasExited = ending === "exited";
  const left = hasExited ? await running.findProcesses() : await running.end(session.graceMs);
  if (!hasExited || left.length === 0) await session.finish(running);
  const output = await running.readOutput();
  const exit = running.exit ?? { code: null, signal: null };
  const state = hasExited ? describeExit(exit) : ending;
  const lines = [
    hasExited ? `[${state}, ${describeDuration(ranMs)}]` : `[${stopReason(ending, ranMs, session)}]`,
  ];
  lines.push(...(await session.notes(running, output.text)));
  const jobId = hasExited && left.length > 0 ? session.moveToBackground(running, true) : undefined;
  if (jobId !== undefined) lines.push(leftoverLines(left, jobId));
  else if (left.length > 0) lines.push(`[These could not be ended:]\n${listProcesses(left)}`);
  return {
    content: outputLines(output) + lines.join("\n"),
    isError: !hasExited || exit.code !== 0,
    title: state.replaceAll("_", " "),
    essence: essenceOf(state, output),
    metadata: {
      ...commandMetadata(running, output),
      ...(jobId === undefined
        ? {}
        : { jobId, processes: left.map(({ pid, command }) => ({ pid, command })) }),
      ...(hasExited ? {} : { ended: ending }),
    },
  };
}

/** Output and ending without what differs each time: the duration and the file name. */
function essenceOf(ended: string, { text, path }: OutputText): string {
  return `${ended}\n${path === undefined ? text : text.replaceAll(path, "")}`;
}

function leftoverLines(left: readonly ProcessInfo[], jobId: string): string {
  const what = pluralize(left.length, "process", "processes");
  return `[${what} of this command still running as ${jobId}, until the session ends:]\n${listProcesses(left)}`;
}

function stopReason(ending: Exclude<Ending, "exited">, ranMs: number, session: ShellSession): string {
  const after = `after ${describeDuration(ranMs)}; the command and all it started were ended`;
  if (ending === "aborted") return `aborted ${after}`;
  if (ending === "timed_out") {
    return `timed out ${after}. Pass a longer timeout_ms (milliseconds), or background: true`;
  }
  return `stopped ${after}: it wrote more than ${session.limits.fileBytes} bytes. Filter the output, or write it to a file`;
}

function backgroundResult(session: ShellSession, running: RunningCommand): ToolResult {
  const id = session.moveToBackground(running, false);
  const { pid } = running;
  return {
    content: `Started as ${id} (pid ${pid}). It ends with the session; the job tool shows its output and ends it earlier.`,
    title: id,
    metadata: { jobId: id, pid },
  };
}

function commandMetadata(running: RunningCommand, output: OutputText): NonNullable<ToolResult["metadata"]> {
  const { exit } = running;
  return {
    ...omitUndefined({ exitCode: exit?.code, signal: exit?.signal }),
    durationMs: Math.round(running.durationMs),
    outputBytes: output.totalBytes,
    ...omitUndefined({ outputPath: output.path }),
  };
}

const INTERVAL_MS = 100;
const MAX_CHARS = 8000;

/** Forwards text as it arrives, at most ten times a second and at most a screen or two at once. */
class LiveUpdate {
  readonly #publish: (text: string) => void;
  #pending = "";
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(publish: (text: string) => void) {
    this.#publish = publish;
  }

  push(text: string): void {
    if (this.#isStopped) return;
    this.#pending = (this.#pending + text.slice(-MAX_CHARS)).slice(-MAX_CHARS);
    this.#timer ??= setTimeout(() => this.#flush(), INTERVAL_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #flush(): void {
    const text = this.#pending.toWellFormed();
    this.#pending = "";
    this.#timer = undefined;
    this.#publish(text);
  }
}

function createJobTool(session: ShellSession): Tool {
  return defineTool({
    name: "job",
    description: "Background commands: list them, show new output, kill one.",
    parameters: {
      type: "object",
      properties: { action: { type: "string", enum: ["list", "output", "kill"] }, id: { type: "string" } },
      required: ["action"],
    },
    access: "none",
    changesFiles: false,
    timeoutMs: 0,
    abortGraceMs: ABORT_GRACE_MS,
    execute: ({ action, id }) => runJob(session, action, id),
  });
}

async function runJob(session: ShellSession, action: string, id: string | undefined): Promise<ToolResult> {
  if (action === "list") return listJobs(session);
  if (id === undefined) return errorResult(`action "${action}" needs an id. ${jobsHint(session)}`);
  const job = session.jobs.get(id);
  if (job === undefined) return errorResult(`There is no job ${JSON.stringify(id)}. ${jobsHint(session)}`);
  return action === "output" ? showOutput(session, id, job) : killJob(session, id, job);
}

function jobsHint({ jobs }: ShellSession): string {
  return jobs.size === 0 ? "No command runs in the background." : `Jobs: ${[...jobs.keys()].join(", ")}.`;
}

async function listJobs({ jobs }: ShellSession): Promise<ToolResult> {
  if (jobs.size === 0) return { content: "No jobs.", title: "0 jobs" };
  const lines = await Promise.all(
    [...jobs].map(
      async ([id, job]) => `${id}: ${jobState(job, await job.findProcesses())}: ${shorten(job.command)}`,
    ),
  );
  return { content: lines.join("\n"), title: pluralize(jobs.size, "job") };
}

async function showOutput(session: ShellSession, id: string, job: RunningCommand): Promise<ToolResult> {
  const processes = await job.findProcesses();
  const output = await job.readOutput();
  const state = jobState(job, processes);
  const lines = [`[${id}: ${state}]`];
  if (job.exit !== undefined) lines.push(...(await session.notes(job, output.text)));
  if (job.exit !== undefined && processes.length > 0) lines.push(listProcesses(processes));
  return {
    content: outputLines(output, "(no new output)") + lines.join("\n"),
    title: state,
    metadata: jobMetadata(id, job, processes),
  };
}

async function killJob({ graceMs }: ShellSession, id: string, job: RunningCommand): Promise<ToolResult> {
  const before = await job.findProcesses();
  const left = await job.end(graceMs);
  const output = await job.readOutput();
  const done = before.length === 0 ? "had ended already" : "ended";
  const state = left.length === 0 ? done : `could not be ended:\n${listProcesses(left)}`;
  return {
    content: `${outputLines(output, "(no new output)")}[${id}: ${state}]`,
    isError: left.length > 0,
    title: done,
    metadata: jobMetadata(id, job, left),
  };
}

function jobState({ exit, durationMs }: RunningCommand, { length }: readonly ProcessInfo[]): string {
  if (exit === undefined) return `running for ${describeDuration(durationMs)}`;
  const ended = `${describeExit(exit)} after ${describeDuration(durationMs)}`;
  return length === 0 ? ended : `${ended}, ${length} of its processes still running`;
}

function jobMetadata(
  jobId: string,
  { exit }: RunningCommand,
  processes: readonly ProcessInfo[],
): NonNullable<ToolResult["metadata"]> {
  return {
    jobId,
    ...(exit !== undefined && { exitCode: exit.code, signal: exit.signal }),
    processes: processes.map(({ pid, command }) => ({ pid, command })),
  };
}
