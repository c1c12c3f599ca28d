import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type ScriptedServer,
  type ScriptedServerOptions,
  startScriptedServer,
} from "../../src/testing/scripted-server.ts";
import { withVariables } from "../hermetic-command.ts";
import { tempFolder } from "../temp-folder.ts";

export { modelEnv as serverEnv, TEST_KEY } from "../screen/screen-program.ts";

const BIN = join(import.meta.dirname, "../../dist/bin.mjs");

/** How a command is started. */
export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Text on standard input. Default: nothing, as from /dev/null. */
  readonly stdin?: string;
  /** Longest file it may write, in blocks of 1,024 bytes: a disk that is full from there on. */
  readonly fileBlocks?: number;
  /** Words of a shell that starts the command as `"$@"`. */
  readonly shell?: string;
  /** Leaves standard input open after its text. */
  readonly holdStdin?: boolean;
}

/** How a command ended. */
export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly end: Promise<CommandEnd>;
  /** Resolves when standard output or error holds `text`. */
  readonly says: (text: string) => Promise<void>;
}

/** Starts the built command in an environment that holds nothing of this one; it is killed with the test. */
export function startCommand(args: readonly string[], options: CommandOptions = {}): RunningCommand {
  const [program, ...words] = within(shellOf(options), [process.execPath, BIN, ...args]);
  const child = spawn(program, words, {
    cwd: options.cwd ?? tempFolder(),
    env: withVariables(options.env ?? {}),
    stdio: [options.stdin === undefined && options.holdStdin !== true ? "ignore" : "pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = { stdout: "", stderr: "" };
  const watchers: (() => void)[] = [];
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      for (const watch of watchers) watch();
    });
  }
  child.stdin?.on("error", () => undefined);
  if (options.holdStdin === true) child.stdin?.write(options.stdin ?? "");
  else child.stdin?.end(options.stdin);
  const end = new Promise<CommandEnd>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...output }));
  });
  const says = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (output.stdout.includes(text) || output.stderr.includes(text)) resolve();
      };
      watchers.push(look);
      look();
      void end.then((ended) => reject(new Error(`ended without "${text}": ${JSON.stringify(ended)}`)));
    });
  return { child, end, says };
}

function shellOf({ shell, fileBlocks }: CommandOptions): string | undefined {
  return fileBlocks === undefined ? shell : `ulimit -f ${fileBlocks}; trap "" XFSZ; exec "$@"`;
}

function within(
  shell: string | undefined,
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  return shell === undefined ? command : ["bash", "-c", shell, "bash", ...command];
}

/** Runs the built command to its end. */
export function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
  return startCommand(args, options).end;
}

/** A scripted model server, closed with the test. */
export async function modelServer(
  steps: Parameters<typeof startScriptedServer>[0],
  options: ScriptedServerOptions = {},
): Promise<ScriptedServer> {
  const server = await startScriptedServer(steps, options);
  onTestFinished(() => server.close());
  return server;
}
