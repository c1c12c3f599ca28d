import type { OutputBuffer, OutputText } from "./output-buffer.ts";
import type { ShellExit, ShellProcess } from "./shell-process.ts";

/** A command with its output: a running call of `bash`, or a job. */
export class RunningCommand {
  readonly command: string;
  readonly process: ShellProcess;
  readonly output: OutputBuffer;
  readonly #startedAt = performance.now();
  #tookMs: number | undefined;

  constructor(command: string, process: ShellProcess, output: OutputBuffer) {
    this.command = command;
    this.process = process;
    this.output = output;
    void process.exited.then(() => {
      this.#tookMs = performance.now() - this.#startedAt;
    });
    void process.closed.then(() => output.end());
  }

  /** Milliseconds the shell has run, or ran. */
  get durationMs(): number {
    return this.#tookMs ?? performance.now() - this.#startedAt;
  }

  /** How the shell ended; `undefined` while it runs. */
  get exit(): ShellExit | undefined {
    return this.process.exit;
  }

  /** What came since the last look. */
  look(): Promise<OutputText> {
    return this.output.look();
  }

  /** Stops reading and closes the output file. */
  async close(): Promise<void> {
    this.process.close();
    await this.output.end();
  }
}
