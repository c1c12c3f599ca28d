import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Readable } from "node:stream";
import { systemClock } from "../../core/base/async.ts";
import type { SandboxedCommand } from "../../system/command-sandbox.ts";
import type { Environment } from "../../system/env.ts";
import { sendSignal } from "../../system/process-identity.ts";
import { type ProcessWatcher, withCallMarker } from "../../system/process-watcher.ts";
import type { OutputBuffer, OutputText } from "./output-buffer.ts";
import type { OutputPipe } from "./output-folder.ts";
import {
  endProcesses,
  findProcesses,
  hasGroup,
  hasStartedSince,
  isRunning,
  type ProcessInfo,
} from "./process-table.ts";

interface ShellStart {
  readonly command: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Environment;
  /** Unique text that all processes of this command carry in their environment. */
  readonly mark: string;
  /** Kills the group if this process is killed. */
  readonly watcher: ProcessWatcher | undefined;
  /** Its end ends everything it started, so no search for leftovers is needed. */
  readonly confined: SandboxedCommand | undefined;
  /** Receives both outputs. Default: Node's own pipes. */
  readonly pipe: OutputPipe | undefined;
  readonly output: OutputBuffer;
  /** Takes output. While the returned promise is pending, no more is read. Must not throw or reject. */
  readonly onOutput: (bytes: Uint8Array) => Promise<void> | undefined;
}

export interface ShellExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** After the shell's end, more output is awaited until it has been quiet for this long … */
const QUIET_MS = 100;
/** … and no longer than this. */
const MAX_DRAIN_MS = 500;
/** Process ids do not wrap around within this time, so a number is still ours. */
const FRESH_MS = 1000;
const REAP_MS = 1000;

