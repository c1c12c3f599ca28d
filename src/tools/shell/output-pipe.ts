import { spawn } from "node:child_process";
import { closeSync, constants, openSync, rmSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

/** Named pipes made by one run of `mkfifo`. */
const BATCH = 16;
/** When so few are left, the next ones are made ahead. */
const LOW = 4;

/** One pipe: give `writer` to the child as both outputs, close it, and read `reader` to its end. */
export interface OutputPipe {
  readonly reader: Socket;
  readonly writer: number;
}

/**
 * Real pipes for the output of commands. What Node calls a pipe is a socket: a script that opens `/dev/stderr` or `/dev/stdout`
 * fails on it, and two of them lose the order between both outputs. One named pipe for both outputs has neither problem. Its name
 * is removed as soon as both ends are open.
 */
export class OutputPipes {
  readonly #folder: () => Promise<string>;
  readonly #names: string[] = [];
  #making: Promise<boolean> | undefined;
  #count = 0;

  constructor(folder: () => Promise<string>) {
    this.#folder = folder;
  }

  /** Makes pipes ahead, so that the first {@link take} need not wait. Never rejects. */
  async prepare(): Promise<void> {
    if (this.#names.length === 0) await this.#make();
  }

  /** A pipe, or `undefined` where there are no named pipes. Never rejects. */
  async take(): Promise<OutputPipe | undefined> {
    let name = this.#names.pop();
    while (name === undefined) {
      if (!(await this.#make())) return undefined;
      name = this.#names.pop();
    }
    try {
      return openPipe(name);
    } catch {
      // The folder was cleared behind our back: plain pipes do for this call, the next one makes new names.
      this.#names.length = 0;
      return undefined;
    }
  }

  /** Makes the next names when few are left. For a moment when nobody waits. */
  refill(): void {
    if (this.#names.length <= LOW) void this.#make();
  }

  /** Removes the names that were not used. */
  async dispose(): Promise<void> {
    await this.#making;
    for (const name of this.#names.splice(0)) rmSync(name, { force: true });
  }

  /** Joins a making that is under way. False when it failed. */
  #make(): Promise<boolean> {
    this.#making ??= this.#makeNames().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #makeNames(): Promise<boolean> {
    const folder = await this.#folder().catch(() => undefined);
    if (folder === undefined) return false;
    const names = Array.from({ length: BATCH }, () => join(folder, `pipe-${process.pid}-${this.#count++}`));
    if (!(await runMkfifo(names))) return false;
    this.#names.push(...names);
    return true;
  }
}

/** Closes both ends of a pipe that nobody needs. */
export function discardPipe({ reader, writer }: OutputPipe): void {
  reader.destroy();
  closeSync(writer);
}

function runMkfifo(names: readonly string[]): Promise<boolean> {
  if (process.platform === "win32") return Promise.resolve(false);
  const env = { PATH: "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin" };
  const child = spawn("mkfifo", ["-m", "600", "--", ...names], { stdio: "ignore", env });
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
  });
}

function openPipe(name: string): OutputPipe {
  // Reading without blocking opens at once; then the writer finds its reader and opens at once, blocking as programs expect it.
  const readEnd = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writer = openSync(name, constants.O_WRONLY);
    unlinkSync(name);
    return { reader: new Socket({ fd: readEnd, readable: true, writable: false }), writer };
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
}
