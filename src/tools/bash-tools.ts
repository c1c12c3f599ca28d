import type { Tool } from "../core/tool/tool.ts";
import { createBashTool, runCommand } from "./bash-tool.ts";
import { createJobTool } from "./job-tool.ts";
import { type ShellOptions, ShellSession } from "./shell/shell-session.ts";

/** `bash` and `job` of one session, and the end of everything they started. */
export interface BashTools {
  readonly bash: Tool;
  readonly job: Tool;
  /** `[bash, job]`. */
  readonly tools: readonly Tool[];
  /** Runs a command for a person. `exitCode` null: it was ended. Rejects when it cannot be started. */
  run(
    command: string,
    options: { readonly cwd: string; readonly signal: AbortSignal },
  ): Promise<{ readonly output: string; readonly exitCode: number | null }>;
  /**
   * The exit codes of the background jobs that ended (null: by a signal), kept up to date. `onEnd` is called
   * for each, in place of the one given before.
   */
  watchJobs(onEnd: () => void): ReadonlyMap<string, number | null>;
  /** Does ahead what the first command would wait for. Optional; never rejects. */
  prepare(): Promise<void>;
  /**
   * Ends jobs, running commands and whatever commands left behind (TERM, then KILL), and removes the
   * temporary folder. Calls after that are answered with an error. Stubborn processes do not make it reject.
   */
  dispose(): Promise<void>;
  /** {@link BashTools.dispose}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
  /** Kills all of that at once without waiting: for an exit hook, where nothing can be awaited. */
  killNow(): void;
}

/**
 * Makes the tools that run shell commands, for one session. They read nothing from this process's
 * environment: pass `env`. Call `dispose` when the session ends.
 */
export function createBashTools(options: ShellOptions = {}): BashTools {
  const session = new ShellSession(options);
  const bash = createBashTool(session);
  const job = createJobTool(session);
  return {
    bash,
    job,
    tools: [bash, job],
    run: (command, options) => runCommand(session, { command, ...options }),
    watchJobs: (onEnd) => session.jobs.watch(onEnd),
    prepare: () => session.prepare(),
    dispose: () => session.dispose(),
    [Symbol.asyncDispose]: () => session.dispose(),
    killNow: () => session.killNow(),
  };
}
