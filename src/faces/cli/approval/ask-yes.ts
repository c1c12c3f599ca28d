import type { Output } from "../output.ts";
import { type TerminalKeys, terminalKeys } from "./terminal-keys.ts";

/**
 * Asks for a yes on the terminal: `y` alone is one, every other way to answer a no, and a terminal that
 * cannot be had too.
 */
export async function askYes(
  question: string,
  output: Output,
  keys: TerminalKeys = terminalKeys,
): Promise<boolean> {
  const answer = Promise.withResolvers<boolean>();
  try {
    const terminal = keys.open({
      onKeys: (key) => {
        if (key.length === 1 && key !== "\r" && key !== "\n") answer.resolve(key === "y" || key === "Y");
      },
      onEnd: () => answer.resolve(false),
    });
    output.write(question);
    terminal.start();
    try {
      return await answer.promise;
    } finally {
      terminal.close();
      output.write("\n");
    }
  } catch {
    // No terminal to ask on.
    return false;
  }
}
