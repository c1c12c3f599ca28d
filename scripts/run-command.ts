import { spawn } from "node:child_process";

/** What a finished command left behind. */
export interface CommandResult {
  readonly ok: boolean;
  /** Both output streams as they came, mixed. Empty when the output went to the terminal. */
  readonly output: string;
  readonly ms: number;
}

/**
 * Runs a command of the checkout to its end. `show` lets it write to the terminal instead of into the result.
 */
export function runCommand(
  words: readonly string[],
  options: { readonly show?: boolean } = {},
): Promise<CommandResult> {
  const [program = "", ...rest] = words;
  const started = performance.now();
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const child = spawn(program, rest, { stdio: options.show ? "inherit" : ["ignore", "pipe", "pipe"] });
    const finish = (ok: boolean, problem = "") => {
      const output = Buffer.concat(chunks).toString("utf8") + problem;
      resolve({ ok, output, ms: performance.now() - started });
    };
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", (error) => finish(false, `${program}: ${error.message}\n`));
    child.on("close", (code, signal) => finish(code === 0, signal ? `${program}: ended by ${signal}\n` : ""));
  });
}
