import type { SandboxedCommand } from "./command-sandbox.ts";
import type { OutputBuffer, OutputText } from "./output-buffer.ts";
import type { ShellExit, ShellProcess } from "./shell-process.ts";
import type { ShownCommand } from "./withheld-variables.ts";

/** A command with its output: a running call of `bash`, or a job. */
export class RunningCommand {
  readonly command: string;
  readonly process: ShellProcess;
  readonly output: OutputBuffer;
  /** Lines that name what a sandbox held back or put back. */
  readonly notes: (shown: ShownCommand) => readonly string[];
  /** Resolves when it has ended and its sandbox has looked after it. */
  readonly settled: Promise<unknown>;
  readonly #startedAt = performance.now();
  #tookMs: number | undefined;

  constructor(
    command: string,
    process: ShellProcess,
    { output, confined }: { readonly output: OutputBuffer; readonly confined: SandboxedCommand | undefined },
  ) {
    this.command = command;
    this.notes = confined?.notes ?? (() => []);
    this.settled = process.exited.then(() => confined?.settle());
    this.process = process;
    this.output = output;
    void process.exited.then(() => {
      this.#tookMs = performance.now() - this.#startedAt;
    });
    void process.closed.then(() => output.end());
  }

  get durationMs(): number {
    return this.#tookMs ?? performance.now() - this.#startedAt;
  }

  /** How the shell ended; `undefined` while it runs. */
  get exit(): ShellExit | undefined {
    return this.process.exit;
  }

  look(): Promise<OutputText> {
    return this.output.look();
  }

  async close(): Promise<void> {
    this.process.close();
    await this.output.end();
  }
}
