import type { Agent } from "../../agent/agent.ts";
import type { RunOptions } from "../../agent/options.ts";
import type { ToolResultEntry } from "../../core/agent/entries.ts";
import type { RunResult } from "../../core/agent/result.ts";
import { pluralize } from "../../core/base/text.ts";
import { textOf } from "../../core/message/message.ts";
import { oneLine } from "../../view/call-text.ts";
import { NOT_RUN_REASONS, UNTIL_NOTE, type UntilNote } from "../../view/session-notes.ts";

export interface UntilOptions {
  readonly command: string;
  /** Failed rounds after which the run ends. */
  readonly maxRounds: number;
  /** Deadline of the run in `performance.now` time; `Infinity`: no limit. */
  readonly deadline: number;
  readonly agent: Agent;
  readonly signal: AbortSignal;
  readonly onEvent: NonNullable<RunOptions["onEvent"]>;
  /** Resumes the model; `undefined` when its turns are used up. */
  readonly resume: (reason: string, signal: AbortSignal) => Promise<RunResult | undefined>;
  readonly hasAnswered: (result: RunResult) => boolean;
}

export interface UntilResult {
  readonly result: RunResult;
  /** A sentence on what still fails; absent if the command succeeded or the run ended otherwise. */
  readonly failure?: string;
}

/** Characters from the end of the output that are sent to the model. */
const MAX_OUTPUT_CHARS = 4_000;
const MAX_COMMAND_MS = 600_000;
/** Longer timers fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs the command as a `bash` call after an answer, and resumes the model until it exits with 0. Giving the
 * command approves it: ask rules are skipped, deny rules hold.
 */
export async function enforceUntil(first: RunResult, options: UntilOptions): Promise<UntilResult> {
  const { command, maxRounds, deadline, agent, hasAnswered } = options;
  let result = first;
  for (let round = 1; hasAnswered(result); round++) {
    const remainingMs = deadline - performance.now();
    if (remainingMs < 1) return { result: timedOut(result) };
    const limit = withTimeout(remainingMs, options.signal);
    const call = await runCommand(options, Math.min(remainingMs, MAX_COMMAND_MS), limit);
    if (limit.aborted) return { result: abortedResult(options.signal, result) };
    // The call was refused; the outcome lists refusals.
    if (call === undefined || call.status === "denied") return { result };
    const { ended, exitCode, output, ms, changes } = call;
    const isOver = exitCode === 0 || couldNotRun(exitCode) || round > maxRounds;
    const told = isOver ? undefined : failureMessage(command, ended, output);
    const note: UntilNote = {
      command,
      callId: call.callId,
      round,
      most: maxRounds,
      exitCode,
      ms,
      ended,
      changes,
    };
    const entry = await agent.note(UNTIL_NOTE, { ...note, ...(told !== undefined && { told }) });
    options.onEvent(entry);
    if (exitCode === 0) return { result };
    if (told === undefined) return { result, failure: failureSummary(note, output) };
    const next = await options.resume(told, limit);
    if (next === undefined) return { result: withStopReason(result, "max_iterations") };
    result = limit.aborted && !options.signal.aborted ? timedOut(next) : next;
  }
  return { result };
}

/** Calls the command; `undefined` if it was refused before it could be recorded. */
async function runCommand({ command, agent, onEvent }: UntilOptions, timeoutMs: number, signal: AbortSignal) {
  let ended: ToolResultEntry | undefined;
  let changes = 0;
  await agent.callTool(
    "bash",
    { command, timeout_ms: Math.ceil(timeoutMs) },
    {
      signal,
      approve: () => true,
      onEvent: (event) => {
        if (event.type === "tool_result") ended = event;
        if (event.type === "checkpoint") changes += event.changes.length;
        onEvent(event);
      },
    },
  );
  if (ended === undefined) return undefined;
  const { callId, status, title, durationMs: ms, metadata = {}, result } = ended;
  const code = metadata["exitCode"];
  const output = textOf(result.content ?? "");
  const exitCode = typeof code === "number" ? code : null;
  return { callId, status, ended: title ?? "not started", exitCode, output: output.trim(), ms, changes };
}

function failureMessage(command: string, ended: string, output: string): string {
  return `This run is done when the command below exits with code 0. It did not: ${ended}. Fix the cause and continue; do not weaken what it checks.\n$ ${command}\n${tailOf(output)}`;
}

/** The end of the text, starting at a line if possible. */
function tailOf(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  const tail = text.slice(-MAX_OUTPUT_CHARS);
  return `[…]\n${tail.slice(tail.indexOf("\n") + 1)}`.toWellFormed();
}

function failureSummary({ command, ended, exitCode, round }: UntilNote, output: string): string {
  const name = oneLine(command, 200);
  const lost = NOT_RUN_REASONS[exitCode ?? 0];
  if (lost !== undefined)
    return `${name} ${lost} (exit code ${exitCode}), so nothing was checked: correct the command, or install what it needs.`;
  const rounds = round > 1 ? ` after ${pluralize(round - 1, "round")}` : "";
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !/^\[.*\]$/.test(line));
  const last = oneLine(lines.slice(-3).join(" · "), 300);
  const quoted = last === "" ? "" : ` It says: ${last}${/[.!?…]$/.test(last) ? "" : "."}`;
  const sandboxHint = output.includes("[sandbox: ")
    ? " The sandbox limits it; --sandbox off runs it outside."
    : "";
  return `${name} still fails${rounds}: ${ended}.${quoted}${sandboxHint}`;
}

function withStopReason(
  { error: _error, ...result }: RunResult,
  stopReason: "aborted" | "max_iterations" | "budget",
): RunResult {
  return { ...result, stopReason };
}

function couldNotRun(exitCode: number | null): boolean {
  return NOT_RUN_REASONS[exitCode ?? 0] !== undefined;
}

function abortedResult({ aborted }: AbortSignal, result: RunResult): RunResult {
  return aborted ? withStopReason(result, "aborted") : timedOut(result);
}

function timedOut(result: RunResult): RunResult {
  return { ...withStopReason(result, "budget"), limit: "wall_time" };
}

function withTimeout(ms: number, signal: AbortSignal): AbortSignal {
  if (!Number.isFinite(ms)) return signal;
  return AbortSignal.any([signal, AbortSignal.timeout(Math.min(Math.ceil(ms), MAX_TIMER_MS))]);
}
