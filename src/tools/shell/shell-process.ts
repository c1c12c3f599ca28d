import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { systemClock } from "../../core/base/async.ts";
import { markedEnvironment, type ProcessWatcher } from "../../system/process-watcher.ts";
import type { OutputPipe } from "./output-folder.ts";
import {
  endProcesses,
  findProcesses,
  hasGroup,
  isRunning,
  type ProcessInfo,
  signal,
  startedSince,
} from "./process-table.ts";
import type { Environment } from "./shell-ports.ts";

export interface ShellStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  /** Unique text that all processes of this command carry in their environment. */
  readonly mark: string;
  /** Ends the group when this process is killed. */
  readonly watcher: ProcessWatcher | undefined;
  /** What it reads from its standard input. Default: nothing. */
  readonly input?: string;
  /** `stdio` from descriptor 3 on. Default: none. */
  readonly descriptors?: readonly (number | "ignore" | "pipe")[];
  /** True for one that ends with all it started, so that nothing of it has to be looked for. */
  readonly leavesNothing?: boolean;
  /** Where both outputs go; without it Node's own pipes are used. */
  readonly pipe: OutputPipe | undefined;
  /** Takes output. While a returned promise is pending, no more is read. Must not throw or reject. */
  readonly onOutput: (bytes: Uint8Array) => Promise<void> | undefined;
}

export interface ShellExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** After the shell's end, output that still comes is waited for until it was quiet for this long … */
const QUIET_MS = 100;
/** … and no longer than this. */
const MAX_DRAIN_MS = 500;
/** Within this time process ids do not come round, so a number is still ours. */
const FRESH_MS = 1000;
const REAP_MS = 1000;

/** Starts a command in its own session and process group, without a terminal. */
export async function startShell(start: ShellStart): Promise<ShellProcess> {
  const { pipe, input } = start;
  const stdin = input === undefined ? "ignore" : "pipe";
  let child: ChildProcess;
  try {
    child = spawn(start.file, [...start.args], {
      cwd: start.cwd,
      env: markedEnvironment(start.env, start.mark),
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: [stdin, pipe?.writer ?? "pipe", pipe?.writer ?? "pipe", ...(start.descriptors ?? [])],
    });
  } catch (error) {
    pipe?.reader.destroy();
    throw error;
  } finally {
    if (pipe !== undefined) closeSync(pipe.writer);
  }
  const failed = new Promise<never>((_resolve, reject) => child.once("error", reject));
  if (child.pid === undefined) {
    pipe?.reader.destroy();
    return failed;
  }
  failed.catch(() => undefined);
  // It need not read its input.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  const readers =
    pipe === undefined ? [child.stdout, child.stderr].filter((it) => it !== null) : [pipe.reader];
  return new ShellProcess(child.pid, child, { readers, start });
}

export class ShellProcess {
  readonly pid: number;
  /** Resolves when the shell itself has ended, whatever its children do. */
  readonly exited: Promise<ShellExit>;
  /** Resolves when all output was read and nobody holds the pipe any more, or after {@link close}. */
  readonly closed: Promise<void>;
  readonly child: ChildProcess;
  readonly #leavesNothing: boolean;
  readonly #mark: string;
  readonly #readers: readonly Readable[];
  readonly #startedAt = performance.now();
  #exit: ShellExit | undefined;
  #exitedAt = 0;
  #isClosed = false;
  #lastOutputAt = 0;
  #storing = 0;
  /** Found running at the last look. While one of them runs, the shell's number is still ours. */
  #known: readonly ProcessInfo[] = [];

