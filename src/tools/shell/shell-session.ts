import { tmpdir } from "node:os";
import { errorMessage, invalidArgument, invalidConfig, NanoAgentError } from "../../core/base/errors.ts";
import { newId } from "../../core/base/ids.ts";
import type { Redaction } from "../../core/base/text.ts";
import type { CommandPlacement, SandboxedCommand } from "../../system/command-sandbox.ts";
import type { Environment } from "../../system/env.ts";
import { sendSignal } from "../../system/process-identity.ts";
import { createProcessWatcher, type ProcessWatcher } from "../../system/process-watcher.ts";
import { OutputBuffer, type OutputLimits } from "./output-buffer.ts";
import { discardPipe, OutputFolder, OutputPipes } from "./output-folder.ts";
import { endProcesses, findProcessesNow } from "./process-table.ts";
import {
  type CommandSandbox,
  findShell,
  minimalEnvironment,
  type OpenCommandSandbox,
  type ShellPort,
  unattendedEnvironment,
} from "./shell-ports.ts";
import { type RunningCommand, startCommand } from "./shell-process.ts";

/** Settings of the shell tools of one session. */
export interface ShellOptions {
  /** Variables the commands see. Default: a plain `PATH` and `HOME`, nothing of this process. */
  readonly env?: Environment;
  /** Names of withheld variables, mentioned if a command seems to need one. Default: none. */
  readonly withheld?: readonly string[];
  /** True for a call that runs outside because it only looks: git runs no programs in it. Default: none. */
  readonly looks?: (input: object) => boolean;
  /** Takes secrets out of output before any of it is truncated, shown or kept. Default: no redaction. */
  readonly redact?: Redaction | undefined;
  /**
   * Confines commands. A function is called once, and commands wait for it. If it rejects, nothing runs.
   * Default: commands can do everything the user can.
   */
  readonly sandbox?: CommandSandbox | OpenCommandSandbox | undefined;
  /** Decides where an allowed call runs, right as it starts. Default: in the sandbox, with no way out. */
  readonly placement?: ((input: object) => CommandPlacement) | undefined;
  /** Runs commands for us that are neither in the background nor in a sandbox. */
  readonly port?: ShellPort | undefined;
  /** The shell. Default: bash if the system has it, else `sh`. */
  readonly shell?: string;
  /** Identifies the session in the environment of its processes: letters, digits, `_`. Default: a new id. */
  readonly mark?: string;
  /** Kills its processes if this process is killed. Default: a new watcher. */
  readonly watcher?: ProcessWatcher | undefined;
  /** Folder for long outputs, kept at the end. Default: a temporary one, removed at the end. */
  readonly outputDir?: string;
  /** Parent of that temporary folder. Default: the folder for temporary files. */
  readonly outputParent?: string;
  /** Milliseconds between TERM and KILL, 0 to 5,000. Default 2,000. */
  readonly graceMs?: number;
  /** Bytes of output one command may write before it is stopped. Default 256 MiB. */
  readonly maxOutputBytes?: number;
}

interface CommandStart {
  readonly command: string;
  readonly cwd: string;
  /** Where it runs, see {@link ShellSession.resolvePlacement}. Default: outside. */
  readonly placement?: ResolvedPlacement;
  readonly signal?: AbortSignal;
  readonly onText?: (text: string) => void;
  readonly onFull?: () => void;
}

export interface ResolvedPlacement extends CommandPlacement {
  readonly sandbox?: CommandSandbox;
  readonly env: Environment;
}

const INSIDE: CommandPlacement = { runs: "inside", readOnly: false };
const OUTSIDE: CommandPlacement = { runs: "outside", readOnly: false };

const DEFAULT_GRACE_MS = 2000;
const MAX_GRACE_MS = 5000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** Maximum size of all output files of a session together; the oldest are deleted first. */
const MAX_FOLDER_BYTES = 1024 * 1024 * 1024;
/** A sandbox may trip over something that vanishes a moment later, such as a socket being closed. */
const MAX_STARTS = 2;
const HEAD_BYTES = 16_000;
const TAIL_BYTES = 32_000;
const MAX_FINISHED_JOBS = 100;

