import { spawn } from "node:child_process";
import type { Environment } from "../../../app/config/env.ts";

/** What a run of `node --test` said. */
export interface TestReport {
  /** True when the runner ended with 0 and ran at least one test. */
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  /** Names of the tests, in order. */
  readonly tests: readonly { readonly name: string; readonly ok: boolean }[];
  /** Everything the runner wrote, for the case that it is needed. */
  readonly output: string;
}

const MAX_OUTPUT_CHARS = 200_000;

/**
 * Runs the tests of the project in `cwd` with the `node` that is on the PATH. Resolves also when there is
 * none.
 */
export async function runProjectTests(
  cwd: string,
  { environment, signal }: { readonly environment: Environment; readonly signal: AbortSignal },
): Promise<TestReport> {
  const child = spawn("node", ["--test", "--test-reporter=tap"], {
    cwd,
    env: { ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      if (output.length < MAX_OUTPUT_CHARS) output += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      output += `${error.message}\n`;
      resolve(null);
    });
    child.once("close", resolve);
  });
  return readReport(output, code);
}

/** Reads the report the runner writes in the TAP format. */
export function readReport(output: string, exitCode: number | null): TestReport {
  const tests = [...output.matchAll(/^ *(not )?ok \d+ - (.*)$/gm)].map(([, not, name = ""]) => ({
    name: name.replace(/ # .*$/, ""),
    ok: not === undefined,
  }));
  const passed = figure(output, "pass");
  const failed = figure(output, "fail");
  return { ok: exitCode === 0 && passed > 0 && failed === 0, passed, failed, tests, output };
}

function figure(output: string, name: string): number {
  return Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
}
