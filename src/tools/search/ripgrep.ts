import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { pinFolder } from "../files/pinned-folder.ts";
import { findProgram, type ProgramSearch } from "../find-program.ts";

/** Which ripgrep: its path or name, `false` for none, or where to look first. Default: `PATH`. */
export type RipgrepChoice = string | false | ProgramSearch;

/** Finds a ripgrep that can be used, once. */
export class RipgrepLocator {
  readonly #choice: RipgrepChoice | undefined;
  #found: Promise<string | undefined> | undefined;

  constructor(choice?: RipgrepChoice) {
    this.#choice = choice;
  }

  /** The program to start; `undefined` when there is none, or only one older than version 13. */
  find(): Promise<string | undefined> {
    this.#found ??= locate(this.#choice ?? "rg");
    return this.#found;
  }
}

/** How a run of ripgrep is started. */
export interface RipgrepOptions {
  /** Folder to search, a canonical path. The one at the start counts, whatever takes its place. */
  readonly cwd: string;
  /** A file that is open here and is to be descriptor 3 there. */
  readonly descriptor?: number | undefined;
  /** Byte that ends a record of the output. */
  readonly separator: "\n" | "\0";
  readonly signal: AbortSignal;
}

/** How a run of ripgrep ended. */
export interface RipgrepEnd {
  /** 0: something found, 1: nothing, 2: an error, maybe beside finds, `null`: ended by a signal. */
  readonly exitCode: number | null;
  readonly stderr: string;
}

/**
 * Runs ripgrep, which reads no configuration file and no standard input, and hands over its output record by
 * record; `onRecord` returns false when it has enough. Resolves when the process is gone; rejects with what
 * `onRecord` throws.
 */
export async function runRipgrep(
  command: string,
  args: readonly string[],
  options: RipgrepOptions & { readonly onRecord: (record: string) => boolean },
): Promise<RipgrepEnd> {
  const child = startIn(options, command, args);
  const kill = () => child.kill("SIGKILL");
  options.signal.addEventListener("abort", kill, { once: true });
  if (options.signal.aborted) kill();
  const split = recordSplitter(options.separator, options.onRecord);
  let stderr = "";
  let failure: { readonly error: unknown } | undefined;
  child.stdout.on("data", (chunk: Buffer) => {
    try {
      if (failure !== undefined || !split(chunk)) kill();
    } catch (error) {
      failure = { error };
      kill();
    }
  });
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR_CHARS) stderr += chunk.toString("utf8");
  });
  try {
    // Rejects with an error of the child.
    const [exitCode] = (await once(child, "close")) as [number | null];
    if (failure !== undefined) throw failure.error;
    split(undefined);
    return { exitCode, stderr };
  } finally {
    options.signal.removeEventListener("abort", kill);
  }
}

function startIn(
  { cwd, descriptor }: RipgrepOptions,
  command: string,
  args: readonly string[],
): ChildProcessByStdio<null, Readable, Readable> {
  const pinned = pinFolder(cwd, cwd);
  try {
    return spawn(command, ["--no-config", ...args], {
      cwd: pinned.self,
      stdio: ["ignore", "pipe", "pipe", ...(descriptor === undefined ? [] : [descriptor])],
      windowsHide: true,
    }) as ChildProcessByStdio<null, Readable, Readable>;
  } finally {
    pinned.close();
  }
}

/** Older ones lack options that are needed, or have known faults. */
const MIN_VERSION = 13;
const MAX_STDERR_CHARS = 20_000;
const MAX_RECORD_BYTES = 1_000_000;

async function locate(choice: RipgrepChoice): Promise<string | undefined> {
  if (choice === false) return undefined;
  const first = typeof choice === "string" ? choice : findProgram("rg", choice);
  if (first !== undefined && (await isUsable(first))) return first;
  const installed = await installedAlong();
  return installed !== undefined && (await isUsable(installed)) ? installed : undefined;
}

async function isUsable(command: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(command, ["--no-config", "--version"], { timeout: 10_000 });
    return Number(/^ripgrep (\d+)\./u.exec(stdout)?.[1] ?? 0) >= MIN_VERSION;
  } catch {
    return false;
  }
}

async function installedAlong(): Promise<string | undefined> {
  try {
    return (await import("@vscode/ripgrep")).rgPath;
  } catch {
    return undefined;
  }
}

/** Cuts chunks into records; undefined is their end. False: the receiver has had enough. */
function recordSplitter(
  separator: "\n" | "\0",
  onRecord: (record: string) => boolean,
): (chunk: Buffer | undefined) => boolean {
  const end = separator.charCodeAt(0);
  let pending: Buffer = Buffer.alloc(0);
  let wantsMore = true;
  const hand = (bytes: Buffer): void => {
    if (wantsMore) wantsMore = onRecord(bytes.toString("utf8"));
  };
  return (chunk) => {
    if (chunk === undefined) {
      if (pending.length > 0) hand(pending);
      return false;
    }
    const bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    let start = 0;
    for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, start)) {
      hand(bytes.subarray(start, at));
      start = at + 1;
    }
    pending = bytes.subarray(start, start + MAX_RECORD_BYTES);
    return wantsMore;
  };
}