/** Starts a command in its own session and process group, with empty input and no terminal. */
export async function startCommand(start: ShellStart): Promise<RunningCommand> {
  const { pipe } = start;
  let child: ChildProcess;
  try {
    child = spawn(start.file, [...start.args], {
      cwd: start.cwd,
      env: withCallMarker(start.env, start.mark),
      detached: process.platform !== "win32",
      windowsHide: true,
      stdio: [
        "ignore",
        pipe?.writer ?? "pipe",
        pipe?.writer ?? "pipe",
        ...(start.confined?.descriptors ?? []),
      ],
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
  const readers =
    pipe === undefined ? [child.stdout, child.stderr].filter((it) => it !== null) : [pipe.reader];
  return new RunningCommand(child.pid, child, readers, start);
}

/** A command and everything it started: in its call, as a job, or ended. */
export class RunningCommand {
  readonly command: string;
  readonly pid: number;
  readonly output: OutputBuffer;
  readonly notes: SandboxedCommand["notes"];
  /** Resolves when the shell itself has ended, whatever its children do. */
  readonly exited: Promise<ShellExit>;
  /** Resolves when all output is read and no process holds the pipe any more, or after {@link close}. */
  readonly closed: Promise<void>;
  /** Resolves when it has ended and its sandbox has cleaned up. */
  readonly settled: Promise<unknown>;
  readonly child: ChildProcess;
  /** True for processes left by a finished command, false for a command started in the background. */
  isLeftover = false;
  readonly #isConfined: boolean;
  readonly #mark: string;
  readonly #readers: readonly Readable[];
  readonly #startedAt = performance.now();
  #exit: ShellExit | undefined;
  #exitedAt = 0;
  #isClosed = false;
  #lastOutputAt = 0;
  #pendingWrites = 0;
  /** Running at the last search. While one of them runs, the shell's number is still ours. */
  #lastFound: readonly ProcessInfo[] = [];

  constructor(pid: number, child: ChildProcess, readers: readonly Readable[], start: ShellStart) {
    const { confined } = start;
    this.pid = pid;
    this.child = child;
    this.command = start.command;
    this.output = start.output;
    this.notes = confined?.notes ?? (() => []);
    this.#isConfined = confined !== undefined;
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
    this.settled = this.exited.then(() => confined?.settle());
    this.closed = Promise.all(readers.map((reader) => this.#read(reader, start.onOutput))).then(() => {
      this.#isClosed = true;
    });
    void this.closed.then(() => this.output.end());
  }

  get exit(): ShellExit | undefined {
    return this.#exit;
  }

  get durationMs(): number {
    return (this.#exit === undefined ? performance.now() : this.#exitedAt) - this.#startedAt;
  }

  readOutput(): Promise<OutputText> {
    return this.output.readNew();
  }

  /** Resolves when the shell ended and its output is read, or is silent while a child holds the pipe. */
  async waitForOutput(): Promise<void> {
    await this.exited;
    if (!this.#isClosed) await this.#waitForSilence();
  }

  async findProcesses(): Promise<readonly ProcessInfo[]> {
    if (this.#hasLeftNothing() || (this.#isConfined && this.#exit !== undefined)) return [];
    const isFresh = performance.now() - this.#startedAt < FRESH_MS;
    const query = { mark: this.#mark, roots: this.roots() };
    this.#lastFound = await findProcesses(isFresh ? { ...query, after: this.pid } : query);
    return this.#lastFound;
  }

  /** The shell's number, as long as it cannot have been reused. */
  roots(): readonly number[] {
    if (this.#exit === undefined || this.#lastFound.some(isRunning)) return [this.pid];
    return performance.now() - this.#exitedAt < FRESH_MS ? [this.pid] : [];
  }

  /** Ends everything the command started: TERM, KILL after the grace period. Returns what survives both. */
  async end(graceMs: number): Promise<readonly ProcessInfo[]> {
    if (process.platform === "win32") this.killNow();
    const query = { mark: this.#mark, roots: this.roots() };
    const groups = this.#exit === undefined ? [this.pid] : [];
    this.#lastFound = await endProcesses(query, graceMs, groups);
    const reaped = new AbortController();
    const timeout = systemClock.sleep(REAP_MS, reaped.signal).catch(() => undefined);
    await Promise.race([this.waitForOutput(), timeout]);
    reaped.abort();
    return this.#lastFound;
  }

  killNow(): void {
    if (this.#exit !== undefined) return;
    if (process.platform !== "win32") sendSignal(-this.pid, "SIGKILL");
    else spawn("taskkill", ["/pid", String(this.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  }

  /** Stops keeping the program alive. Output is still read, so that a writer does not fail. */
  unref(): void {
    this.child.unref();
    for (const reader of this.#readers)
      if ("unref" in reader && typeof reader.unref === "function") reader.unref();
  }

  async close(): Promise<void> {
    for (const reader of this.#readers) reader.destroy();
    await this.output.end();
  }

  #hasLeftNothing(): boolean {
    if (this.#exit === undefined || !this.#isClosed) return false;
    return process.platform === "linux" ? !hasStartedSince(this.pid) : !hasGroup(this.pid);
  }

  #read(reader: Readable, onOutput: ShellStart["onOutput"]): Promise<void> {
    reader.on("data", (bytes: Uint8Array) => {
      this.#lastOutputAt = performance.now();
      const stored = onOutput(bytes);
      if (stored === undefined) return;
      reader.pause();
      this.#pendingWrites++;
      void stored.then(() => {
        this.#pendingWrites--;
        this.#lastOutputAt = performance.now();
        reader.resume();
      });
    });
    return new Promise((resolve) => {
      reader.once("end", resolve);
      reader.once("close", resolve);
      // A broken pipe has ended; "close" follows.
      reader.once("error", () => resolve());
    });
  }

  #waitForSilence(): Promise<void> {
    const exitedAt = performance.now();
    const deadline = exitedAt + MAX_DRAIN_MS;
    const quietAt = (): number =>
      this.#pendingWrites > 0
        ? deadline
        : Math.min(deadline, Math.max(exitedAt, this.#lastOutputAt) + QUIET_MS);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout;
      const wait = (): void => {
        // Check the pipe once more: a busy program may be late to read old output.
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
