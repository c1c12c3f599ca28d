import type { FoundModel } from "../../../app/model-choice.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { isTerminal, type Output } from "../output.ts";
import { stdinKind } from "../read-stdin.ts";
import type { OutputFormat } from "../run-flags.ts";
import type { TerminalKeys } from "./terminal-keys.ts";

/**
 * Asks the person who started a run whether a local server that was found is to get the prompt; `undefined`
 * where nobody can be asked, as for approvals.
 */
export function acceptServer(
  stderr: Output,
  format: OutputFormat,
): ((found: FoundModel) => Promise<boolean>) | undefined {
  if (format !== "text" || !stderr.isTerminal || stdinKind() !== "terminal" || !isTerminal(0))
    return undefined;
  return (found) => askAboutServer(found, stderr);
}

/** The question itself. Only a `y` is a yes. */
export async function askAboutServer(
  { name, baseUrl }: FoundModel,
  output: Output,
  keys?: TerminalKeys,
): Promise<boolean> {
  const { askYes } = await import("./ask-yes.ts");
  const question = `No model was chosen. Send the prompt to ${name} at ${baseUrl}? [y/N]`;
  return askYes(`${terminalLine(question, 500)} `, output, keys);
}
