import { spawn } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

/** Named pipes made by one run of `mkfifo`, which costs as much as a short command does. */
const BATCH = 16;
/** When so few are left, the next ones are made ahead. */
const LOW = 2;

/** Both ends of a pipe whose name is gone. */
interface PipeEnds {
  readonly reader: number;
  readonly writer: number;
}

/** One pipe: give `writer` to the child as both outputs, close it, and read `reader` to its end. */
export interface OutputPipe {
  readonly reader: Socket;
  readonly writer: number;
}

/**
 * Real pipes for the output of commands. What Node calls a pipe is a socket: a script that opens
 * `/dev/stderr` or `/dev/stdout` fails on it, and two of them lose the order between both outputs. One named
 * pipe for both outputs has neither problem. Both ends are opened as soon as it is made, the second one by
 * the descriptor of the first, and its name is removed: nobody can put something else in its place later.
 */
export class OutputPipes {
  readonly #folder: () => Promise<string>;
  readonly #pipes: PipeEnds[] = [];
  #making: Promise<boolean> | undefined;
  #count = 0;

  constructor(folder: () => Promise<string>) {
    this.#folder = folder;
  }

  /** Makes pipes ahead, so that the first {@link take} need not wait. Never rejects. */
  async prepare(): Promise<void> {
    if (this.#pipes.length === 0) await this.#make();
  }

  /** A pipe, or `undefined` where there are no named pipes. Never rejects. */
  async take(): Promise<OutputPipe | undefined> {
    let pipe = this.#pipes.pop();
    while (pipe === undefined) {
      if (!(await this.#make())) return undefined;
      pipe = this.#pipes.pop();
    }
    const { reader, writer } = pipe;
    return { reader: new Socket({ fd: reader, readable: true, writable: false }), writer };
  }

  /** Makes the next pipes when few are left. For a moment when nobody waits: while a command runs. */
  refill(): void {
    if (this.#pipes.length <= LOW) void this.#make();
  }

  async dispose(): Promise<void> {
    await this.#making;
    for (const { reader, writer } of this.#pipes.splice(0)) {
      closeSync(reader);
      closeSync(writer);
    }
  }

  /** Joins a making that is under way. False when it failed. */
  #make(): Promise<boolean> {
    this.#making ??= this.#makePipes().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #makePipes(): Promise<boolean> {
    const folder = await this.#folder().catch(() => undefined);
    if (folder === undefined) return false;
    const names = Array.from({ length: BATCH }, () => join(folder, `pipe-${process.pid}-${this.#count++}`));
    try {
      if (!(await runMkfifo(names))) return false;
      for (const name of names) this.#pipes.push(openPipe(name));
      return true;
    } catch {
      // The folder was cleared or filled behind our back: what is open counts, else plain pipes do.
      return this.#pipes.length > 0;
    } finally {
      for (const name of names) rmSync(name, { force: true });
    }
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

function openPipe(name: string): PipeEnds {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  // A reader that does not block opens at once; then the writer finds it and opens at once, blocking.
  const reader = openSync(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const made = fstatSync(reader);
    if (!made.isFIFO()) throw new Error(`${name} is not the pipe that was made`);
    const isLinux = process.platform === "linux";
    const writer = openSync(
      isLinux ? `/proc/self/fd/${reader}` : name,
      O_WRONLY | (isLinux ? 0 : O_NOFOLLOW),
    );
    const { ino, dev } = fstatSync(writer);
    if (ino === made.ino && dev === made.dev) return { reader, writer };
    closeSync(writer);
    throw new Error(`${name} was exchanged`);
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}