/** Shared by the commands of one session. Everything they started ends with {@link dispose}. */
export class ShellSession {
  readonly graceMs: number;
  readonly port: ShellPort | undefined;
  readonly redact: Redaction | undefined;
  readonly limits: OutputLimits;
  readonly #options: Pick<ShellOptions, "env" | "withheld" | "looks" | "sandbox" | "placement">;
  readonly #folder: OutputFolder;
  readonly #pipes: OutputPipes;
  /** Part of the marker of every command, so that one scan finds all processes of the session. */
  readonly #mark: string;
  readonly #watcher: ProcessWatcher | undefined;
  readonly #calls = new Set<RunningCommand>();
  readonly #jobs = new Map<string, RunningCommand>();
  #jobCount = 0;
  readonly #endedJobs = new Map<string, number | null>();
  #onJobEnd: () => void = () => undefined;
  #variables: Environment | undefined;
  #opening: Promise<CommandSandbox | undefined> | undefined;
  #shell: string | undefined;
  #count = 0;
  #disposed: Promise<void> | undefined;

  constructor(options: ShellOptions = {}) {
    // Not read yet: finding the variables may take time, and only a command needs them.
    this.#options = options;
    this.redact = options.redact;
    this.port = options.port;
    this.#shell = options.shell;
    this.#mark = options.mark ?? newId("s");
    this.#watcher = options.watcher ?? createProcessWatcher();
    this.graceMs = Math.min(Math.max(0, options.graceMs ?? DEFAULT_GRACE_MS), MAX_GRACE_MS);
    const fileBytes = options.maxOutputBytes ?? MAX_OUTPUT_BYTES;
    this.limits = { headBytes: HEAD_BYTES, tailBytes: TAIL_BYTES, fileBytes };
    // Next to the commands' own temporary files, and removed with them.
    const temporary = (): string => options.outputParent ?? (this.env["TMPDIR"] || tmpdir());
    this.#folder = new OutputFolder(options.outputDir, MAX_FOLDER_BYTES, temporary);
    this.#pipes = new OutputPipes(() => this.#folder.path());
  }

  get env(): Environment {
    this.#variables ??= unattendedEnvironment(this.#options.env ?? minimalEnvironment());
    return this.#variables;
  }

  /**
   * Where a call runs. Throws `invalid_argument` for one that may not leave a sandbox, and whatever opening
   * the sandbox throws: in that case nothing runs outside.
   */
  async resolvePlacement(input: { readonly access?: unknown }): Promise<ResolvedPlacement> {
    const sandbox = await this.#openSandbox();
    const { placement, looks } = this.#options;
    if (placement === undefined && sandbox !== undefined && input.access !== undefined)
      throw invalidArgument("This session has no way out of its sandbox. Make the call without access.");
    const placed = placement?.(input) ?? (sandbox === undefined ? OUTSIDE : INSIDE);
    if (placed.runs === "outside")
      return { ...placed, env: looks?.(input) === true ? lookOnlyEnvironment(this.env) : this.env };
    if (sandbox !== undefined) return { ...placed, sandbox, env: this.env };
    throw invalidArgument("This call is to run in a sandbox, and there is none. Nothing was run.");
  }

