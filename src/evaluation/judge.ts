import { join } from "node:path";
import { isNanoAgentError } from "../core/base/errors.ts";
import type { ProcessWatcher } from "../system/process-watcher.ts";
import { type ProgramEnd, runProgram } from "./run-program.ts";
import type { Task } from "./task.ts";
import type { TaskScratch } from "./task-scratch.ts";

/** The surroundings of the programs of tasks. */
export interface JudgePlace {
  /** Their environment: never credentials, for they run what agents have written. */
  readonly env: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  readonly watcher: ProcessWatcher | undefined;
}

/** The word of a check. */
export interface Verdict {
  readonly solved: boolean;
  /** The last line it wrote, or how it ended. */
  readonly reason: string;
  /** Why it says nothing about the task: it could not be run at all. */
  readonly error?: string;
  /** True when it took too long and was ended. */
  readonly isTimeout: boolean;
  /** All it wrote, or the end of it. */
  readonly output: string;
  readonly durationMs: number;
}

/** Runs `setup`, where there is one. Resolves to why the task cannot be worked on, in one sentence. */
export async function setUp(
  task: Task,
  scratch: TaskScratch,
  place: JudgePlace,
): Promise<string | undefined> {
  if (!task.has.setup) return undefined;
  const end = await program(task, { name: "setup", input: "", scratch }, place);
  if (end.code === 0) return undefined;
  return `setup ${howItEnded(end, task)}${lastLine(end) === "" ? "" : `: ${lastLine(end)}`}`;
}

/** Runs `check` in the scratch folder, with the answer of the agent on its standard input. */
export async function judge(
  task: Task,
  { scratch, answer }: { readonly scratch: TaskScratch; readonly answer: string },
  place: JudgePlace,
): Promise<Verdict> {
  if (!scratch.isUsable()) return WITHOUT_FOLDER;
  const end = await program(task, { name: "check", input: answer, scratch }, place);
  const { output, durationMs } = end;
  const said = lastLine(end);
  const how = `the check ${howItEnded(end, task)}`;
  const reason = end.failure === undefined && said !== "" ? said : how;
  return {
    solved: end.code === 0,
    reason,
    isTimeout: end.failure === "timeout",
    output,
    durationMs,
    ...(isUnable(end) && { error: `${how}${said === "" ? "" : `: ${said}`}` }),
  };
}

/** An agent that took its own working folder away has solved nothing. */
const WITHOUT_FOLDER: Verdict = {
  solved: false,
  reason: "the working folder is gone, or may not be entered",
  isTimeout: false,
  output: "",
  durationMs: 0,
};

interface ProgramCall {
  readonly name: "setup" | "check";
  readonly input: string;
  readonly scratch: TaskScratch;
}

async function program(
  { limits: { checkMs: timeoutMs } }: Task,
  { name, input, scratch }: ProgramCall,
  place: JudgePlace,
): Promise<ProgramEnd> {
  try {
    return await scratch.withJudge((folder, temporary) => {
      const env = withTemporary(place.env, temporary);
      return runProgram({ ...place, env, path: join(folder, name), cwd: scratch.folder, input, timeoutMs });
    });
  } catch (error) {
    // What was changed must not judge; what the file system refuses is no word about the task either.
    const message = error instanceof Error ? error.message : String(error);
    if (isNanoAgentError(error, "invalid_argument")) throw error;
    return { code: null, signal: null, output: "", durationMs: 0, failure: { message } };
  }
}

/** Variables with another folder for temporary files, by all names that programs know it by. */
export function withTemporary<V>(
  variables: { readonly [name: string]: V },
  folder: string,
): { readonly [name: string]: V | string } {
  return { ...variables, TMPDIR: folder, TMP: folder, TEMP: folder };
}

/** Codes with which a shell says that a program, or its interpreter, could not be started. */
const CANNOT_RUN: ReadonlySet<number | null> = new Set([126, 127]);

function isUnable({ code, failure }: ProgramEnd): boolean {
  return CANNOT_RUN.has(code) || typeof failure === "object";
}

function howItEnded({ code, signal, failure }: ProgramEnd, { limits }: Task): string {
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
