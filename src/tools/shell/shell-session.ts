import { tmpdir } from "node:os";
import { systemClock } from "../../core/base/clock.ts";
import { errorMessage, invalidConfig, NanoAgentError } from "../../core/base/errors.ts";
import { newId } from "../../core/base/ids.ts";
import type { Redaction } from "../../core/base/redaction.ts";
import { createProcessWatcher, type ProcessWatcher } from "../../system/process-watcher.ts";
import type { CommandSandbox, SandboxedCommand } from "./command-sandbox.ts";
import { coveredEnvironment } from "./covered-environment.ts";
import { endProcesses, signal } from "./end-processes.ts";
import { type Job, JobTable } from "./job-table.ts";
import { OutputBuffer, type OutputLimits } from "./output-buffer.ts";
import { OutputFolder } from "./output-folder.ts";
import { discardPipe, OutputPipes } from "./output-pipe.ts";
import { findProcessesNow, type ProcessInfo } from "./process-table.ts";
import { RunningCommand } from "./running-command.ts";
import { type Environment, findShell, minimalEnvironment, unattendedEnvironment } from "./shell.ts";
import type { ShellPort } from "./shell-port.ts";
import { startShell } from "./shell-process.ts";
import { missedVariables, missedVariablesNote } from "./withheld-variables.ts";

/** Settings of the shell tools of one session. */
export interface ShellOptions {
  /** Variables the commands see. Default: a plain `PATH` and `HOME`, nothing of this process. */
  readonly env?: Environment;
  /** Variables that were held back: a command that seems to need one is told so. Default: none. */
  readonly withheld?: readonly string[];
  /** Variables that the user set for commands, which stand in every environment. Default: none. */
  readonly own?: Environment | undefined;
  /** True: rules alone allowed the call, so it runs in a {@link coveredEnvironment}. Default: none. */
  readonly isCovered?: (input: object) => boolean;
  /** Why an allowed call must not run any more, asked right before it starts. Default: nothing. */
  readonly refusal?: (input: object) => string | undefined;
  /** Takes secrets out of output before any of it is cut, shown or kept. Default: it stays as it is. */
  readonly redact?: Redaction | undefined;
  /** Confines every command. Default: commands can do all the user can. */
  readonly sandbox?: CommandSandbox | undefined;
  /** Runs commands instead of us, except in the background or in a sandbox. */
  readonly port?: ShellPort | undefined;
  /** The shell. Default: bash where the system has it, else `sh`. */
  readonly shell?: string;
  /** Names the session in the environment of its processes, in letters, digits and `_`. Default: its own. */
  readonly mark?: string;
  /** Ends them when this process is killed. Default: one of its own. */
  readonly watcher?: ProcessWatcher | undefined;
  /** Folder for long outputs, kept at the end. Default: a temporary one, removed at the end. */
  readonly outputDir?: string;
  /** Milliseconds between TERM and KILL, 0 to 5,000. Default 2,000. */
  readonly graceMs?: number;
  /** Bytes of output one command may write before it is stopped. Default 256 MiB. */
  readonly maxOutputBytes?: number;
}

/** One command, beside the session's settings. */
export interface CommandStart {
  readonly command: string;
  readonly cwd: string;
  /** The arguments of the call it stands in. */
  readonly input?: object;
  /** Gets new text as it comes, cleaned, in whole lines. */
  readonly onText?: (text: string) => void;
  /** Called once when the command wrote more than it may. */
  readonly onFull?: () => void;
}

const DEFAULT_GRACE_MS = 2000;
const MAX_GRACE_MS = 5000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** All output files of a session together; the oldest go first. */
const MAX_FOLDER_BYTES = 1024 * 1024 * 1024;
/** The last pause in waiting for the processes of a sandbox that has ended. */
const LONGEST_END_MS = 256;
const HEAD_BYTES = 16_000;
const TAIL_BYTES = 32_000;

