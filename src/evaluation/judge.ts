import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { systemClock } from "../core/base/async.ts";
import { errorMessage, isNanoAgentError } from "../core/base/errors.ts";
import { newId } from "../core/base/ids.ts";
import { type ProcessWatcher, withCallMarker } from "../system/process-watcher.ts";
import { endProcesses } from "../tools/shell/process-table.ts";
import type { Task } from "./task.ts";
import { makeWorkFolder, removeFolder, TaskScratch } from "./task-scratch.ts";

export interface ProgramContext {
  /** Environment of the programs: never credentials, as they run agent-written code. */
  readonly env: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  readonly watcher: ProcessWatcher | undefined;
}

export interface Verdict {
  readonly solved: boolean;
  /** The last line the check wrote, or how it ended. */
  readonly reason: string;
  /** Why the verdict does not count: the check could not be run at all. */
  readonly error?: string;
  readonly isTimeout: boolean;
  readonly output: string;
  readonly durationMs: number;
}

/** Runs the task's `setup`, if any. Resolves to a sentence if it fails. */
export async function runSetup(
  task: Task,
  scratch: TaskScratch,
  place: ProgramContext,
): Promise<string | undefined> {
  if (!task.has.setup) return undefined;
  const end = await runTaskProgram("setup", task, scratch, "", place);
  if (end.code === 0) return undefined;
  return `setup ${describeEnd(end, task)}${lastLine(end) === "" ? "" : `: ${lastLine(end)}`}`;
}

/** Runs `check` in the scratch folder, with the agent's answer on its standard input. */
export async function runCheck(
  task: Task,
  scratch: TaskScratch,
  answer: string,
  place: ProgramContext,
): Promise<Verdict> {
  if (!scratch.isUsable()) return NO_FOLDER;
  const end = await runTaskProgram("check", task, scratch, answer, place);
  const { output, durationMs } = end;
  const line = lastLine(end);
  const ending = `the check ${describeEnd(end, task)}`;
  const reason = end.failure === undefined && line !== "" ? line : ending;
  return {
    solved: end.code === 0,
    reason,
    isTimeout: end.failure === "timeout",
    output,
    durationMs,
    ...(couldNotRun(end) && { error: `${ending}${line === "" ? "" : `: ${line}`}` }),
  };
}

/** An agent that removed its own working directory has solved nothing. */
const NO_FOLDER: Verdict = {
  solved: false,
  reason: "the working folder is gone, or may not be entered",
  isTimeout: false,
  output: "",
  durationMs: 0,
};

async function runTaskProgram(
  name: "setup" | "check",
  { limits: { checkMs: timeoutMs } }: Task,
  scratch: TaskScratch,
  input: string,
  place: ProgramContext,
): Promise<ProgramEnd> {
  try {
    return await scratch.withJudge((folder, temporary) => {
      const env = withTemporaryFolder(place.env, temporary);
      return runProgram({ ...place, env, path: join(folder, name), cwd: scratch.folder, input, timeoutMs });
    });
  } catch (error) {
    // A changed task must not judge, and a file system error does not count against it either.
    const message = error instanceof Error ? error.message : String(error);
    if (isNanoAgentError(error, "invalid_argument")) throw error;
    return { code: null, signal: null, output: "", durationMs: 0, failure: { message } };
  }
}

/** Variables with another folder for temporary files, under every name that programs use. */
export function withTemporaryFolder<V>(
  variables: { readonly [name: string]: V },
  folder: string,
): { readonly [name: string]: V | string } {
  return { ...variables, TMPDIR: folder, TMP: folder, TEMP: folder };
}

/** Exit codes of a shell that could not start a program or its interpreter. */
const CANNOT_RUN: ReadonlySet<number | null> = new Set([126, 127]);

function couldNotRun({ code, failure }: ProgramEnd): boolean {
  return CANNOT_RUN.has(code) || typeof failure === "object";
}

function describeEnd({ code, signal, failure }: ProgramEnd, { limits }: Task): string {
  if (failure === "timeout") return `took longer than ${limits.checkMs / 1_000} s (limits.check)`;
  if (failure === "aborted") return "was interrupted";
  if (failure !== undefined) return `could not be started: ${failure.message}`;
  if (signal !== null) return `was ended by ${signal}`;
  if (CANNOT_RUN.has(code))
    return `ended with ${code}: a program it names is not there, or cannot be executed`;
  return `ended with ${code}`;
}

function lastLine({ output }: ProgramEnd): string {
  return (
    output
      .split("\n")
      .map((line) => line.trim())
      .findLast((line) => line !== "") ?? ""
  )
    .slice(0, MAX_REASON_CHARS)
    .toWellFormed();
}

const MAX_REASON_CHARS = 500;

export interface TaskValidation {
  readonly task: string;
  /** Why it cannot tell a solution from no solution; empty for a good task. */
  readonly faults: readonly string[];
  /** True if a reference proved that it can be solved. */
  readonly isSolvable: boolean;
}

/**
 * Proves that the check of a task fails if nothing was done, and passes with its reference. Without
 * `reference` and `reference.md`, proves only the former.
 */
export async function validateTask(task: Task, place: ProgramContext): Promise<TaskValidation> {
  const faults: string[] = [];
  const untouched = await verdictOn(task, "untouched", place);
  if (typeof untouched === "string") faults.push(untouched);
  else if (untouched.error !== undefined) faults.push(untouched.error);
  else if (untouched.solved)
    faults.push("the check passes although nothing was done: it must fail before the task is worked on");
  else if (untouched.isTimeout) faults.push(`untouched, ${untouched.reason}: it must fail by itself`);
  const hasReference = task.has.reference || task.referenceAnswer !== undefined;
  if (!hasReference || faults.length > 0 || place.signal.aborted)
    return { task: task.name, faults, isSolvable: false };
  const solved = await verdictOn(task, "reference", place);
  if (typeof solved === "string") faults.push(solved);
  else if (!solved.solved) faults.push(`the check fails with the reference: ${solved.reason}`);
  return { task: task.name, faults, isSolvable: faults.length === 0 };
}

