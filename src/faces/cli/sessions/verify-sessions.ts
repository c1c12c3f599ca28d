import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { toNanoAgentError } from "../../../core/base/errors.ts";
import { verifySession } from "../../../session/verify-session.ts";
import type { CommandContext } from "../command-context.ts";

/**
 * Checks session files and writes one JSON line each; a file that cannot be read is named on standard error.
 * Returns 0 when all are whole, 1 when damage was found, 2 when a file could not be read.
 */
export function verifySessions({ stdout, stderr }: CommandContext, files: readonly string[]): number {
  let code: number = EXIT.done;
  for (const file of files) {
    try {
      const check = verifySession(file);
      stdout.write(`${JSON.stringify(check)}\n`);
      if (!check.ok && code === EXIT.done) code = EXIT.failed;
    } catch (error) {
      stderr.write(`nano-agent: ${terminalLine(toNanoAgentError(error).message, 2_000)}\n`);
      code = EXIT.usage;
    }
  }
  return code;
}