  #openSandbox(): Promise<CommandSandbox | undefined> {
    const { sandbox } = this.#options;
    this.#opening ??= typeof sandbox === "function" ? sandbox() : Promise.resolve(sandbox);
    return this.#opening;
  }

  /** Does the setup the first command would otherwise wait for (a few milliseconds). Never rejects. */
  async prepare(): Promise<void> {
    if (this.#disposed !== undefined) return;
    this.#watcher?.add(this.#mark);
    // A call that needs it reports the problem.
    const opened = this.#openSandbox().catch(() => undefined);
    await Promise.all([this.#pipes.prepare(), opened]);
  }

  /** The shell that runs commands. Throws `invalid_config` if there is none. */
  shell(): string {
    this.#shell ??= findShell(this.env);
    if (this.#shell !== undefined) return this.#shell;
    throw invalidConfig(
      process.platform === "win32"
        ? "No bash on this Windows. Install Git for Windows, or run under WSL."
        : "No bash and no /bin/sh on this system. Install bash, or set the shell option to its path.",
    );
  }

  /** Starts a command. Rejects with the system's error, or `aborted` if the session is over. */
  async start(options: CommandStart): Promise<RunningCommand> {
    const { sandbox } = options.placement ?? {};
    if (sandbox === undefined) return this.#run(options, undefined);
    for (let count = 1; ; count++) {
      const [running, problem] = await this.#startInside(sandbox, options);
      if (problem === undefined) return running;
      await this.finish(running);
      const output = (await running.readOutput()).text.trim();
      if (count === MAX_STARTS || options.signal?.aborted === true)
        throw sandboxError(output === "" ? problem : output);
    }
  }

  /** `problem`: why the command did not begin. */
  async #startInside(
    sandbox: CommandSandbox,
    options: CommandStart,
  ): Promise<readonly [RunningCommand, problem?: string]> {
    const { command, cwd, placement } = options;
    const [network, readOnly] = [placement?.runs === "network", placement?.readOnly === true];
    const toConfine = { command, cwd, env: placement?.env ?? this.env, network, readOnly };
    const confined = await sandbox.wrap(toConfine).catch((error: unknown) => {
      throw sandboxError(errorMessage(error));
    });
    let running: RunningCommand;
    try {
      running = await this.#run(options, confined);
    } catch (error) {
      await confined.settle();
      throw error;
    }
    const stop = (): void => running.killNow();
    options.signal?.addEventListener("abort", stop);
    try {
      await confined.begin(running.child);
      return [running];
    } catch (error) {
      running.killNow();
      await Promise.all([running.closed, running.settled]);
      return [running, errorMessage(error)];
    } finally {
      options.signal?.removeEventListener("abort", stop);
    }
  }

  async #run(options: CommandStart, confined: SandboxedCommand | undefined): Promise<RunningCommand> {
    const { command, cwd } = options;
    const shell = this.shell();
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
      if (output.isFull && !isFull) {
        isFull = true;
        options.onFull?.();
      }
      return stored;
    };
    const outside = { file: shell, args: ["-c", command], cwd, env: options.placement?.env ?? this.env };
    this.#watcher?.add(this.#mark);
    const running = await startCommand({
      ...(confined ?? outside),
      command,
      confined,
      mark: `${this.#mark}.${++this.#count}.`,
      watcher: this.#watcher,
      pipe,
      output,
      onOutput,
    });
    this.#calls.add(running);
    this.#pipes.refill();
    return running;
  }

  async notes(running: RunningCommand, output: string): Promise<readonly string[]> {
    await running.settled;
    const { command, exit } = running;
    const shown = { command, output, failed: exit?.code !== 0 };
    const missed = missingVariables(new Set(this.#options.withheld), shown);
    return [...running.notes(shown), ...(missed.length === 0 ? [] : [missingVariablesNote(missed)])];
  }

  async finish(running: RunningCommand): Promise<void> {
    this.#calls.delete(running);
    await running.close();
  }

  /** Continues a command as a background job, which no longer keeps the program alive. */
  moveToBackground(running: RunningCommand, isLeftover: boolean): string {
    const id = `job_${++this.#jobCount}`;
    running.isLeftover = isLeftover;
    this.#calls.delete(running);
    this.#jobs.set(id, running);
    running.unref();
    void this.#recordEnd(id, running);
    const finished = [...this.#jobs].filter(([, job]) => !job.isLeftover && job.exit !== undefined);
    for (const [old] of finished.slice(0, -MAX_FINISHED_JOBS)) this.#jobs.delete(old);
    return id;
  }

  get jobs(): ReadonlyMap<string, RunningCommand> {
    return this.#jobs;
  }

  /** The exit codes of ended jobs, kept up to date; null: by a signal. `onEnd` is called for each. */
  watchJobs(onEnd: () => void): ReadonlyMap<string, number | null> {
    this.#onJobEnd = onEnd;
    return this.#endedJobs;
  }

  async #recordEnd(id: string, running: RunningCommand): Promise<void> {
    await Promise.all([running.settled, running.closed]);
    if ((await running.findProcesses()).length > 0) return;
    this.#endedJobs.set(id, running.exit?.code ?? null);
    this.#onJobEnd();
  }

  /** Kills whatever can be found synchronously: for a program about to exit. */
  killNow(): void {
    for (const running of this.#commands()) running.killNow();
    for (const { pid } of findProcessesNow({ mark: this.#mark, roots: this.#roots() }))
      sendSignal(pid, "SIGKILL");
  }

  /**
   * Ends everything this session started, TERM first and KILL after the grace period, including what left its
   * group unseen, if the system lets us find it. Removes the temporary folder. Later commands are refused.
   */
  dispose(): Promise<void> {
    this.#disposed ??= this.#end();
    return this.#disposed;
  }

  async #end(): Promise<void> {
    if (this.#count > 0) {
      const alive = this.#commands().filter((running) => running.exit === undefined);
      const groups = alive.map((running) => running.pid);
      if (process.platform === "win32") this.killNow();
      await endProcesses({ mark: this.#mark, roots: this.#roots() }, this.graceMs, groups);
    }
    this.#watcher?.remove(this.#mark);
    await Promise.all(this.#commands().map((running) => running.close()));
    await this.#pipes.dispose();
    await this.#folder.dispose();
  }

  #roots(): readonly number[] {
    return this.#commands().flatMap((running) => running.roots());
  }

  #commands(): readonly RunningCommand[] {
    return [...this.#calls, ...this.#jobs.values()];
  }
}

function sandboxError(why: string): NanoAgentError {
  return new NanoAgentError(
    "internal",
    `The sandbox could not take the command, and nothing was run: ${why}.`,
  );
}

/** Settings that keep git from running programs named by a repository. */
const GIT_SETTINGS = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
  // Git shows differences of a submodule by starting another git in it.
  ["diff.submodule", "short"],
  ["status.submoduleSummary", "false"],
  // A submodule has its own settings.
  ["diff.ignoreSubmodules", "all"],
] as const;

/** Variables that make git run programs or read other settings, or a shell read a file at startup. */
const GIT_STEERING =
  /^(?:BASH_ENV|ENV)$|^GIT_(?!AUTHOR_|COMMITTER_|TERMINAL_PROMPT$|PAGER$|EDITOR$|SEQUENCE_EDITOR$|MERGE_AUTOEDIT$|SSL_)/;

/** For a command that runs outside because it only looks: git runs no program in it. */
export function lookOnlyEnvironment(env: Environment): Environment {
  const settings = GIT_SETTINGS.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !GIT_STEERING.test(name))),
    ...Object.fromEntries(settings),
    GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
    GIT_OPTIONAL_LOCKS: "0",
    // A partial clone may name a server to fetch missing objects from.
    GIT_ALLOW_PROTOCOL: "",
    GIT_NO_LAZY_FETCH: "1",
  };
}

const MAX_NAMED = 5;

interface CommandOutcome {
  readonly command: string;
  readonly output: string;
  readonly failed: boolean;
}

/** Withheld variables a command seems to need: `$NAME` in it, or named in the output of a failure. */
function missingVariables(withheld: ReadonlySet<string>, shown: CommandOutcome): readonly string[] {
  if (withheld.size === 0) return [];
  const names = new Set<string>();
  for (const [, name = ""] of shown.command.matchAll(/\$\{?([A-Za-z_]\w{0,80})/g))
    if (withheld.has(name)) names.add(name);
  if (shown.failed)
    for (const [name] of shown.output.matchAll(/\b[A-Z][A-Z0-9_]{2,80}\b/g))
      if (withheld.has(name)) names.add(name);
  return [...names].slice(0, MAX_NAMED);
}

function missingVariablesNote(names: readonly string[]): string {
  const [one, ...more] = names;
  if (one === undefined) return "";
  const what = more.length === 0 ? one : names.join(", ");
  return `[${what} ${more.length === 0 ? "is" : "are"} not passed to commands. The user can allow it: --pass-env ${names.join(",")}, or environment.pass in their config]`;
}
