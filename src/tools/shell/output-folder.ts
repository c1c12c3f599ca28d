import { spawn } from "node:child_process";
import { chmodSync, closeSync, constants, existsSync, fstatSync, openSync, rmSync } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { systemCode } from "../../system/system-error.ts";
import type { OutputFile } from "./output-buffer.ts";

/**
 * The folder of one session for long outputs and pipes, private to the user (mode 0700, files 0600), made
 * when first needed. Without a given path it is a new temporary folder, which {@link dispose} removes; a
 * given folder keeps its output files.
 */
export class OutputFolder {
  readonly #given: string | undefined;
  readonly #temporary: () => string;
  readonly #maxBytes: number;
  readonly #files: string[] = [];
  #folder: Promise<string> | undefined;
  #count = 0;

  /** `temporary` returns the parent for a new folder, and is called only when one is made. */
  constructor(given: string | undefined, maxBytes: number, temporary: () => string = tmpdir) {
    this.#given = given;
    this.#temporary = temporary;
    this.#maxBytes = maxBytes;
  }

  /** Makes the folder the first time, and again if something has removed it. */
  path(): Promise<string> {
    const make = (): Promise<string> => this.#make();
    this.#folder = this.#folder?.then((made) => (existsSync(made) ? made : make()), make) ?? make();
    return this.#folder;
  }

  /** A new, empty file. Deletes the oldest files when all together hold more than `maxBytes`. */
  async openFile(): Promise<OutputFile> {
    const folder = await this.path();
    await this.#dropOldest();
    for (;;) {
      this.#count++;
      const path = join(folder, `output-${this.#count}.txt`);
      try {
        const handle = await open(path, "ax", 0o600);
        this.#files.push(path);
        return { path, handle };
      } catch (error) {
        if (systemCode(error) !== "EEXIST") throw error;
      }
    }
  }

  async dispose(): Promise<void> {
    if (this.#folder === undefined || this.#given !== undefined) return;
    const made = await this.#folder.catch(() => undefined);
    if (made !== undefined) await rm(made, { recursive: true, force: true });
  }

  async #make(): Promise<string> {
    if (this.#given === undefined) {
      const parent = this.#temporary();
      makePrivateFolders(parent);
      return mkdtemp(join(parent, "nano-agent-"));
    }
    if (makePrivateFolders(this.#given).length > 0) chmodSync(this.#given, 0o700);
    return this.#given;
  }

  async #dropOldest(): Promise<void> {
    const sizes = await Promise.all(this.#files.map(sizeOf));
    let total = sizes.reduce((sum, size) => sum + size, 0);
    for (const size of sizes) {
      if (total <= this.#maxBytes) return;
      const oldest = this.#files.shift();
      if (oldest !== undefined) await rm(oldest, { force: true });
      total -= size;
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.size ?? 0;
}

/** Named pipes made by one run of `mkfifo`, which costs as much as a short command. */
const BATCH_SIZE = 16;
/** When this few are left, the next ones are made ahead. */
const REFILL_AT = 2;

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
 * Real pipes for the output of commands. Node's pipes are sockets: a script that opens `/dev/stderr` or
 * `/dev/stdout` fails on one, and two of them lose the order between the outputs. One named pipe for both has
 * neither problem. Both ends are opened as soon as it is made, the second through the descriptor of the
 * first, and its name is removed: nobody can substitute something else later.
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

  /** A pipe, or `undefined` if there are no named pipes. Never rejects. */
  async take(): Promise<OutputPipe | undefined> {
    let pipe = this.#pipes.pop();
    while (pipe === undefined) {
      if (!(await this.#make())) return undefined;
      pipe = this.#pipes.pop();
    }
    const { reader, writer } = pipe;
    return { reader: new Socket({ fd: reader, readable: true, writable: false }), writer };
  }

  /** Makes more pipes if few are left. Call it while a command runs, so that nothing waits for it. */
  refill(): void {
    if (this.#pipes.length <= REFILL_AT) void this.#make();
  }

  async dispose(): Promise<void> {
    await this.#making;
    for (const { reader, writer } of this.#pipes.splice(0)) {
      closeSync(reader);
      closeSync(writer);
    }
  }

  /** Joins a creation already in progress. Resolves to false if it failed. */
  #make(): Promise<boolean> {
    this.#making ??= this.#makePipes().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #makePipes(): Promise<boolean> {
    const folder = await this.#folder().catch(() => undefined);
    if (folder === undefined) return false;
    const names = Array.from({ length: BATCH_SIZE }, () =>
      join(folder, `pipe-${process.pid}-${this.#count++}`),
    );
    try {
      if (!(await runMkfifo(names))) return false;
      for (const name of names) this.#pipes.push(openPipe(name));
      return true;
    } catch {
      // The folder was cleared or filled concurrently: use the open pipes, else plain ones.
      return this.#pipes.length > 0;
    } finally {
      for (const name of names) rmSync(name, { force: true });
    }
  }
}

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
  // A non-blocking reader opens at once; then the writer finds it and opens at once, blocking.
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
