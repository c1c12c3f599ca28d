import { type ChildProcess, spawn } from "node:child_process";
import { systemClock } from "../core/base/clock.ts";
import { errorMessage } from "../core/base/errors.ts";
import { newId } from "../core/base/ids.ts";
import { markedEnvironment, type ProcessWatcher } from "../system/process-watcher.ts";
import { endProcesses } from "../tools/shell/end-processes.ts";

/** How a program of a suite is run. */
export interface ProgramStart {
  /** An executable file. */
  readonly path: string;
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** Text on its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Ends what it started when this process is killed. */
  readonly watcher: ProcessWatcher | undefined;
}

/** How a program ended. */
export interface ProgramEnd {
  /** `null`: it did not end by itself. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Both outputs in the order of writing; of a long one, the end. */
  readonly output: string;
  readonly durationMs: number;
  /** Why it was ended, or never began. */
  readonly failure?: "timeout" | "aborted" | { readonly message: string };
}

/** Bytes of output that are kept. */
const MAX_OUTPUT = 262_144;
const GRACE_MS = 500;
/** How long outputs are read after the end, when a process that could not be ended holds them. */
const DRAIN_MS = 500;

/** Most times a program is started that the system takes for one that is being written. */
const STARTS = 20;
const BUSY_PAUSE_MS = 20;

/**
 * Runs a program in a process group of its own and ends with it everything it has started. A program that
 * takes too long, or whose signal is aborted, is ended. Never rejects.
 */
export async function runProgram(start: ProgramStart): Promise<ProgramEnd> {
  for (let starts = 1; ; starts++) {
    const end = await runOnce(start);
    if (starts === STARTS || !isBeingWritten(end, start)) return end;
    await systemClock.sleep(starts * BUSY_PAUSE_MS, start.signal).catch(() => undefined);
  }
}

/**
 * True when the program did not begin since somebody has its file open for writing: a process of ours that is
 * just being started has, for a moment, everything open that was open here while the file was copied.
 */
function isBeingWritten({ code, output }: ProgramEnd, { path }: ProgramStart): boolean {
  return code === 126 && output.trimEnd().endsWith(`${path}: Text file busy`);
}

async function runOnce(start: ProgramStart): Promise<ProgramEnd> {
  const startedAt = performance.now();
  const mark = newId("check");
  const output = new OutputTail(MAX_OUTPUT);
  // Both outputs are one pipe, so that their lines stand in the order in which they were written.
  const child = spawn("/bin/sh", ["-c", 'exec "$0" 2>&1', start.path], {
    cwd: start.cwd,
    env: markedEnvironment(start.env, mark),
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdout.on("data", (bytes: Buffer) => output.add(bytes));
  // It need not read its input.
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
  const giveUp = (why: "timeout" | "aborted"): void => {
    failure ??= why;
    ending ??= endProcesses({ mark, roots: [pid] }, { graceMs: GRACE_MS, groups: [pid] });
  };
  const timer = setTimeout(() => giveUp("timeout"), start.timeoutMs);
  const onAbort = (): void => giveUp("aborted");
  start.signal.addEventListener("abort", onAbort, { once: true });
  if (start.signal.aborted) onAbort();
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once("exit", (...ended) => resolve(ended)),
  );
  clearTimeout(timer);
  start.signal.removeEventListener("abort", onAbort);
  await ending;
  // Its number is still its own for as long as numbers take to come round.
  await endProcesses({ mark, roots: [pid] }, { graceMs: GRACE_MS });
  start.watcher?.remove(pid);
  await drained(closed);
  child.stdout.destroy();
  return end(failure === undefined ? { code, signal } : { code: null, signal, failure });
}

function startError(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => child.once("error", (error) => resolve(errorMessage(error))));
}

async function drained(closed: Promise<void>): Promise<void> {
  const isEnough = new AbortController();
  const patience = systemClock.sleep(DRAIN_MS, isEnough.signal).catch(() => undefined);
  await Promise.race([closed, patience]);
  isEnough.abort();
}

/** The end of an output. */
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