async function verdictOn(
  task: Task,
  part: "untouched" | "reference",
  place: ProgramContext,
): Promise<Verdict | string> {
  const workplace = await makeWorkFolder("nano-agent-validate-");
  try {
    const scratch = await TaskScratch.make(task, { workplace, judges: workplace });
    const problem = await runSetup(task, scratch, place);
    if (problem !== undefined) return problem;
    try {
      if (part === "reference") await scratch.copyReference();
    } catch (error) {
      return `reference cannot be copied over the files: ${errorMessage(error)}`;
    }
    const answer = part === "reference" ? (task.referenceAnswer ?? "") : "";
    return await runCheck(task, scratch, answer, place);
  } catch (error) {
    // A task that cannot be copied or has changed must not hide the results of the others.
    if (isNanoAgentError(error, "invalid_argument")) return error.message;
    throw error;
  } finally {
    await removeFolder(workplace);
  }
}

interface ProgramStart {
  readonly path: string;
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Kills its processes if this process is killed. */
  readonly watcher: ProcessWatcher | undefined;
}

export interface ProgramEnd {
  /** `null`: it did not exit by itself. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Both outputs in the order of writing; only the end if they are long. */
  readonly output: string;
  readonly durationMs: number;
  readonly failure?: "timeout" | "aborted" | { readonly message: string };
}

const MAX_OUTPUT = 262_144;
const GRACE_MS = 500;
/** Milliseconds to read outputs after the end if a process that survived KILL holds them. */
const DRAIN_MS = 500;

/** Maximum number of starts of a program that the system considers as being written. */
const MAX_STARTS = 20;
const BUSY_PAUSE_MS = 20;

/**
 * Runs a program in its own process group and ends everything it started with it. A program that takes too
 * long, or whose signal is aborted, is killed. Never rejects.
 */
export async function runProgram(start: ProgramStart): Promise<ProgramEnd> {
  for (let starts = 1; ; starts++) {
    const end = await runOnce(start);
    if (starts === MAX_STARTS || !isBeingWritten(end, start)) return end;
    await systemClock.sleep(starts * BUSY_PAUSE_MS, start.signal).catch(() => undefined);
  }
}

/**
 * True if the program did not start because its file is open for writing: for a moment, a process we are just
 * spawning inherits every descriptor that was open here while the file was copied.
 */
function isBeingWritten({ code, output }: ProgramEnd, { path }: ProgramStart): boolean {
  return code === 126 && output.trimEnd().endsWith(`${path}: Text file busy`);
}

async function runOnce(start: ProgramStart): Promise<ProgramEnd> {
  const startedAt = performance.now();
  const mark = newId("check");
  const output = new OutputTail(MAX_OUTPUT);
  // Both outputs share one pipe, so that their lines stay in the order of writing.
  const child = spawn("/bin/sh", ["-c", 'exec "$0" 2>&1', start.path], {
    cwd: start.cwd,
    env: withCallMarker(start.env, mark),
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdout.on("data", (bytes: Buffer) => output.add(bytes));
  // The program need not read its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(start.input);
  const { pid } = child;
  const end = (facts: Pick<ProgramEnd, "code" | "signal" | "failure">): ProgramEnd => ({
    ...facts,
    output: output.text(),
    durationMs: performance.now() - startedAt,
  });
  if (pid === undefined)
    return end({ code: null, signal: null, failure: { message: await startError(child) } });
  start.watcher?.add(pid);
  let failure: "timeout" | "aborted" | undefined;
  let ending: Promise<unknown> | undefined;
  const kill = (why: "timeout" | "aborted"): void => {
    failure ??= why;
    ending ??= endProcesses({ mark, roots: [pid] }, GRACE_MS, [pid]);
  };
  const timer = setTimeout(() => kill("timeout"), start.timeoutMs);
  const onAbort = (): void => kill("aborted");
  start.signal.addEventListener("abort", onAbort, { once: true });
  if (start.signal.aborted) onAbort();
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once("exit", (...ended) => resolve(ended)),
  );
  clearTimeout(timer);
  start.signal.removeEventListener("abort", onAbort);
  await ending;
  // Its number cannot have been reused until process ids wrap around.
  await endProcesses({ mark, roots: [pid] }, GRACE_MS);
  start.watcher?.remove(pid);
  await outputClosed(closed);
  child.stdout.destroy();
  return end(failure === undefined ? { code, signal } : { code: null, signal, failure });
}

function startError(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => child.once("error", (error) => resolve(errorMessage(error))));
}

async function outputClosed(closed: Promise<void>): Promise<void> {
  const enough = new AbortController();
  const timeout = systemClock.sleep(DRAIN_MS, enough.signal).catch(() => undefined);
  await Promise.race([closed, timeout]);
  enough.abort();
}

class OutputTail {
  readonly #max: number;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    if (this.#length <= this.#max * 2) return;
    this.#chunks = [this.#bytes()];
    this.#length = this.#max;
  }

  text(): string {
    return this.#bytes().toString("utf8");
  }

  #bytes(): Buffer {
    return Buffer.concat(this.#chunks).subarray(-this.#max);
  }
}
