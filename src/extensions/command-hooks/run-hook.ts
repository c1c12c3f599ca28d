import { spawn } from "node:child_process";
import { errorMessage } from "../../core/base/errors.ts";
import type { ProcessWatcher } from "../../system/process-watcher.ts";
import type { HookCommand, HookInput } from "./hook-event.ts";

/** Bytes of each output that are looked at; a hook that writes more is heard no further. */
export const MAX_OUTPUT = 262_144;

/** How long the pipes of a hook that has ended are read when something it started holds them open. */
const DRAIN_MS = 250;

/** A shell between us and the hook: whoever kills its parent ends itself and nobody else. */
const SHELL: readonly string[] = ["/bin/sh", "-c", '/bin/sh -c "$1"; exit $?', "hook"];

/** How a hook ended. `code` is null where it did not end by itself. */
export interface HookEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** It printed more than {@link MAX_OUTPUT}. */
  readonly isCut: boolean;
  /** Why it counts as failed: it did not start, took too long, got a signal, or the run was aborted. */
  readonly failure?: string | undefined;
}

/** Where hooks run. */
export interface HookPlace {
  readonly cwd: string;
  /** Their environment: never credentials. */
  readonly env: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** Ends the group of the hook when this process is killed. */
  readonly watcher?: ProcessWatcher | undefined;
}

/**
 * Runs one hook in a shell and a process group of its own, with its input on standard input, and ends the
 * whole group with it: what it left running does not hold the run. Waits for its exit, not for the end of its
 * pipes. Never rejects.
 */
export function runHook(hook: HookCommand, input: HookInput, place: HookPlace): Promise<HookEnd> {
  return new Promise((resolve) => {
    const group = process.platform !== "win32";
    const [program, ...words] = group ? [...SHELL, hook.command] : [hook.command];
    const child = spawn(program ?? "", words, {
      shell: !group,
      cwd: place.cwd,
      env: place.env,
      detached: group,
      windowsHide: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { pid } = child;
    if (pid !== undefined) place.watcher?.add(pid);
    const outputs = { stdout: new BoundedBytes(), stderr: new BoundedBytes() };
    const endGroup = (): void => kill(pid, group);
    let failure: string | undefined;
    const give = (why: string): void => {
      failure ??= why;
      endGroup();
    };
    const timer = setTimeout(() => give(`it took longer than ${hook.timeoutMs / 1_000} s`), hook.timeoutMs);
    const onAbort = (): void => give("the run was stopped");
    place.signal.addEventListener("abort", onAbort, { once: true });
    let drain: NodeJS.Timeout | undefined;
    let ended: number | null = null;
    let isOver = false;
    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      clearTimeout(drain);
      place.signal.removeEventListener("abort", onAbort);
      child.stdout.destroy();
      child.stderr.destroy();
      const { stdout, stderr } = outputs;
      const texts = { stdout: stdout.text(), stderr: stderr.text(), isCut: stdout.isCut };
      resolve({ code: ended, ...texts, failure });
    };
    child.stdout.on("data", (bytes: Buffer) => outputs.stdout.add(bytes));
    child.stderr.on("data", (bytes: Buffer) => outputs.stderr.add(bytes));
    // A hook need not read its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${JSON.stringify(input)}\n`);
    child.on("error", (error) => {
      failure ??= `it could not be started: ${errorMessage(error)}`;
      finish();
    });
    child.on("exit", (code, signal) => {
      ended = code;
      if (signal !== null) failure ??= `it was ended by ${signal}`;
      // Without the rest of its group nobody writes any more, unless a process left the group.
      endGroup();
      if (pid !== undefined) place.watcher?.remove(pid);
      drain = setTimeout(finish, DRAIN_MS);
    });
    child.on("close", finish);
    if (place.signal.aborted) onAbort();
  });
}

function kill(pid: number | undefined, group: boolean): void {
  try {
    if (pid !== undefined) process.kill(group ? -pid : pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}

/** Bytes up to a bound. */
class BoundedBytes {
  readonly #chunks: Buffer[] = [];
  #length = 0;
  isCut = false;

  add(bytes: Buffer): void {
    const room = MAX_OUTPUT - this.#length;
    this.isCut ||= bytes.length > room;
    if (room <= 0) return;
    this.#chunks.push(bytes.subarray(0, room));
    this.#length += Math.min(room, bytes.length);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString("utf8").trim();
  }
}