  constructor(
    pid: number,
    child: ChildProcess,
    { readers, start }: { readonly readers: readonly Readable[]; readonly start: ShellStart },
  ) {
    this.pid = pid;
    this.child = child;
    this.#leavesNothing = start.leavesNothing === true;
    this.#mark = start.mark;
    this.#readers = readers;
    start.watcher?.add(pid);
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, name) => {
        start.watcher?.remove(pid);
        this.#exit = { code, signal: name };
        this.#exitedAt = performance.now();
        resolve(this.#exit);
      });
    });
    this.closed = Promise.all(readers.map((reader) => this.#read(reader, start.onOutput))).then(() => {
      this.#isClosed = true;
    });
  }

  get exit(): ShellExit | undefined {
    return this.#exit;
  }

  /** Resolves when the shell ended and its output is read, or is silent while a child holds the pipe. */
  async settled(): Promise<ShellExit> {
    const exit = await this.exited;
    if (!this.#isClosed) await this.#drained();
    return exit;
  }

  async running(): Promise<readonly ProcessInfo[]> {
    if (this.#leftNothing() || (this.#leavesNothing && this.#exit !== undefined)) return [];
    const isFresh = performance.now() - this.#startedAt < FRESH_MS;
    const query = { mark: this.#mark, roots: this.roots() };
    this.#known = await findProcesses(isFresh ? { ...query, after: this.pid } : query);
    return this.#known;
  }

  /** The shell's number, as long as it is certain that it is not somebody else's by now. */
  roots(): readonly number[] {
    if (this.#exit === undefined || this.#known.some(isRunning)) return [this.pid];
    return performance.now() - this.#exitedAt < FRESH_MS ? [this.pid] : [];
  }

  /** Ends everything the command started: TERM, after the grace KILL. Returns what did not end even then. */
  async end(graceMs: number): Promise<readonly ProcessInfo[]> {
    if (process.platform === "win32") this.killNow();
    const query = { mark: this.#mark, roots: this.roots() };
    const groups = this.#exit === undefined ? [this.pid] : [];
    this.#known = await endProcesses(query, { graceMs, groups });
    const reaped = new AbortController();
    const patience = systemClock.sleep(REAP_MS, reaped.signal).catch(() => undefined);
    await Promise.race([this.settled(), patience]);
    reaped.abort();
    return this.#known;
  }

  /** Kills the shell's group without waiting for anything. */
  killNow(): void {
    if (this.#exit !== undefined) return;
    if (process.platform !== "win32") signal(-this.pid, "SIGKILL");
    else spawn("taskkill", ["/pid", String(this.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  }

  /** Keeps the program alive no longer. Output is still read, so that a writer does not fail. */
  unref(): void {
    this.child.unref();
    for (const reader of this.#readers)
      if ("unref" in reader && typeof reader.unref === "function") reader.unref();
  }

  close(): void {
    for (const reader of this.#readers) reader.destroy();
  }

  #leftNothing(): boolean {
    if (this.#exit === undefined || !this.#isClosed) return false;
    return process.platform === "linux" ? !startedSince(this.pid) : !hasGroup(this.pid);
  }

  #read(reader: Readable, onOutput: ShellStart["onOutput"]): Promise<void> {
    reader.on("data", (bytes: Uint8Array) => {
      this.#lastOutputAt = performance.now();
      const stored = onOutput(bytes);
      if (stored === undefined) return;
      reader.pause();
      this.#storing++;
      void stored.then(() => {
        this.#storing--;
        this.#lastOutputAt = performance.now();
        reader.resume();
      });
    });
    return new Promise((resolve) => {
      reader.once("end", resolve);
      reader.once("close", resolve);
      // A pipe that breaks has ended; "close" follows.
      reader.once("error", () => resolve());
    });
  }

  #drained(): Promise<void> {
    const exitedAt = performance.now();
    const deadline = exitedAt + MAX_DRAIN_MS;
    const quietAt = (): number =>
      this.#storing > 0 ? deadline : Math.min(deadline, Math.max(exitedAt, this.#lastOutputAt) + QUIET_MS);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout;
      const wait = (): void => {
        // One look at the pipe after that: a busy program may be late to read what was written long ago.
        timer = setTimeout(() => setImmediate(check), Math.max(0, quietAt() - performance.now()));
      };
      const check = (): void => {
        if (this.#isClosed || performance.now() >= quietAt()) resolve();
        else wait();
      };
      void this.closed.then(() => {
        clearTimeout(timer);
        resolve();
      });
      wait();
    });
  }
}
