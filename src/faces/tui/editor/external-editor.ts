import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Environment, variable } from "../../../app/config/env.ts";
import { NanoAgentError } from "../../../core/base/errors.ts";

/**
 * Lets a person write a text in `$VISUAL`, else `$EDITOR`, which gets the terminal for so long. Throws `invalid_argument` when neither is set or
 * it cannot be started.
 */
export async function writeInEditor(text: string, environment: Environment): Promise<string> {
  const command = variable(environment, "VISUAL") ?? variable(environment, "EDITOR");
  if (command === undefined)
    throw new NanoAgentError(
      "invalid_argument",
      "Neither VISUAL nor EDITOR is set. Set one, e.g. export EDITOR=vim.",
    );
  const folder = mkdtempSync(join(tmpdir(), "nano-agent-"));
  try {
    const path = join(folder, "message.md");
    writeFileSync(path, text, { mode: 0o600 });
    // What people put there may have options and quotes: the shell reads it, as it does for every other program.
    const child = spawn("sh", ["-c", `${command} "$1"`, "sh", path], { stdio: "inherit" });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (code !== 0)
      throw new NanoAgentError(
        "invalid_argument",
        `${command} ended with ${String(code)}; the text stays as it was.`,
      );
    return readFileSync(path, "utf8").replace(/\n$/, "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