/** Shared by the commands of one session. Whatever they started ends with {@link dispose}. */
export class ShellSession {
  readonly jobs: JobTable = new JobTable();
  readonly graceMs: number;
  /** Where commands run instead, if they do. */
  readonly port: ShellPort | undefined;
  readonly redact: Redaction | undefined;
  readonly limits: OutputLimits;
  readonly #options: Pick<ShellOptions, "env" | "withheld" | "own" | "isCovered" | "refusal">;
  readonly #sandbox: CommandSandbox | undefined;
  readonly #folder: OutputFolder;
  readonly #pipes: OutputPipes;
  /** Part of every mark of this session, so that one look at the process table finds all its processes. */
  readonly #mark: string;
  readonly #watcher: ProcessWatcher | undefined;
  readonly #calls = new Set<RunningCommand>();
  #variables: Environment | undefined;
  #covered: Environment | undefined;
  #shell: string | undefined;
  #count = 0;
  #disposed: Promise<void> | undefined;

  constructor(options: ShellOptions = {}) {
    // Not read yet: what the variables are may take time to find out, and is only needed by a command.
    this.#options = options;
    this.redact = options.redact;
    this.#sandbox = options.sandbox;
    // Nothing of ours could keep a command in there to its limits.
    this.port = options.sandbox === undefined ? options.port : undefined;
    this.#shell = options.shell;
    this.#mark = options.mark ?? newId("s");
    this.#watcher = options.watcher ?? createProcessWatcher();
    this.graceMs = Math.min(Math.max(0, options.graceMs ?? DEFAULT_GRACE_MS), MAX_GRACE_MS);
    const fileBytes = options.maxOutputBytes ?? MAX_OUTPUT_BYTES;
    this.limits = { headBytes: HEAD_BYTES, tailBytes: TAIL_BYTES, fileBytes };
    this.#folder = new OutputFolder({
      path: options.outputDir,
      // Beside what its commands leave there, and gone with it.
      temporary: () => this.env["TMPDIR"] || tmpdir(),
      maxBytes: MAX_FOLDER_BYTES,
    });
    this.#pipes = new OutputPipes(() => this.#folder.path());
  }

  get env(): Environment {
    this.#variables ??= unattendedEnvironment(this.#options.env ?? minimalEnvironment());
    return this.#variables;
  }

  /** Why a call must not run any more. */
  refusal(input: object): string | undefined {
    return this.#options.refusal?.(input);
  }

  /** The variables that one command sees, by the arguments of its call. */
  environmentOf(input: object | undefined): Environment {
    const { own, isCovered } = this.#options;
    if (input === undefined || isCovered?.(input) !== true) return this.env;
    this.#covered ??= unattendedEnvironment(coveredEnvironment(this.env, own));
    return this.#covered;
  }

  /** Does ahead what the first command would wait for (a few milliseconds). Never rejects. */
  async prepare(): Promise<void> {
    if (this.#disposed !== undefined) return;
    this.#watcher?.add(this.#mark);
    await this.#pipes.prepare();
  }

  /** The shell that runs commands; throws `invalid_config` when there is none. */
  shell(): string {
    this.#shell ??= findShell(this.env);
    if (this.#shell !== undefined) return this.#shell;
    throw invalidConfig(
      process.platform === "win32"
        ? "No bash on this Windows. Install Git for Windows, or run under WSL."
        : "No bash and no /bin/sh on this system. Install bash, or set the shell option to its path.",
    );
  }

  /** Starts a command. Rejects with the system's error, or `aborted` when the session is over. */
  async start(options: CommandStart): Promise<RunningCommand> {
    const confined = await this.#confine(options);
    try {
      return await this.#startConfined(options, confined);
    } catch (error) {
      confined.release();
      throw error;
    }
  }

  /** A command that cannot be confined is not run. */
  async #confine({ command, cwd }: CommandStart): Promise<SandboxedCommand> {
    const shell = this.shell();
    if (this.#sandbox === undefined)
      return { file: shell, args: ["-c", command], notes: () => [], release: () => undefined };
    try {
      // Later outputs are written there: a command that could change the folder would choose where they go.
      const protect = [await this.#folder.path()];
      return await this.#sandbox.wrap({ command, shell, cwd, protect });
    } catch (error) {
      throw new NanoAgentError(
        "internal",
        `The sandbox could not take the command, and nothing was run: ${errorMessage(error)}. Try a simpler command.`,
        { cause: error },
      );
    }
  }

  async #startConfined(options: CommandStart, confined: SandboxedCommand): Promise<RunningCommand> {
    const pipe = this.#disposed === undefined ? await this.#pipes.take() : undefined;
    if (this.#disposed !== undefined) {
      if (pipe !== undefined) discardPipe(pipe);
      throw new NanoAgentError("aborted", "The session of this shell is over.");
    }
    const output = new OutputBuffer(this.limits, () => this.#folder.openFile(), this.redact?.stream());
    let isFull = false;
    const onOutput = (bytes: Uint8Array): Promise<void> | undefined => {
      const { text, stored } = output.write(bytes);
      if (text !== "") options.onText?.(text);
      if (output.full && !isFull) {
        isFull = true;
        options.onFull?.();
      }
      return stored;
    };
    const { file, args, notes, release } = confined;
    this.#watcher?.add(this.#mark);
    const process = await startShell({
      file,
      args,
      cwd: options.cwd,
      env: this.environmentOf(options.input),
      mark: `${this.#mark}.${++this.#count}.`,
      watcher: this.#watcher,
      pipe,
      onOutput,
    });
    void process.exited.then(release);
    const running = new RunningCommand(options.command, process, { output, notes });
    this.#calls.add(running);
    this.#pipes.refill();
    return running;
  }

  /** The processes that a command left running. Of a confined one everything ends, after a moment. */
  async leftovers(running: RunningCommand): Promise<readonly ProcessInfo[]> {
    for (let pause = 2; ; pause *= 2) {
      const left = await running.process.running();
      if (left.length === 0 || this.#sandbox === undefined || pause > LONGEST_END_MS) return left;
      await systemClock.sleep(pause);
    }
  }

  /** Lines for the result of a command: what it was kept from, and what it did not get and seems to need. */
  notes(running: RunningCommand, output: string): readonly string[] {
    const { command, exit } = running;
    const shown = { command, output, failed: exit?.code !== 0 };
    const missed = missedVariables(new Set(this.#options.withheld), shown);
    return [...running.notes(shown), ...(missed.length === 0 ? [] : [missedVariablesNote(missed)])];
  }

  /** A command is over and left nothing to look after. */
  async finish(running: RunningCommand): Promise<void> {
    this.#calls.delete(running);
    await running.close();
  }

  /** A command goes on as a job, in the background. */
  adopt(running: RunningCommand, options: { readonly isLeftover: boolean }): Job {
    this.#calls.delete(running);
    return this.jobs.add(running, options);
  }

  /** Kills at once, without waiting, what can be found at once: for a program that is about to exit. */
  killNow(): void {
    for (const { process } of this.#all()) process.killNow();
    for (const { pid } of findProcessesNow({ mark: this.#mark, roots: this.#roots() }))
      signal(pid, "SIGKILL");
  }

  /**
   * Ends everything this session started, TERM first and KILL after the grace; also what left its group
   * unseen, where the system lets us find it. Removes the temporary folder. Later commands are refused.
   */
  dispose(): Promise<void> {
    this.#disposed ??= this.#end();
    return this.#disposed;
  }

  async #end(): Promise<void> {
    if (this.#count > 0) {
      const alive = this.#all().filter((running) => running.exit === undefined);
      const groups = alive.map((running) => running.process.pid);
      if (process.platform === "win32") this.killNow();
      await endProcesses({ mark: this.#mark, roots: this.#roots() }, { graceMs: this.graceMs, groups });
    }
    this.#watcher?.remove(this.#mark);
    await Promise.all(this.#all().map((running) => running.close()));
    await this.#pipes.dispose();
    await this.#folder.dispose();
  }

  #roots(): readonly number[] {
    return this.#all().flatMap((running) => running.process.roots());
  }

  #all(): readonly RunningCommand[] {
    return [...this.#calls, ...this.jobs.all().map((job) => job.running)];
  }
}
